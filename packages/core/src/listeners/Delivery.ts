/** The deliveries that a listener takes: the events of its conversation, and the markers between them. */
import type { Event } from "@colloquy/protocol/EventMsg"

/** A durable event, once and in the order of `seq`, or an ephemeral one that follows it. */
export interface EventDelivery {
  readonly _tag: "Event"
  readonly event: Event
  /**
   * The time in the record of the event (`LogRecord`), so that it is the same whenever and wherever the event is delivered;
   * of an ephemeral event, that of the durable event which it follows.
   */
  readonly atMs: number
}

/** One thing that a listener takes, in the order in which it happened. */
export type Delivery =
  | EventDelivery
  /** Every durable event below `seq` has been delivered; the events that follow are live. */
  | { readonly _tag: "Synced"; readonly seq: number }
  /**
   * The listener fell behind its limits: deltas were dropped, and the durable events from `from` on follow from the
   * event log, with one more `Synced` at their end.
   */
  | { readonly _tag: "Lagged"; readonly from: number }
  /**
   * Only for a listener that declared it can answer: put this question to the client now. `event` is the request,
   * which was delivered before. Follows the request directly when it is live, and follows `Synced` for every question
   * that is pending then: on attach, and again, with the same event, after `Lagged`. An `approval_resolved` event
   * with the same call id withdraws it.
   */
  | { readonly _tag: "Ask"; readonly event: Event }
