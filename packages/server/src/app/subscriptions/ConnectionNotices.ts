/**
 * The notifications of one connection that belong to no conversation: sent in order, each after the responses that it has
 * to follow (L2). Adding one never waits. A client that does not read gets only the latest of each kind of state (L6).
 */
import type { Params } from "@colloquy/protocol/Method"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Rpc from "effect/rpc/Rpc"
import type { PeerControl } from "../../jsonrpc/Caller.ts"

/** The key of `AnswerGate` under which a request holds the notices of its connection. */
export const noticesKey = "notices"

/** See the header. */
export interface ConnectionNotices {
  /** Sends the notifications that were added, before and after this call, until it is interrupted or the connection closes. Call it once. */
  readonly deliver: (peer: PeerControl) => Effect.Effect<void>
  /**
   * Adds a notification. `latest`: replaces one of the same method that was not sent yet. `latestOf`: once many wait,
   * replaces those of the same method about the same subject. Dropped after `deliver` has ended.
   */
  readonly put: <M extends Rpc.Any>(method: M, params: Params<M>, kind: NoticeKind) => void
}

/** See `ConnectionNotices.put`. */
type NoticeKind = "each" | "latest" | { readonly latestOf: string }

/** So many may wait before only the latest about each subject are kept. */
const maxWaiting = 1024

interface Notice {
  readonly method: Rpc.Any
  readonly subject: string | undefined
  readonly send: (peer: PeerControl) => Effect.Effect<void, ConnectionClosed>
}

/** All but those that a later one of the same method and subject replaces. */
const latestOf = (notices: ReadonlyArray<Notice>): Array<Notice> => {
  const kept = new Map<Rpc.Any, Set<string>>()
  return notices
    .toReversed()
    .filter(({ method, subject }) => {
      if (subject === undefined) return true
      const subjects = kept.get(method) ?? new Set()
      kept.set(method, subjects)
      return !subjects.has(subject) && subjects.add(subject)
    })
    .toReversed()
}

/** Makes an empty queue. */
export const make = (): ConnectionNotices => {
  const added = Latch.makeUnsafe(false)
  let waiting: Array<Notice> = []
  let ended = false
  let reduceAt = maxWaiting

  const take = Effect.sync(() => {
    const taken = waiting
    waiting = []
    added.closeUnsafe()
    return taken
  })

  return {
    put: (method, params, kind) => {
      if (ended) return
      if (kind === "latest") waiting = waiting.filter((one) => one.method !== method)
      const subject = typeof kind === "object" ? kind.latestOf : undefined
      waiting.push({ method, subject, send: (peer) => peer.notify(method, [params]) })
      if (waiting.length > reduceAt) {
        waiting = latestOf(waiting)
        reduceAt = Math.max(maxWaiting, 2 * waiting.length)
      }
      added.openUnsafe()
    },
    deliver: (peer) =>
      added.await.pipe(
        Effect.andThen(peer.passed(noticesKey)),
        Effect.andThen(take),
        Effect.flatMap((taken) =>
          Effect.forEach(taken, ({ send }) => send(peer), { discard: true }),
        ),
        Effect.forever,
        Effect.catch(({ reason }) => Effect.logDebug(`notices end: ${reason}`)),
        Effect.ensuring(
          Effect.sync(() => {
            ended = true
            waiting = []
          }),
        ),
      ),
  }
}
