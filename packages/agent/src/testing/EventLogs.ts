/**
 * The events of all conversations that a program has open, in the order in which they happened. They are collected while
 * they are committed, so a test reads them without waiting. `session_configured`, which a conversation starts with, is not
 * among them.
 */
import { ConversationObserver } from "@colloquy/core/ConversationObserver"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** One event and when and where it happened. */
export interface LoggedEvent {
  /** By the clock of the program, in milliseconds. */
  readonly atMs: number
  readonly conversationId: string
  readonly event: Event
}

const ignored = (): void => undefined

const silent: ConversationObserver = {
  submitted: ignored,
  committed: ignored,
  closed: ignored,
  evicted: ignored,
  observe: (services) => services,
  measure: () => ignored,
}

/** Collects events. */
export class EventLogs {
  /** All events so far. */
  readonly all: Array<LoggedEvent> = []
  private readonly byConversation = new Map<string, Array<Event>>()

  /** Ids of the conversations with events, in the order of their first one. */
  get conversations(): ReadonlyArray<string> {
    return [...this.byConversation.keys()]
  }

  /** The events of one conversation. */
  of(conversationId: string): ReadonlyArray<Event> {
    return this.byConversation.get(conversationId) ?? []
  }

  /** Runs the effect; the events of every conversation manager that it starts are collected. */
  observe<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.gen({ self: this }, function* () {
      const clock = yield* Clock.clockWith(Effect.succeed)
      const outer = (yield* ConversationObserver) ?? silent
      const observer: ConversationObserver = {
        submitted: outer.submitted,
        closed: outer.closed,
        evicted: outer.evicted,
        observe: outer.observe,
        measure: outer.measure,
        committed: (conversationId, events, settings) => {
          const atMs = clock.currentTimeMillisUnsafe()
          for (const event of events) this.add({ atMs, conversationId, event })
          outer.committed(conversationId, events, settings)
        },
      }
      return yield* Effect.provideService(effect, ConversationObserver, observer)
    })
  }

  private add(logged: LoggedEvent): void {
    const { conversationId, event } = logged
    this.all.push(logged)
    const log = this.byConversation.get(conversationId)
    if (log === undefined) this.byConversation.set(conversationId, [event])
    else log.push(event)
  }
}
