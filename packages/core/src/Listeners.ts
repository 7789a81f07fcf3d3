/**
 * The listeners of one conversation: lets them in, up to a limit, and hands each what is published (design §4).
 *
 * Publishing is a call that puts references into bounded outboxes: nobody waits, nothing is copied (L6).
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type AttachError, EventsFromFuture, TooManyListeners } from "./ConversationErrors.ts"
import type { EventLog } from "./EventLog.ts"
import { FilledListener } from "./FilledListener.ts"
import type { Listener } from "./Listener.ts"
import { defaultOutboxLimits, type OutboxLimits } from "./Outbox.ts"

/** An end for a client that attaches in a loop; each costs a bounded outbox. */
const defaultMaxListeners = 1024

export class Listeners {
  /** Made by the first: most conversations have none. */
  private all: Set<FilledListener> | undefined
  private ended = false
  private readonly log: EventLog
  private readonly maxListeners: number

  constructor(log: EventLog, maxListeners = defaultMaxListeners) {
    this.log = log
    this.maxListeners = maxListeners
  }

  get size(): number {
    return this.all?.size ?? 0
  }

  /** Events that the log has already, up to its position `end`. */
  publish(events: ReadonlyArray<Event>, end: number): void {
    if (this.all === undefined) return
    for (const listener of this.all) listener.offer(events, end)
  }

  /** Nothing more will be published; who attaches later gets the log and its end. */
  end(): void {
    this.ended = true
    for (const listener of this.all ?? []) listener.end()
  }

  /** Ends with the scope. Fails, and nobody listens, beyond the next event or the limit. */
  attach(options?: {
    readonly from?: number
    readonly limits?: OutboxLimits
  }): Effect.Effect<Listener, AttachError, Scope.Scope> {
    const enter = Effect.suspend((): Effect.Effect<FilledListener, AttachError> => {
      const from = options?.from ?? this.log.seq
      if (!Number.isInteger(from) || from > this.log.seq) {
        return Effect.fail(new EventsFromFuture({ from, next: this.log.seq }))
      }
      if (this.size >= this.maxListeners) {
        return Effect.fail(new TooManyListeners({ maxListeners: this.maxListeners }))
      }
      const listener = new FilledListener(this.log, options?.limits ?? defaultOutboxLimits, from)
      if (this.ended) listener.end()
      this.all ??= new Set()
      this.all.add(listener)
      return Effect.succeed(listener)
    })
    return Effect.acquireRelease(enter, (listener) => Effect.sync(() => this.all?.delete(listener)))
  }
}
