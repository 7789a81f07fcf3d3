/**
 * The searches that a provider makes during one response, as pairs of begin and end events. The id of a pair is used by
 * no other call of the conversation. Each pair is complete, also where the provider gave one half only.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"

const endOf = (call_id: string, query: unknown): EventMsg => ({
  type: "web_search_end",
  call_id,
  query: typeof query === "string" ? query : "",
})

export class WebSearches {
  /** Ids in events of the searches that have no end yet, oldest first: a finished item does not name its search. */
  private readonly open: Array<string> = []
  private readonly eventCallId: (callId: string) => string

  /** `eventCallId` gives an id that no event has. */
  constructor(eventCallId: (callId: string) => string) {
    this.eventCallId = eventCallId
  }

  begin(callId: string): EventMsg {
    const call_id = this.eventCallId(callId)
    this.open.push(call_id)
    return { type: "web_search_begin", call_id }
  }

  /** The events of a finished item: none unless it is a search. */
  end(item: ResponseItem): ReadonlyArray<EventMsg> {
    if (item.type !== "web_search_call") return []
    const query = item.action?.["query"]
    const known = this.open.shift()
    if (known !== undefined) return [endOf(known, query)]
    const call_id = this.eventCallId("")
    return [{ type: "web_search_begin", call_id }, endOf(call_id, query)]
  }

  /** The ends of the searches that the response left open. */
  close(): ReadonlyArray<EventMsg> {
    return this.open.splice(0).map((call_id) => endOf(call_id, undefined))
  }
}
