/**
 * Records as lines of a rollout file (§5.3). What the original persists stands in lines of its types, everything else in
 * lines of ours (`colloquy_…`), which it skips. Pure.
 *
 * Lines of the original have no room for an event's number and submission: they count on from the line before. Where
 * that would be wrong, and every so often, a `colloquy_mark` line says what comes next.
 */
import type { ConversationMeta } from "@colloquy/core/ConversationStore"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { StoredSettings } from "@colloquy/core/StoredSettings"
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import { isoOf } from "../internal/IsoTime.ts"
import { foldRepeats } from "./RepeatedText.ts"

/** What the next line of the original's types would be: where the numbering of a log stands between two lines. */
export interface Numbering {
  /** Of the next durable event. */
  readonly seq: number
  /** Of the submission that the last event belongs to. */
  readonly id: string
}

export const initialNumbering: Numbering = { seq: 0, id: "" }

/** Types of our own lines beside those of records. Others that begin like these come from later versions. */
export const ownLineTypes = {
  meta: "colloquy_meta",
  event: "colloquy_event",
  mark: "colloquy_mark",
} as const

/** Of the lines that hold records of this kind: `ToolCall` stands in `colloquy_tool_call`. */
export const lineTypeOfTag = (tag: string): string =>
  `colloquy${tag.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`

/**
 * Number of the format that this version writes. It is raised when earlier versions could not read what is written; a
 * version does not open a file with a higher number than its own.
 */
export const formatVersion = 1

/** Without a number of its own no more than this many lines follow one that has one, so that a reader from the end finds it soon. */
const maxUnnumbered = 64

const line = (atMs: number, type: string, payload: unknown): string =>
  `{"timestamp":"${isoOf(atMs)}","type":"${type}","payload":${JSON.stringify(payload)}}\n`

/** The original's shape, then ours: what it has no place for. */
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
  }
  return (
    line(meta.createdAtMs, "session_meta", payload) + line(meta.createdAtMs, ownLineTypes.meta, own)
  )
}

/** Events that the original persists as they are (§5.3, persisted events). */
const persisted: ReadonlySet<EventMsg["type"]> = new Set([
  "user_message",
  "agent_message",
  "agent_reasoning",
  "agent_reasoning_raw_content",
  "token_count",
  "entered_review_mode",
  "exited_review_mode",
  "turn_aborted",
])

const originalLine = (atMs: number, msg: EventMsg): string | undefined => {
  if (msg.type === "raw_response_item") return line(atMs, "response_item", msg.item)
  if (msg.type === "compacted") return line(atMs, "compacted", { message: msg.message })
  return persisted.has(msg.type) ? line(atMs, "event_msg", msg) : undefined
}

/** Policies of ours the original would not read are left out of its line. */
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

/** What a mark says beside the numbering. */
interface MarkDetails {
  /** Of the writer whose lines follow. */
  readonly generation?: number
  /** Of the summary in the next line, which has no room for it. */
  readonly keeps_input?: true
}

/** The line that says what the next line of the original's types is. */
export const markLine = (atMs: number, next: Numbering, details: MarkDetails = {}): string =>
  line(atMs, ownLineTypes.mark, { seq: next.seq, id: next.id, ...details })

/** Where an encoder stands; a value, so that a batch that failed leaves none. */
export interface EncoderState extends Numbering {
  /** Lines since the last one with a number. */
  readonly unnumbered: number
}

export interface EncodedLines {
  readonly text: string
  readonly state: EncoderState
}

/** The lines of a batch. Durable events alone are given, each with the number after the one before. */
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
