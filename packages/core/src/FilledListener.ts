/**
 * One listener of a conversation: an outbox that the conversation fills, and `take`. Filling never waits for the
 * listener's owner, so a slow or dead one delays nothing (L6); there is no fiber between, so an idle one costs little.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { EventLog } from "./EventLog.ts"
import type { Listener } from "./Listener.ts"
import { Outbox, type OutboxLimits } from "./Outbox.ts"

export class FilledListener implements Listener {
  private readonly outbox: Outbox
  private wake: (() => void) | undefined
  private ended = false

  /** Begins at durable event `from`. */
  constructor(log: EventLog, limits: OutboxLimits, from: number) {
    this.outbox = new Outbox(log, limits, from)
  }

  /** Events published together; `end` is the log's position after the last. Never waits. */
  offer(events: ReadonlyArray<Event>, end: number): void {
    this.outbox.offer(events, end)
    this.ring()
  }

  /** Nothing more will come. */
  end(): void {
    this.ended = true
    this.ring()
  }

  get take(): Listener["take"] {
    return Effect.suspend(() => this.next())
  }

  private next(): Listener["take"] {
    if (!this.outbox.isEmpty) return Effect.succeed(this.outbox.take())
    return this.ended ? Effect.fail(Cause.Done()) : Effect.flatMap(this.ready(), () => this.next())
  }

  private ready(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      // Something may have come since `take` looked.
      if (this.ended || !this.outbox.isEmpty) return resume(Effect.void)
      this.wake = () => resume(Effect.void)
      return Effect.sync(() => {
        this.wake = undefined
      })
    })
  }

  private ring(): void {
    const waiting = this.wake
    this.wake = undefined
    waiting?.()
  }
}
