/**
 * The truth of a conversation: its durable events in order, and the text so far of what is being streamed.
 * Appended to by the conversation's fiber alone; read by listeners. Keeps L4: `events[n].seq === n`.
 */
import { type Event, isEphemeral } from "@colloquy/protocol/EventMsg"
import { Partials } from "./Partials.ts"

export class EventLog {
  private readonly durable: Array<Event> = []
  private readonly partials = new Partials()
  private count = 0

  /** Number of the next durable event. */
  get seq(): number {
    return this.durable.length
  }

  /** All events ever appended, ephemeral ones included: a listener's mark of what it has seen. */
  get position(): number {
    return this.count
  }

  append(events: ReadonlyArray<Event>): void {
    for (const event of events) {
      if (!isEphemeral(event.msg)) this.durable.push(event)
      this.partials.add(event.id, event.msg)
    }
    this.count += events.length
  }

  /** Durable events from number `from` on, at most `max`. */
  slice(from: number, max: number): ReadonlyArray<Event> {
    return this.durable.slice(from, from + max)
  }

  /** Every durable event. */
  all(): ReadonlyArray<Event> {
    return this.durable
  }

  /** One delta per text in progress, each with all its text so far. */
  inProgress(): ReadonlyArray<Event> {
    const seq = this.durable.length - 1
    return this.partials.current().map(({ id, msg }) => ({ seq, id, msg }))
  }
}
