/**
 * One listener of a conversation: an outbox that the conversation fills, and `take`. Filling it is a call that never
 * waits and runs none of the listener's code, so a slow or dead one delays nothing (L6); there is no fiber between,
 * so one that has nothing to read costs next to nothing.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Answers } from "../approvals/Approval.ts"
import type { ConversationUnavailable } from "../ConversationErrors.ts"
import type { EventLog } from "../log/EventLog.ts"
import type { Listener } from "./Listener.ts"
import { Outbox, type OutboxLimits } from "./Outbox.ts"

type Listening =
  | { readonly _tag: "Open" }
  | { readonly _tag: "Over"; readonly because?: ConversationUnavailable }

/** A class: its methods are shared, where closures would be made for every listener anew. */
export class OutboxListener implements Listener {
  private readonly outbox: Outbox
  private wake: (() => void) | undefined
  private over: Listening = { _tag: "Open" }

  /** Begins at durable event `from`; is asked the questions that it `answers`. */
  constructor(log: EventLog, limits: OutboxLimits, from: number, answers?: Answers) {
    this.outbox = new Outbox(log, limits, from, answers)
  }

  /** What follows in the log on what was offered before. */
  offer(events: ReadonlyArray<Event>): void {
    this.outbox.offer(events)
    this.ring()
  }

  /** Nothing more will come: what is left is delivered, then `Done`, or why nothing can be recorded any more. */
  end(because?: ConversationUnavailable): void {
    this.over = { _tag: "Over", ...(because === undefined ? {} : { because }) }
    this.ring()
  }

  get take(): Listener["take"] {
    return Effect.suspend(() => this.next())
  }

  private next(): Listener["take"] {
    if (!this.outbox.isEmpty) return Effect.succeed(this.outbox.take())
    const { over } = this
    if (over._tag === "Open") return Effect.flatMap(this.ready(), () => this.next())
    return Effect.fail(over.because ?? Cause.Done())
  }

  private ready(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      // Something may have come since `take` looked.
      if (this.over._tag === "Over" || !this.outbox.isEmpty) return resume(Effect.void)
      // Resumed by a plain effect the taker would go on at once, inside the fiber that publishes.
      this.wake = () => resume(Effect.yieldNow)
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
