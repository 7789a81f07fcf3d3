/**
 * Encodes records as lines of a rollout file. What the original program persists is written in
 * lines of its types, everything else in lines of types that start with `colloquy_`, which the
 * original skips. Pure. The format is described in `packages/docs/wire/rollout.md`.
 *
 * Lines of the original's types have no room for an event's number and submission: their events are
 * numbered on from the line before. Where that would be wrong, and at regular intervals, a
 * `colloquy_mark` line states the numbering of the next line.
 */
import type { ConversationMeta } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { StoredSettings } from "@colloquy/core/StoredSettings"
import { type Event, eventInfo, type EventMsg } from "@colloquy/protocol/EventMsg"
import { isoOf } from "../internal/IsoTime.ts"
import { foldRepeats } from "./RepeatedText.ts"

/** The numbering between two lines: what the next line of the original's types means. */
export interface Numbering {
  /** Number of the next durable event. */
  readonly seq: number
  /** Id of the submission that the last event belongs to. */
  readonly id: string
}

/** The numbering at the beginning of a log. */
export const initialNumbering: Numbering = { seq: 0, id: "" }

/**
 * Types of the lines of this program, except those of records. Unknown types with the same prefix
 * come from later versions.
 */
export const ownLineTypes = {
  meta: "colloquy_meta",
  event: "colloquy_event",
  mark: "colloquy_mark",
} as const

/**
 * Type of the lines that hold records with this tag: `ToolCall` is written as `colloquy_tool_call`.
 */
export const lineTypeOfTag = (tag: string): string =>
  `colloquy${tag.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`

/**
 * Version of the format that this program writes. It is increased when earlier versions could not
 * read what is written; a version does not open a file with a higher number than its own.
 */
export const formatVersion = 1

/**
 * Most lines between two lines with a number, so that a reader that starts at the end soon finds
 * one.
 */
const maxUnnumbered = 64

const line = (atMs: number, type: string, payload: unknown): string =>
  `{"timestamp":"${isoOf(atMs)}","type":"${type}","payload":${JSON.stringify(payload)}}\n`

/**
 * The first two lines of a file: the header of the original, and a line with the values that it has
 * no room for.
 */
export const headerLines = (meta: ConversationMeta): string => {
  const { git } = meta
  const payload = {
    id: meta.id,
    timestamp: isoOf(meta.createdAtMs),
    cwd: meta.cwd,
    originator: meta.originator,
    cli_version: meta.version,
    instructions: meta.instructions ?? null,
    ...(meta.source === undefined ? {} : { source: meta.source }),
    ...(git === undefined
      ? {}
      : {
          git: {
            commit_hash: git.commitHash,
            branch: git.branch,
            repository_url: git.repositoryUrl,
          },
        }),
  }
  const own = {
    format: formatVersion,
    provider: meta.provider,
    model: meta.model,
    forked_from: meta.forkedFrom,
    owner: meta.owner,
  }
  return (
    line(meta.createdAtMs, "session_meta", payload) + line(meta.createdAtMs, ownLineTypes.meta, own)
  )
}

const originalLine = (atMs: number, msg: EventMsg): string | undefined => {
  if (msg.type === "raw_response_item") return line(atMs, "response_item", msg.item)
  if (msg.type === "compacted") return line(atMs, "compacted", { message: msg.message })
  // The original persists these events unchanged.
  return eventInfo(msg.type).inRollout ? line(atMs, "event_msg", msg) : undefined
}

/**
 * A line with the settings of a turn as the original writes it; empty for a policy that the
 * original cannot read.
 */
const turnContext = (atMs: number, settings: StoredSettings): string =>
  settings.sandboxPolicy.mode === "external-sandbox"
    ? ""
    : line(atMs, "turn_context", {
        cwd: settings.cwd,
        approval_policy: settings.approvalPolicy,
        sandbox_policy: settings.sandboxPolicy,
        model: settings.model,
        effort: settings.effort,
        summary: settings.summary,
      })

const otherLines = (record: Exclude<LogRecord, { readonly _tag: "Event" }>): string => {
  const { _tag, atMs, ...payload } = record
  const own = line(atMs, lineTypeOfTag(_tag), payload)
  return record._tag === "Settings" ? turnContext(atMs, record.settings) + own : own
}

/** What a mark may state besides the numbering. */
interface MarkDetails {
  /** Generation of the writer of the following lines. */
  readonly generation?: number
  /** True when the summary in the next line, which has no room for this, keeps the user's input. */
  readonly keeps_input?: true
}

/** The line that states the numbering of the next line. */
export const markLine = (atMs: number, next: Numbering, details: MarkDetails = {}): string =>
  line(atMs, ownLineTypes.mark, { seq: next.seq, id: next.id, ...details })

/** State of an encoder. It is a value, so that a failed batch leaves it unchanged. */
export interface EncoderState extends Numbering {
  /** Number of lines since the last line with a number. */
  readonly unnumbered: number
}

/** The lines of a batch, and the state behind them. */
export interface EncodedLines {
  /** Whole lines, each with its newline. */
  readonly text: string
  readonly state: EncoderState
}

/** Encodes a batch. All events are durable, each with the number after the one before. */
export const encodeLines = (
  from: EncoderState,
  records: ReadonlyArray<LogRecord>,
): EncodedLines => {
  let text = ""
  let { seq, id, unnumbered } = from
  const addEvent = (atMs: number, event: Event) => {
    const own = originalLine(atMs, event.msg)
    if (own === undefined) {
      const { msg, same } = foldRepeats(event.msg)
      text += line(atMs, ownLineTypes.event, { seq: event.seq, id: event.id, msg, same })
      unnumbered = 0
    } else {
      const keepsInput = event.msg.type === "compacted" && event.msg.keeps_input === true
      if (event.seq !== seq || event.id !== id || unnumbered >= maxUnnumbered || keepsInput) {
        const next = { seq: event.seq, id: event.id }
        text += markLine(atMs, next, keepsInput ? { keeps_input: true } : {})
        unnumbered = 0
      }
      text += own
      unnumbered++
    }
    seq = event.seq + 1
    id = event.id
  }
  for (const record of records) {
    if (record._tag === "Event") addEvent(record.atMs, record.event)
    else {
      text += otherLines(record)
      unnumbered++
    }
  }
  return { text, state: { seq, id, unnumbered } }
}
