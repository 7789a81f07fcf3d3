/**
 * `notifications/progress` of the calls of one connection that named a token: numbers that rise, a short message for
 * every item, and the last message again when nothing was sent for a while. Sends one batch at a time and queues none,
 * so a client that does not read costs nothing (L6). Sends nothing after the end of the call (L2). A call that is a task
 * reports its items to the task as well.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { requestIdKey } from "@colloquy/protocol/JsonRpc"
import { Progress, type ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Shared from "../../internal/Shared.ts"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { RequestContext, TaskHandle } from "../RequestContext.ts"

/** The progress of one call. */
export interface CallProgress {
  /** Notifies the client of these items, oldest first; only of the last one when there are more than a client can show. */
  readonly notify: (items: ReadonlyArray<string>) => Effect.Effect<void, ConnectionClosed>
  /** Sends nothing from now on: the call was cancelled. */
  readonly end: () => void
}

/** The progress of all calls of one connection. */
export interface ConnectionProgress {
  /**
   * The progress of that call until the scope closes; nothing is sent afterwards. While nothing else is sent, the client is
   * reminded. Undefined for a call that names no token and is no task.
   */
  readonly open: (
    context: RequestContext,
  ) => Effect.Effect<CallProgress, never, Scope.Scope> | undefined
}

/** Clients time out after 60 s without progress; several reminders fit in, also late ones. */
const maxSilenceMs = 10_000

/** With more items at once than this, a client that displays each of them shows none long enough to read. */
const maxItemsAtOnce = 16

/** The message before the first item: an earlier turn may still run. */
const waiting = "waiting"

/** The last number that was sent with a token. Calls with the same token share it: the numbers must not fall. */
interface Counter {
  last: number
}

/** Sends the progress of one call. One batch at a time; `reminders` repeats the last message after a silence. */
class Reporter implements CallProgress {
  private readonly one = Semaphore.makeUnsafe(1)
  private ended = false
  private last: { readonly item: string; readonly atMs: number; readonly sentMs: number }
  private readonly peer: PeerControl
  private readonly token: ProgressToken
  private readonly counter: Counter

  constructor(peer: PeerControl, token: ProgressToken, counter: Counter, startMs: number) {
    this.peer = peer
    this.token = token
    this.counter = counter
    this.last = { item: waiting, atMs: startMs, sentMs: startMs }
  }

  private send(items: ReadonlyArray<string>): Effect.Effect<void, ConnectionClosed> {
    return Effect.suspend(() => {
      if (this.ended || items.length === 0) return Effect.void
      const params = items.map((message) => ({
        progressToken: this.token,
        progress: ++this.counter.last,
        message,
      }))
      return Effect.andThen(
        this.peer.notify(Progress, params),
        Effect.map(Clock.currentTimeMillis, (ms) => {
          this.last = { ...this.last, sentMs: ms }
        }),
      )
    })
  }

  readonly notify: CallProgress["notify"] = (items) =>
    Effect.flatMap(Clock.currentTimeMillis, (atMs) => {
      const item = items.at(-1)
      if (item === undefined) return Effect.void
      this.last = { ...this.last, item, atMs }
      return this.one.withPermit(this.send(items.length > maxItemsAtOnce ? [item] : items))
    })

  readonly end = () => {
    this.ended = true
  }

  /** Waits until nothing has been sent for long enough, and repeats the last item with its age. */
  private readonly remind = Effect.gen({ self: this }, function* () {
    yield* Effect.sleep(this.last.sentMs + maxSilenceMs - (yield* Clock.currentTimeMillis))
    yield* this.one.withPermit(
      Effect.flatMap(Clock.currentTimeMillis, (ms) =>
        ms < this.last.sentMs + maxSilenceMs
          ? Effect.void
          : this.send([`${this.last.item} (${Math.round((ms - this.last.atMs) / 1000)} s)`]),
      ),
    )
  })

  /** Reminds the client until the call ends. */
  get reminders(): Effect.Effect<void, ConnectionClosed> {
    return Effect.whileLoop({ while: () => !this.ended, body: () => this.remind, step: () => {} })
  }
}

/** Sets the status message of the task to the last item, and notifies `progress` where the call named a token. */
const taskProgress = (task: TaskHandle, progress?: CallProgress): CallProgress => ({
  notify: (items) => {
    const last = items.at(-1)
    return last === undefined
      ? Effect.void
      : Effect.andThen(progress?.notify(items) ?? Effect.void, task.setStatus(last))
  },
  end: () => progress?.end(),
})

const tokenOf = ({ meta }: RequestContext): ProgressToken | undefined =>
  memberOf(meta, "progressToken") as ProgressToken | undefined

/** That of one connection, whose scope it is made in. */
export const make: Effect.Effect<ConnectionProgress, never, Scope.Scope> = Effect.map(
  Shared.make<Counter>(),
  (counters): ConnectionProgress => {
    const report = Effect.fnUntraced(function* (peer: PeerControl, token: ProgressToken) {
      // The tokens 1 and "1" have different keys.
      const counter = yield* counters(
        String(requestIdKey(token)),
        Effect.sync(() => ({ last: 0 })),
      )
      const reporter = new Reporter(peer, token, counter, yield* Clock.currentTimeMillis)
      yield* reporter.reminders.pipe(
        // The client has disconnected; the call learns it by itself.
        Effect.catch(({ reason }) => Effect.logDebug(`progress not sent: ${reason}`)),
        Effect.forkScoped({ startImmediately: true }),
      )
      return reporter
    })

    return {
      open: (context) => {
        const { peer, task } = context
        const token = tokenOf(context)
        const progress = token === undefined ? undefined : report(peer, token)
        if (task === undefined) return progress
        return progress === undefined
          ? Effect.succeed(taskProgress(task))
          : Effect.map(progress, (reporter) => taskProgress(task, reporter))
      },
    }
  },
)
