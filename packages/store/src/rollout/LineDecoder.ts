/**
 * Decodes lines of a rollout file to records. Understands the lines of this program, those of the
 * original since September 2025, and those of its version of August 2025. Pure except for the
 * numbering, which advances with every line. The formats are described in
 * `packages/docs/wire/rollout.md`.
 *
 * A line that cannot be read is `bad` and is left out; a line that is intact but of no use here is
 * not bad. When the numbers in the file show that an event is missing, a warning event takes its
 * place, so that numbers have no gap (L4).
 */
import { LogRecord } from "@colloquy/core/LogRecord"
import { EventMsg, eventTypes, isEphemeral } from "@colloquy/protocol/EventMsg"
import { maxJsonDepth, parseJson } from "@colloquy/protocol/Json"
import { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { eventsOfAugustItem, normalizeItem } from "./ForeignItems.ts"
import { decodesToItself } from "../internal/DecodesToItself.ts"
import { IsoTimes } from "../internal/IsoTime.ts"
import { type Numbering, ownLineTypes, lineTypeOfTag } from "./LineEncoder.ts"
import { unfoldRepeats } from "./RepeatedText.ts"

/**
 * The program that wrote the file: this one, or the original since September 2025 or in August
 * 2025.
 */
export type LineFormat = "colloquy" | "september" | "august"

/** What one line means. */
export interface DecodedLine {
  /** The records of the line; empty when it has none. */
  readonly records: ReadonlyArray<LogRecord>
  /** True when the line cannot be read. */
  readonly bad?: true
}

const nothing: DecodedLine = { records: [] }
const bad: DecodedLine = { records: [], bad: true }

/** A value from outside may have `maxJsonDepth` levels; the line around it adds more. */
export const maxLineDepth = 2 * maxJsonDepth

/** Most events that may be missing in one place. A number farther ahead is itself an error. */
export const maxLostEvents = 2 ** 17

/**
 * False for a number that no file of this length can have reached: every event takes more than a
 * byte, including those that can no longer be read. Therefore the events that replace lost ones are
 * never more than the bytes of the file.
 *
 * @param end offset behind the line
 */
const isPlausible = (seq: number, end: number): boolean => seq <= end

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Decodes a value, without the schema's parser where that would return an equal value. */
const decoderOf = <A>(
  schema: Schema.Codec<A, unknown>,
): ((value: unknown) => Result.Result<A, unknown>) => {
  const isDecoded = decodesToItself(schema)
  const decode = Schema.decodeUnknownResult(schema)
  return (value) => (isDecoded(value) ? Result.succeed(value) : decode(value))
}

const decodeOwnItem = decoderOf(ResponseItem)
const decodeMsg = decoderOf(EventMsg)
const decodeRecord = decoderOf(LogRecord)

const decodeItem = (value: Fields) => {
  const item = decodeOwnItem(value)
  return Result.isSuccess(item) ? item : decodeOwnItem(normalizeItem(value))
}

const parse = (text: string): Fields | undefined => {
  const value = Result.getOrUndefined(parseJson(text, maxLineDepth))
  return isFields(value) ? value : undefined
}

/** Takes the place of an event that the file has lost. */
const lostEvent: EventMsg = {
  type: "warning",
  message: "An event could not be read from the conversation's file and is left out.",
}

/** All that the records of the next line depend on, except the line itself. */
export interface LineDecoderState {
  /** The numbering of the next line. */
  readonly numbering: Numbering
  /** Time in the last line that has one, in milliseconds since the epoch. */
  readonly atMs: number
  /**
   * True directly behind a mark which says that the summary in the next line keeps the user's
   * input.
   */
  readonly keepsInput: boolean
}

/** Decodes the lines of one file, in order, from a place with a known state. */
export class LineDecoder {
  private numbering: Numbering
  private readonly format: LineFormat
  /** Time of the last line; lines of August 2025 have none of their own. */
  private atMs: number
  private readonly times = new IsoTimes()
  private writerGeneration = 0
  private end = 0
  /** Whether the mark directly before says that a summary keeps the user's input. */
  private keepsInput: boolean

  constructor(generation: LineFormat, numbering: Numbering, atMs: number, keepsInput = false) {
    this.format = generation
    this.numbering = numbering
    this.atMs = atMs
    this.keepsInput = keepsInput
  }

  /** State behind the lines decoded so far. A new decoder with this state continues from there. */
  get state(): LineDecoderState {
    return { numbering: this.numbering, atMs: this.atMs, keepsInput: this.keepsInput }
  }

  /** That state with the offset that the lines decoded so far end at. */
  placeAt(offset: number): LineDecoderState & { readonly offset: number } {
    return { offset, numbering: this.numbering, atMs: this.atMs, keepsInput: this.keepsInput }
  }

  /** Generation of the last writer that the lines name; 0 when none does. */
  get lastGeneration(): number {
    return this.writerGeneration
  }

  /** Time in the last line that has one; the initial time when none has. */
  get lastMs(): number {
    return this.atMs
  }

  /**
   * Decodes the next line.
   *
   * @param end offset of the file behind the line
   */
  decode(text: string, end: number): DecodedLine {
    this.end = end
    const value = parse(text)
    if (value === undefined) return bad
    const { payload, timestamp, type } = value
    if (payload === undefined) return this.format === "september" ? bad : this.augustLine(value)
    if (typeof type !== "string") return bad
    this.atMs =
      (typeof timestamp === "string" ? this.times.msOf(timestamp) : undefined) ?? this.atMs
    const keepsInput = this.keepsInput
    this.keepsInput = false
    switch (type) {
      case "compacted":
        return this.compacted(payload, keepsInput)
      case "response_item":
        return this.item(payload)
      case "event_msg":
        return this.message(payload)
      case ownLineTypes.event:
        return this.ownEvent(payload)
      case ownLineTypes.mark:
        return this.mark(payload)
      default:
        return this.recordLine(type, payload)
    }
  }

  private event(msg: EventMsg): LogRecord {
    const { id, seq } = this.numbering
    this.numbering = { seq: seq + 1, id }
    return { _tag: "Event", atMs: this.atMs, event: { seq, id, msg } }
  }

  /** An item of a later version of the original is skipped, not bad. */
  private item(payload: unknown): DecodedLine {
    if (!isFields(payload)) return bad
    const item = decodeItem(payload)
    return Result.isSuccess(item)
      ? { records: [this.event({ type: "raw_response_item", item: item.success })] }
      : isKnownItem(payload)
        ? bad
        : nothing
  }

  private message(payload: unknown): DecodedLine {
    if (!isFields(payload)) return bad
    const msg = decodeMsg(payload)
    if (Result.isFailure(msg)) return isKnownEvent(payload) ? bad : nothing
    return isEphemeral(msg.success) ? nothing : { records: [this.event(msg.success)] }
  }

  private compacted(payload: unknown, keepsInput: boolean): DecodedLine {
    if (!isFields(payload) || typeof payload["message"] !== "string") return bad
    const { message } = payload
    const kept = keepsInput ? { keeps_input: true } : {}
    return { records: [this.event({ type: "compacted", message, ...kept })] }
  }

  /** A line of August 2025: an item, or state of the original program, which is skipped. */
  private augustLine(value: Fields): DecodedLine {
    if (this.format === "colloquy") return bad
    if (typeof value["record_type"] === "string") return nothing
    const item = decodeItem(value)
    if (Result.isFailure(item)) return isKnownItem(value) ? bad : nothing
    return { records: eventsOfAugustItem(item.success).map((msg) => this.event(msg)) }
  }

  private ownEvent(payload: unknown): DecodedLine {
    if (!isFields(payload) || !this.isAhead(payload["seq"])) return bad
    const { id, seq } = payload
    const msg = decodeMsg(unfoldRepeats(payload["msg"], payload["same"]))
    if (typeof id !== "string" || Result.isFailure(msg)) return bad
    const missing = this.lostEventsBefore(seq)
    this.numbering = { seq: this.numbering.seq, id }
    return { records: [...missing, this.event(msg.success)] }
  }

  private mark(payload: unknown): DecodedLine {
    if (!isFields(payload) || !this.isAhead(payload["seq"])) return bad
    const { generation, id, seq } = payload
    if (typeof id !== "string") return bad
    if (typeof generation === "number" && Number.isSafeInteger(generation)) {
      this.writerGeneration = Math.max(this.writerGeneration, generation)
    }
    this.keepsInput = payload["keeps_input"] === true
    const missing = this.lostEventsBefore(seq)
    this.numbering = { seq: this.numbering.seq, id }
    return { records: missing }
  }

  /** True when the number is not smaller than the next one and not implausibly large. */
  private isAhead(seq: unknown): boolean {
    const lead = Number.isSafeInteger(seq) ? Number(seq) - this.numbering.seq : -1
    return lead >= 0 && lead < maxLostEvents && isPlausible(Number(seq), this.end)
  }

  private lostEventsBefore(seq: unknown): ReadonlyArray<LogRecord> {
    const missing: Array<LogRecord> = []
    while (this.numbering.seq < Number(seq)) missing.push(this.event(lostEvent))
    return missing
  }

  private recordLine(type: string, payload: unknown): DecodedLine {
    const _tag = tags.get(type)
    if (_tag === undefined) return nothing
    if (!isFields(payload)) return bad
    const record = decodeRecord({ ...payload, _tag, atMs: this.atMs })
    return Result.isSuccess(record) ? { records: [record.success] } : bad
  }
}

/** The literal values of the member that distinguishes the members of a union. */
const literalsOf = (union: Schema.Top, name: string): ReadonlyArray<string> => {
  const members = "members" in union ? (union.members as ReadonlyArray<Schema.Top>) : []
  return members.flatMap((member) => {
    const fields = "fields" in member ? (member.fields as Record<string, Schema.Top>) : undefined
    return literalOf(fields?.[name])
  })
}

/** The literal of a schema. A tag is wrapped in a schema that provides its default. */
const literalOf = (schema: Schema.Top | undefined): ReadonlyArray<string> => {
  if (schema === undefined) return []
  if ("literal" in schema) return [String(schema.literal)]
  return "schema" in schema ? literalOf(schema.schema as Schema.Top) : []
}

const knownEvents = new Set<unknown>(eventTypes)
const itemTypes = new Set<unknown>(literalsOf(ResponseItem, "type"))
const tags = new Map(
  literalsOf(LogRecord, "_tag")
    .filter((tag) => tag !== "Event")
    .map((tag) => [lineTypeOfTag(tag), tag]),
)

/**
 * Compares without converting to a string, because an object in a file may have members that break
 * the conversion.
 */
const isKnownEvent = ({ type }: Fields): boolean => knownEvents.has(type)
const isKnownItem = ({ type }: Fields): boolean => itemTypes.has(type)
