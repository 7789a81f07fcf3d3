/** The listeners of one conversation: lets them in, up to a limit, and counts them. */
import * as Effect from "effect/Effect"
import type * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import { EventsFromFuture, TooManyListeners } from "./ConversationErrors.ts"
import type { EventLog } from "./EventLog.ts"
import { type Batch, type Listener, make as makeListener } from "./Listener.ts"
import { defaultOutboxLimits, type OutboxLimits } from "./Outbox.ts"

/** An end for a client that attaches in a loop; each costs two fibers' worth of memory and a bounded outbox. */
const defaultMaxListeners = 1024

export class Listeners {
  private count = 0
  private readonly log: EventLog
  private readonly hub: PubSub.PubSub<Batch>
  private readonly maxListeners: number

  constructor(log: EventLog, hub: PubSub.PubSub<Batch>, maxListeners = defaultMaxListeners) {
    this.log = log
    this.hub = hub
    this.maxListeners = maxListeners
  }

  get size(): number {
    return this.count
  }

  /** Ends with the scope. Fails, and nobody listens, beyond the next event or the limit. */
  attach(options?: {
    readonly from?: number
    readonly limits?: OutboxLimits
    readonly answers?: boolean
  }): Effect.Effect<Listener, EventsFromFuture | TooManyListeners, Scope.Scope> {
    const enter = Effect.suspend((): Effect.Effect<number, EventsFromFuture | TooManyListeners> => {
      const from = options?.from ?? this.log.seq
      if (!Number.isInteger(from) || from > this.log.seq) {
        return Effect.fail(new EventsFromFuture({ from, next: this.log.seq }))
      }
      if (this.count >= this.maxListeners) {
        return Effect.fail(new TooManyListeners({ maxListeners: this.maxListeners }))
      }
      this.count++
      return Effect.succeed(from)
    })
    const leave = Effect.sync(() => {
      this.count--
    })
    return Effect.flatMap(
      Effect.acquireRelease(enter, () => leave),
      (from) =>
        makeListener(
          this.log,
          this.hub,
          options?.limits ?? defaultOutboxLimits,
          from,
          options?.answers,
        ),
    )
  }
}
