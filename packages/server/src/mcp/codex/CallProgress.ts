/**
 * `notifications/progress` of the calls of one connection that named a token: numbers that rise, a short message at
 * every item, and the last one again when nothing was told for a while. Sends one batch at a time and keeps none
 * waiting, so a client that does not read costs nothing (L6); none follows the end of the call (L2).
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { requestIdKey } from "@colloquy/protocol/JsonRpc"
import { Progress, type ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { PeerControl } from "../../jsonrpc/Peer.ts"

export interface CallProgress {
  /** Tells of these items, oldest first; of the last alone when there are so many that the client is behind. */
  readonly tell: (items: ReadonlyArray<string>) => Effect.Effect<void, ConnectionClosed>
  /** Nothing is told any more: the call was taken back. */
  readonly end: () => void
}

export interface ConnectionProgress {
  /** Runs the call with its progress; nothing more is told when this returns. */
  readonly during: <A, E, R>(
    call: { readonly peer: PeerControl; readonly token: ProgressToken },
    run: (progress: CallProgress) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E, R>
}

/** Clients give up after 60 s without a word (complaint 4); several words fit in, also late ones. */
const maxSilenceMs = 10_000

/** More items than this at once, and nobody could read them as they come. */
const maxItemsAtOnce = 16

/** Before the first item: an earlier turn may still run. */
const waiting = "waiting"

/** What the token was told; calls that share one share its numbers, or they would fall. */
interface Told {
  count: number
  users: number
}

const reporter = (peer: PeerControl, token: ProgressToken, told: Told, startMs: number) => {
  const one = Semaphore.makeUnsafe(1)
  let ended = false
  let last = { item: waiting, atMs: startMs, toldMs: startMs }

  const send = (items: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      if (ended || items.length === 0) return Effect.void
      const params = items.map((message) => ({
        progressToken: token,
        progress: ++told.count,
        message,
      }))
      return Effect.andThen(
        peer.notify(Progress, params),
        Effect.map(Clock.currentTimeMillis, (ms) => {
          last = { ...last, toldMs: ms }
        }),
      )
    })

  const tell: CallProgress["tell"] = (items) =>
    Effect.flatMap(Clock.currentTimeMillis, (atMs) => {
      const item = items.at(-1)
      if (item === undefined) return Effect.void
      last = { ...last, item, atMs }
      return one.withPermit(send(items.length > maxItemsAtOnce ? [item] : items))
    })

  /** Waits until nothing has been told for long enough, and tells what the call is still at. */
  const remind = Effect.gen(function* () {
    yield* Effect.sleep(last.toldMs + maxSilenceMs - (yield* Clock.currentTimeMillis))
    yield* one.withPermit(
      Effect.flatMap(Clock.currentTimeMillis, (ms) =>
        ms < last.toldMs + maxSilenceMs
          ? Effect.void
          : send([`${last.item} (${Math.round((ms - last.atMs) / 1000)} s)`]),
      ),
    )
  })

  return {
    progress: {
      tell,
      end: () => {
        ended = true
      },
    },
    reminders: Effect.whileLoop({ while: () => !ended, body: () => remind, step: () => {} }),
  }
}

/** That of one connection. */
export const make = (): ConnectionProgress => {
  const tokens = new Map<string | number, Told>()

  const share = (token: ProgressToken) => {
    const key = requestIdKey(token)
    const told = tokens.get(key) ?? { count: 0, users: 0 }
    told.users++
    tokens.set(key, told)
    return told
  }
  const leave = (token: ProgressToken, told: Told) => {
    told.users--
    if (told.users === 0) tokens.delete(requestIdKey(token))
  }

  return {
    during: ({ peer, token }, run) =>
      Effect.scoped(
        Effect.gen(function* () {
          const told = yield* Effect.acquireRelease(
            Effect.sync(() => share(token)),
            (mine) => Effect.sync(() => leave(token, mine)),
          )
          const { progress, reminders } = reporter(
            peer,
            token,
            told,
            yield* Clock.currentTimeMillis,
          )
          yield* reminders.pipe(
            // Nobody reads any more: the call finds out by itself.
            Effect.catch(({ reason }) => Effect.logDebug(`progress not told: ${reason}`)),
            Effect.forkScoped({ startImmediately: true }),
          )
          return yield* run(progress)
        }),
      ),
  }
}
