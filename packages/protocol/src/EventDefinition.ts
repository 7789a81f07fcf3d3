/**
 * One definition per event type, as `request(…)` is one per method: `event(type, fields, properties)`. What the rest of
 * the code has to know of an event (is it recorded, does it end a turn, which clients receive it) is a property of its
 * definition and is derived from there; no other module lists event types for such a purpose. Owns no definition itself.
 */
import * as Schema from "effect/Schema"

/**
 * Which clients receive an event while it happens. What a client may read of a stored conversation is not affected.
 * - `colloquy`: only app-server listeners that gave `after`. They are written for Colloquy and accept event types that
 *   they do not know. This is the default: clients of the original may fail on an event type that it did not have.
 * - `original`: every client.
 * - `codex-mcp`: MCP clients as well; of the app-server's clients only those that gave `after`.
 * - `raw`: only app-server listeners that asked for raw events (`experimentalRawEvents`).
 */
export type Audience = "colloquy" | "original" | "codex-mcp" | "raw"

/** What a definition says about an event type besides its fields. */
export interface EventInfo {
  /** What happened, in one or two sentences; printed in the generated reference. */
  readonly doc: string
  /** First version of the original that sent the event, or `colloquy 0.1` for an event that the original does not have. */
  readonly since: string
  /** Clients that receive the event live. */
  readonly audience: Audience
  /** True: recorded in the event log and numbered. False: ephemeral, delivered to present listeners only. */
  readonly durable: boolean
  /**
   * True: the store forces the record to the disk before the event is delivered, so that it survives a power failure.
   * False: the record survives the end of the process only; its loss loses no input, answer, message or end of a turn.
   */
  readonly synced: boolean
  /** True: the terminal event of a turn (L5). */
  readonly ends: boolean
  /** True: the original writes the event to its rollout file and reports it again on resume. */
  readonly inRollout: boolean
  /** Types of the text deltas whose text is complete, or discarded, once this event has happened. */
  readonly completes: ReadonlyArray<string>
  /**
   * True: known for the sake of stored conversations and clients of the original; Colloquy never produces the event.
   */
  readonly legacy: boolean
}

const defaults = {
  since: "colloquy 0.1",
  audience: "colloquy",
  durable: true,
  synced: true,
  ends: false,
  inRollout: false,
  completes: [],
  legacy: false,
} as const satisfies Omit<EventInfo, "doc">

/** Properties of an event that has not been defined: those of a definition that gives none. */
export const undefinedEvent: EventInfo = { doc: "", ...defaults }

/** What a definition must and may give; the rest has defaults. */
export type EventProperties = Pick<EventInfo, "doc"> & Partial<EventInfo>

/** The properties of events that every version of the original since 0.25 has sent to its clients. */
export const original = { since: "0.25", audience: "original" } as const

/** Types of the events whose `delta` is a piece of text. */
export const textDeltas = [
  "agent_message_delta",
  "agent_reasoning_delta",
  "agent_reasoning_raw_content_delta",
] as const

/** `task_started` is the type `TaskStartedEvent` of the contract. */
const nameOf = (type: string): string =>
  `${type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`

/** Defines an event type: its schema, tagged by `type`, and with its properties in `info`. */
export const event = <
  const T extends string,
  F extends Schema.Struct.Fields,
  const P extends EventProperties,
>(
  type: T,
  fields: F,
  properties: P,
) => {
  const info: Omit<typeof defaults, keyof P> & P = { ...defaults, ...properties }
  return Object.assign(
    Schema.Struct({ type: Schema.Literal(type), ...fields }).annotate({ identifier: nameOf(type) }),
    { info },
  )
}
