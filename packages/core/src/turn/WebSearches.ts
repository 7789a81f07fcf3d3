/**
 * The searches that a provider makes during one response, as pairs of begin and end events. The id of a pair is used by
 * no other call of the conversation. Each pair is complete, also where the provider gave one half only.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ModelEvent } from "../ModelClient.ts"

type Search = Extract<ModelEvent, { readonly _tag: "WebSearchBegin" | "WebSearchEnd" }>

const endOf = (call_id: string, query: string): EventMsg => ({
  type: "web_search_end",
  call_id,
  query,
})

export class WebSearches {
  /** Those that have no end yet, oldest first: their ids of the provider and in events. */
  private open: Array<{ readonly callId: string; readonly eventCallId: string }> = []
  private readonly eventCallId: (callId: string) => string

  /** `eventCallId` gives an id that no event has. */
  constructor(eventCallId: (callId: string) => string) {
    this.eventCallId = eventCallId
  }

  add(event: Search): ReadonlyArray<EventMsg> {
    return event._tag === "WebSearchBegin"
      ? [this.begin(event.callId)]
      : this.end(event.callId, event.query)
  }

  private begin(callId: string): EventMsg {
    const eventCallId = this.eventCallId(callId)
    this.open.push({ callId, eventCallId })
    return { type: "web_search_begin", call_id: eventCallId }
  }

  private end(callId: string, query: string): ReadonlyArray<EventMsg> {
    const begun = this.open.find((search) => search.callId === callId)
    if (begun !== undefined) {
      this.open = this.open.filter((search) => search !== begun)
      return [endOf(begun.eventCallId, query)]
    }
    const call_id = this.eventCallId(callId)
    return [{ type: "web_search_begin", call_id }, endOf(call_id, query)]
  }

  /** The ends of the searches that the response left open. */
  close(): ReadonlyArray<EventMsg> {
    return this.open.splice(0).map(({ eventCallId }) => endOf(eventCallId, ""))
  }
}
