/**
 * The notifications of one connection that are not of its subscriptions. Those of a thread that ends follow the last one of
 * the subscription of the thread; they wait for that a bounded time. Adding one never waits.
 */
import type { Params } from "@colloquy/protocol/Method"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { ConnectionNotices } from "../../app/subscriptions/ConnectionNotices.ts"

/** How long the last events of a thread that ends are waited for. */
export const maxEndTime = Duration.seconds(5)

const threadIdOf = (params: unknown): string | undefined =>
  typeof params === "object" &&
  params !== null &&
  "threadId" in params &&
  typeof params.threadId === "string"
    ? params.threadId
    : undefined

/** See the header. */
export class ThreadNotices {
  private readonly notices: Pick<ConnectionNotices, "put">
  private readonly fork: (effect: Effect.Effect<void>) => void
  /** What was added of threads that end. */
  private readonly held = new Map<string, Array<() => void>>()

  /** @param fork runs what waits, until the connection ends */
  constructor(
    notices: Pick<ConnectionNotices, "put">,
    fork: (effect: Effect.Effect<void>) => void,
  ) {
    this.notices = notices
    this.fork = fork
  }

  /** Adds a notification. */
  put<M extends Rpc.Any>(method: M, params: Params<M>): void {
    const threadId = threadIdOf(params)
    const kind = threadId === undefined ? "each" : { latestOf: threadId }
    const put = () => this.notices.put(method, params, kind)
    const held = threadId === undefined ? undefined : this.held.get(threadId)
    if (held === undefined) put()
    else held.push(put)
  }

  /** What is added of the thread from now on follows its end. */
  hold(threadId: string, ended: Effect.Effect<void>): void {
    if (this.held.has(threadId)) return
    const held: Array<() => void> = []
    this.held.set(threadId, held)
    const release = Effect.sync(() => {
      this.held.delete(threadId)
      for (const put of held) put()
    })
    this.fork(Effect.andThen(Effect.timeoutOption(ended, maxEndTime), release))
  }
}
