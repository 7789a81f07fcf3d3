/**
 * The web searches that a provider makes during one response, as pairs of begin and end events. No other call of the
 * conversation has the id of a pair. Each pair is complete, also when the provider sent only one half.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ModelEvent } from "../ModelClient.ts"

type Search = Extract<ModelEvent, { readonly _tag: "WebSearchBegin" | "WebSearchEnd" }>

const endOf = (call_id: string, query: string): EventMsg => ({
  type: "web_search_end",
  call_id,
  query,
})

/** The searches of one response. */
export class WebSearches {
  /** Searches without an end, oldest first, with their ids of the provider and in events. */
  private open: Array<{ readonly callId: string; readonly eventCallId: string }> = []
  private readonly eventCallId: (callId: string) => string

  /** @param eventCallId returns an id that no event has */
  constructor(eventCallId: (callId: string) => string) {
    this.eventCallId = eventCallId
  }

  /** The events of this half of a search. */
  add(event: Search): ReadonlyArray<EventMsg> {
    return event._tag === "WebSearchBegin"
      ? [this.startSearch(event.callId)]
      : this.endSearch(event.callId, event.query)
  }

  private startSearch(callId: string): EventMsg {
    const eventCallId = this.eventCallId(callId)
    this.open.push({ callId, eventCallId })
    return { type: "web_search_begin", call_id: eventCallId }
  }

  private endSearch(callId: string, query: string): ReadonlyArray<EventMsg> {
    const started = this.open.find((search) => search.callId === callId)
    if (started !== undefined) {
      this.open = this.open.filter((search) => search !== started)
      return [endOf(started.eventCallId, query)]
    }
    const call_id = this.eventCallId(callId)
    return [{ type: "web_search_begin", call_id }, endOf(call_id, query)]
  }

  /** The end events of the searches without an end. */
  close(): ReadonlyArray<EventMsg> {
    return this.open.splice(0).map(({ eventCallId }) => endOf(eventCallId, ""))
  }
}
