/**
 * The listeners of one conversation: lets them in, up to a limit, and hands each what is published (design §4).
 *
 * Publishing is a call that puts references into bounded outboxes: it waits for nobody, copies nothing and runs no
 * code of a listener (L6). It is made before anything else can run after the append to the log, so that whoever
 * attaches finds all of a batch in the log or none of it.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import {
  type ConversationUnavailable,
  EventsFromFuture,
  TooManyListeners,
} from "../ConversationErrors.ts"
import type { Answers } from "../approvals/Approval.ts"
import { answersOf } from "../approvals/Elicitation.ts"
import type { EventLog } from "../log/EventLog.ts"
import type { Listener } from "./Listener.ts"
import { defaultOutboxLimits, type OutboxLimits } from "./Outbox.ts"
import { OutboxListener } from "./OutboxListener.ts"

/** An end for a client that attaches in a loop; each costs a bounded outbox. */
const defaultMaxListeners = 1024

const none: ReadonlyArray<OutboxListener> = []

export class Listeners {
  /** Replaced, never changed: most conversations have none or one, which a set would triple in size. */
  private all = none
  private ended = false
  /** Why nothing can be recorded any more, where that was the end. */
  private because: ConversationUnavailable | undefined
  private readonly log: EventLog
  private readonly maxListeners: number

  constructor(log: EventLog, maxListeners = defaultMaxListeners) {
    this.log = log
    this.maxListeners = maxListeners
  }

  get size(): number {
    return this.all.length
  }

  /** The events that were appended to the log since the last time; nobody has run in between. */
  publish(events: ReadonlyArray<Event>): void {
    for (const listener of this.all) listener.offer(events)
  }

  /** Nothing more will be published; a listener that attaches later gets the log and its end. */
  end(because?: ConversationUnavailable): void {
    this.ended = true
    this.because = because
    for (const listener of this.all) listener.end(because)
  }

  /** Ends with the scope. Fails, and nobody listens, beyond the next event or the limit. */
  attach(options?: {
    readonly from?: number
    readonly limits?: OutboxLimits
    readonly answers?: boolean | Answers
  }): Effect.Effect<Listener, EventsFromFuture | TooManyListeners, Scope.Scope> {
    const enter = Effect.suspend(
      (): Effect.Effect<OutboxListener, EventsFromFuture | TooManyListeners> => {
        const { answers, from = this.log.seq, limits = defaultOutboxLimits } = options ?? {}
        if (!Number.isInteger(from) || from > this.log.seq) {
          return Effect.fail(new EventsFromFuture({ from, next: this.log.seq }))
        }
        if (this.size >= this.maxListeners) {
          return Effect.fail(new TooManyListeners({ maxListeners: this.maxListeners }))
        }
        const listener = new OutboxListener(this.log, limits, from, answersOf(answers))
        if (this.ended) listener.end(this.because)
        this.all = this.all.concat(listener)
        return Effect.succeed(listener)
      },
    )
    return Effect.acquireRelease(enter, (listener) =>
      Effect.sync(() => {
        this.all = this.all.filter((one) => one !== listener)
      }),
    )
  }
}
