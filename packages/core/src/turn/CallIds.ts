/**
 * The ids under which the events of a conversation name its calls. A provider may give one id to several calls, of one
 * response or of later ones; a listener that pairs begin and end events needs one for each. A call keeps the provider's
 * id as long as no event has it. In the history that the model sees, calls and outputs always have the provider's ids.
 */
import type { Event } from "@colloquy/protocol/EventMsg"

export class CallIds {
  private readonly used = new Set<string>()

  /** `events` are those of the conversation so far. */
  constructor(events: Iterable<Event>) {
    for (const { msg } of events) {
      if ("call_id" in msg && typeof msg.call_id === "string") this.used.add(msg.call_id)
    }
  }

  /** The id itself, or that id with the first number from 2 on that makes it unused; it is used from now on. */
  take(id: string): string {
    const base = id === "" ? "call" : id
    let taken = base
    for (let n = 2; this.used.has(taken); n++) taken = `${base}-${n}`
    this.used.add(taken)
    return taken
  }
}
