/**
 * The ids of calls in the events of a conversation. A provider may give one id to several calls, in one response or in
 * later ones; a listener that pairs begin and end events needs a different id for each. A call has the id of the provider
 * unless an event has it already. In the history, calls and outputs always have the ids of the provider.
 */
import type { Event } from "@colloquy/protocol/EventMsg"

/** The ids that are in use. */
export class CallIds {
  private readonly used = new Set<string>()

  /** @param events the events of the conversation so far */
  constructor(events: Iterable<Event>) {
    for (const { msg } of events) {
      if ("call_id" in msg && typeof msg.call_id === "string") this.used.add(msg.call_id)
    }
  }

  /** An unused id, in use from now on: the given one, or that one with the first number from 2 on that is free. */
  take(id: string): string {
    const base = id === "" ? "call" : id
    let taken = base
    for (let n = 2; this.used.has(taken); n++) taken = `${base}-${n}`
    this.used.add(taken)
    return taken
  }
}
