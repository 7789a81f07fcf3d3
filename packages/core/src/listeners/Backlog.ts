/**
 * How far a listener may fall behind its conversation, and what it receives when it does. Pure: the conversation counts
 * what it publishes once, for all its listeners together; the backlog of each is the difference to the count at its last
 * take. Keeps L6: a listener's backlog is bounded, and events other than deltas are never dropped from it silently.
 */
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"

/** The limits of one listener's backlog. Beyond `maxEvents` or `maxBytes` the conversation drops its subscription. */
export interface ListenerLimits {
  /** Events that one take may give when its deltas are coalesced. */
  readonly maxEvents: number
  /** Text of unread deltas, in UTF-16 code units. Durable events are not counted: the event log holds them anyway. */
  readonly maxBytes: number
  /**
   * Unread events up to which deltas stay as they came. Where more are unread, those of one text beyond the first 128 events
   * are coalesced. Default: `maxEvents`.
   */
  readonly maxSeparate?: number
}

/**
 * 1,024 events or 4 MiB of deltas: minutes of a turn's output, and what a server with many listeners can afford. Up to 8,192
 * deltas stay separate: a listener is not behind because a provider writes a whole answer at once, and they take about
 * 1 MiB, which all listeners of a conversation share.
 */
export const defaultListenerLimits: ListenerLimits = {
  maxEvents: 1024,
  maxBytes: 4 * 1024 * 1024,
  maxSeparate: 8192,
}

/**
 * Events that a listener which is behind may add to its backlog before it is coalesced again without being read, so that a
 * listener which never reads holds the text of many deltas but not as many objects. Costs each delta one more step.
 */
export const coalesceAfter = 1024

/** Events at the beginning of a coalesced backlog whose deltas stay as they came. */
const separate = 128

/** Totals of what a conversation has published to its `PubSub`. */
export interface Published {
  readonly events: number
  /** Events after deltas of one text that follow on each other were joined. */
  readonly joined: number
  /** Text of deltas, in UTF-16 code units. */
  readonly bytes: number
}

/** The totals before the first event. */
export const nothingPublished: Published = { events: 0, joined: 0, bytes: 0 }

const deltaSize = (msg: EventMsg): number => {
  if ("delta" in msg) return msg.delta.length
  return "chunk" in msg ? msg.chunk.length : 0
}

const isJoinable = (a: Event, b: Event): boolean =>
  a.id === b.id && a.msg.type === b.msg.type && "delta" in a.msg

/** The totals after `batch`, which is not empty; `last` is the event published before it. */
export const addTo = (
  total: Published,
  last: Event | undefined,
  batch: ReadonlyArray<Event>,
): Published => {
  let { bytes, joined } = total
  let before = last
  for (const event of batch) {
    if (before === undefined || !isJoinable(before, event)) joined++
    bytes += deltaSize(event.msg)
    before = event
  }
  return { events: total.events + batch.length, joined, bytes }
}

/** True where a listener that last read at `read` has so many unread events at `total` that its deltas are coalesced. */
export const isBehind = (total: Published, read: Published, limits: ListenerLimits): boolean =>
  total.events - read.events > (limits.maxSeparate ?? limits.maxEvents)

/** True where a listener that last read at `read` is beyond its limits at `total`, even when its deltas are coalesced. */
export const exceeds = (total: Published, read: Published, limits: ListenerLimits): boolean => {
  const unread = total.events - read.events
  const held =
    unread <= separate ? unread : separate + Math.min(unread - separate, total.joined - read.joined)
  return held > limits.maxEvents || total.bytes - read.bytes > limits.maxBytes
}

const textOf = ({ msg }: Event): string => ("delta" in msg ? msg.delta : "")

/** Several deltas of one text in a row, as one event. */
const join = (first: Event, rest: ReadonlyArray<Event>): Event =>
  rest.length === 0 || !("delta" in first.msg)
    ? first
    : // The first may be long, joined before: concatenated it is not copied.
      { ...first, msg: { ...first.msg, delta: first.msg.delta + rest.map(textOf).join("") } }

/**
 * The events of these batches in order. From the 128th on, deltas of one text that follow on each other are joined into
 * one event, with the `seq` of the first. Applied again to its result and what follows on it, it gives the same as applied once.
 */
export const coalesced = (batches: ReadonlyArray<ReadonlyArray<Event>>): ReadonlyArray<Event> => {
  const [only, ...more] = batches
  const all = more.length === 0 ? (only ?? []) : batches.flat()
  if (all.length <= separate) return all
  const events = all.slice(0, separate - 1)
  let rest: Array<Event> = []
  let first: Event | undefined
  for (const event of all.slice(separate - 1)) {
    if (first !== undefined && isJoinable(first, event)) {
      rest.push(event)
      continue
    }
    if (first !== undefined) events.push(join(first, rest))
    first = event
    rest = []
  }
  if (first !== undefined) events.push(join(first, rest))
  return events
}
