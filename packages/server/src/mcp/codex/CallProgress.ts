/**
 * `notifications/progress` of the calls of one connection that name a token: rising numbers, a short message for every
 * item of the turn, and the last message again after a time of silence. Sends one batch at a time and queues none, so a
 * client that does not read costs no memory (L6); nothing is sent after the end of the call (L2). Also sets the status
 * message of the task, for calls that run as one.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { requestIdKey } from "@colloquy/protocol/JsonRpc"
import { Progress, type ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { PeerControl } from "../../jsonrpc/Peer.ts"
import type { RequestContext } from "../RequestContext.ts"
import { taskProgress } from "../tasks/TaskProgress.ts"

/** The progress of one call. */
export interface CallProgress {
  /** Sends a message for each of these items, oldest first; only the last of a batch that the client cannot keep up with. */
  readonly report: (items: ReadonlyArray<string>) => Effect.Effect<void, ConnectionClosed>
  /** Sends nothing from now on: the client cancelled the call. */
  readonly end: () => void
}

/** The progress of the calls of one connection. */
export interface ConnectionProgress {
  /**
   * The progress of a call, until the scope closes. Undefined for a call that neither names a token nor is a task. From now
   * on the client gets reminders while nothing else is reported.
   */
  readonly open: (
    context: RequestContext,
  ) => Effect.Effect<CallProgress | undefined, never, Scope.Scope>
}

/** Clients time out after 60 s without a message; several fit in, also when some are late. */
const maxSilenceMs = 10_000

/** Largest number of items reported one by one; of more at once, the client could not read any in time. */
const maxItemsAtOnce = 16

/** Message before the first item: an earlier turn may still be running. */
const waiting = "waiting"

/** The numbers of one token. Calls that use the same token share them, because `progress` must rise. */
interface TokenCount {
  count: number
  users: number
}

const makeReporter = (
  peer: PeerControl,
  token: ProgressToken,
  numbers: TokenCount,
  startMs: number,
) => {
  const one = Semaphore.makeUnsafe(1)
  let ended = false
  let last = { item: waiting, atMs: startMs, sentMs: startMs }

  const send = (items: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      if (ended || items.length === 0) return Effect.void
      const params = items.map((message) => ({
        progressToken: token,
        progress: ++numbers.count,
        message,
      }))
      return Effect.andThen(
        peer.notify(Progress, params),
        Effect.map(Clock.currentTimeMillis, (ms) => {
          last = { ...last, sentMs: ms }
        }),
      )
    })

  const report: CallProgress["report"] = (items) =>
    Effect.flatMap(Clock.currentTimeMillis, (atMs) => {
      const item = items.at(-1)
      if (item === undefined) return Effect.void
      last = { ...last, item, atMs }
      return one.withPermit(send(items.length > maxItemsAtOnce ? [item] : items))
    })

  /** Waits until nothing has been sent for long enough, and sends the last item again with its age. */
  const remind = Effect.gen(function* () {
    yield* Effect.sleep(last.sentMs + maxSilenceMs - (yield* Clock.currentTimeMillis))
    yield* one.withPermit(
      Effect.flatMap(Clock.currentTimeMillis, (ms) =>
        ms < last.sentMs + maxSilenceMs
          ? Effect.void
          : send([`${last.item} (${Math.round((ms - last.atMs) / 1000)} s)`]),
      ),
    )
  })

  return {
    progress: {
      report,
      end: () => {
        ended = true
      },
    },
    reminders: Effect.whileLoop({ while: () => !ended, body: () => remind, step: () => {} }),
  }
}

const tokenOf = ({ meta }: RequestContext): ProgressToken | undefined =>
  memberOf(meta, "progressToken") as ProgressToken | undefined

/** Makes the progress of one connection. */
export const make = (): ConnectionProgress => {
  const tokens = new Map<string | number, TokenCount>()

  const use = (token: ProgressToken) => {
    const key = requestIdKey(token)
    const numbers = tokens.get(key) ?? { count: 0, users: 0 }
    numbers.users++
    tokens.set(key, numbers)
    return numbers
  }
  const release = (token: ProgressToken, numbers: TokenCount) => {
    numbers.users--
    if (numbers.users === 0) tokens.delete(requestIdKey(token))
  }

  const openToken = Effect.fnUntraced(function* (peer: PeerControl, token: ProgressToken) {
    const numbers = yield* Effect.acquireRelease(
      Effect.sync(() => use(token)),
      (used) => Effect.sync(() => release(token, used)),
    )
    const startMs = yield* Clock.currentTimeMillis
    const { progress, reminders } = makeReporter(peer, token, numbers, startMs)
    yield* reminders.pipe(
      // The connection has ended; the call notices by itself.
      Effect.catch(({ reason }) => Effect.logDebug(`progress not sent: ${reason}`)),
      Effect.forkScoped({ startImmediately: true }),
    )
    return progress
  })

  return {
    open: Effect.fnUntraced(function* (context) {
      const token = tokenOf(context)
      const progress = token === undefined ? undefined : yield* openToken(context.peer, token)
      return context.task === undefined ? progress : taskProgress(context.task, progress)
    }),
  }
}
