/**
 * Lines of a rollout file as records: our own, the original's of September 2025 and later, and of August (§5.3). Pure but
 * for the place in the numbering, which moves on with every line.
 *
 * A line nobody can read is `bad` and is left out; one that means nothing to us is not. Where our own numbers show that
 * an event is missing, an event that says so takes its place, so that numbers have no gap (L4).
 */
import { LogRecord } from "@colloquy/core/LogRecord"
import { EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import { maxJsonDepth, parseJson } from "@colloquy/protocol/Json"
import { ResponseItem } from "@colloquy/protocol/ResponseItem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { eventsOfAugustItem, normalizeItem } from "./ForeignItems.ts"
import { msOf } from "../internal/IsoTime.ts"
import { type Numbering, ownLineTypes, lineTypeOfTag } from "./LineEncoder.ts"
import { unfoldRepeats } from "./RepeatedText.ts"

/** Whose lines they are. */
export type LineFormat = "colloquy" | "september" | "august"

export interface DecodedLine {
  readonly records: ReadonlyArray<LogRecord>
  /** The line is there and cannot be read. */
  readonly bad?: true
}

const nothing: DecodedLine = { records: [] }
const bad: DecodedLine = { records: [], bad: true }

/** What was taken from outside, and the levels that a line adds around it. */
export const maxLineDepth = 2 * maxJsonDepth

/** Lost in one place; a number farther ahead is itself what went wrong. */
export const maxLostEvents = 2 ** 17

/**
 * False for a number that no file of this length can have reached: every event takes more than a byte, also one that
 * can no longer be read. So the events that take the place of lost ones are never more than the bytes of the file.
 *
 * @param end offset behind the line
 */
const isPlausible = (seq: number, end: number): boolean => seq <= end

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const decodeOwnItem = Schema.decodeUnknownResult(ResponseItem)
const decodeMsg = Schema.decodeUnknownResult(EventMsg)
const decodeRecord = Schema.decodeUnknownResult(LogRecord)

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

/** What the lines before a place leave for those behind it. */
export interface LineDecoderState {
  readonly numbering: Numbering
  /** Time of the last line that tells one. */
  readonly atMs: number
  /** True right behind a mark that says so of the summary in the next line. */
  readonly keepsInput: boolean
}

export class LineDecoder {
  private numbering: Numbering
  private readonly format: LineFormat
  /** Of the line before: lines of August have none. */
  private atMs: number
  private writerGeneration = 0
  private end = 0
  /** What the mark right before says of a summary. */
  private keepsInput: boolean

  constructor(generation: LineFormat, numbering: Numbering, atMs: number, keepsInput = false) {
    this.format = generation
    this.numbering = numbering
    this.atMs = atMs
    this.keepsInput = keepsInput
  }

  /** Where the numbering stands behind the lines read so far. */
  get now(): Numbering {
    return this.numbering
  }

  /** All that the next line's records depend on beside the line itself. */
  get state(): LineDecoderState {
    return { numbering: this.numbering, atMs: this.atMs, keepsInput: this.keepsInput }
  }

  /** Of the last writer that said who it is; 0 when none has. */
  get lastGeneration(): number {
    return this.writerGeneration
  }

  /** When the last line was written, as far as it says so. */
  get lastMs(): number {
    return this.atMs
  }

  /** @param end offset of the file behind the line */
  decode(text: string, end: number): DecodedLine {
    this.end = end
    const value = parse(text)
    if (value === undefined) return bad
    const { payload, timestamp, type } = value
    if (payload === undefined) return this.format === "september" ? bad : this.augustLine(value)
    if (typeof type !== "string") return bad
    this.atMs = (typeof timestamp === "string" ? msOf(timestamp) : undefined) ?? this.atMs
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

  /** Items of later versions of the original mean nothing to us. */
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

  /** A line of August: an item, or the state of the program, which is not ours to keep. */
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

  /** Numbers go up. */
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

/** The values of the member that tells the members of a union apart. */
const literalsOf = (union: Schema.Top, name: string): ReadonlyArray<string> => {
  const members = "members" in union ? (union.members as ReadonlyArray<Schema.Top>) : []
  return members.flatMap((member) => {
    const fields = "fields" in member ? (member.fields as Record<string, Schema.Top>) : undefined
    return literalOf(fields?.[name])
  })
}

/** A tag of a tagged structure stands below what its constructor fills in. */
const literalOf = (schema: Schema.Top | undefined): ReadonlyArray<string> => {
  if (schema === undefined) return []
  if ("literal" in schema) return [String(schema.literal)]
  return "schema" in schema ? literalOf(schema.schema as Schema.Top) : []
}

const eventTypes = new Set<unknown>(literalsOf(EventMsg, "type"))
const itemTypes = new Set<unknown>(literalsOf(ResponseItem, "type"))
const tags = new Map(
  literalsOf(LogRecord, "_tag")
    .filter((tag) => tag !== "Event")
    .map((tag) => [lineTypeOfTag(tag), tag]),
)

/** Of any value: an object of a file may have members that break its conversion to a string. */
const isKnownEvent = ({ type }: Fields): boolean => eventTypes.has(type)
const isKnownItem = ({ type }: Fields): boolean => itemTypes.has(type)
