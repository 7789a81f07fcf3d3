/**
 * What a chat shows of a conversation: events in, rows out. A row that was given out is final; the end of a text that is
 * still streamed is `open`, and may change. Pure but for its own state.
 */
import type { Item } from "@colloquy/core/log/Item"
import { initialItems, isText, type ItemChange, step } from "@colloquy/core/log/Items"
import type { Event } from "@colloquy/protocol/EventMsg"
import { formatMillis, prose } from "../../demo/Format.ts"
import { diffRows, endRows, startRows, type TextOptions } from "../sessions/SessionText.ts"
import { rowsOf } from "../Width.ts"
import { LiveOutput } from "./LiveOutput.ts"

/** A text that is being received. */
interface Streamed {
  readonly id: string
  readonly type: Item["type"]
  /** Everything received. It grows with each delta: nothing may read it before the text ends. */
  readonly text: string
  /** True once something was shown: white space before the first word is not. */
  readonly hasBegun: boolean
  /** What is not final yet; at most `maxRest` UTF-16 code units. */
  readonly rest: string
}

/**
 * Longest row that may still change, in UTF-16 code units: more than any terminal is wide. Characters without a width fill
 * no row, and each delta wraps the row anew.
 */
const maxRest = 4096

const begun = (id: string, type: Item["type"]): Streamed => ({
  id,
  type,
  text: "",
  hasBegun: false,
  rest: "",
})

/** See the header. */
export class Transcript {
  private items = initialItems
  private streamed: Streamed | undefined
  private readonly output = new LiveOutput()
  /** Calls whose changes were shown with their question. */
  private readonly shown = new Set<string>()
  /** The diff of the last turn that changed files; empty before one. */
  diff = ""

  /** The rows that the event makes final. */
  event(event: Event, options: TextOptions): ReadonlyArray<string> {
    const { msg } = event
    if (msg.type === "turn_diff") this.diff = msg.unified_diff
    const next = step(this.items, event)
    this.items = next.state
    return next.changes.flatMap((change) => {
      this.output.change(change)
      return this.change(change, options)
    })
  }

  /** The rows of the text that is being received and of what running calls print: they may change. */
  open(options: TextOptions): ReadonlyArray<string> {
    return [...this.openText(options), ...this.output.rows(options)]
  }

  private openText({ columns, style }: TextOptions): ReadonlyArray<string> {
    if (this.streamed === undefined || this.streamed.rest === "") return []
    const rows = rowsOf(this.streamed.rest, columns - 2).map((row) => `  ${row}`)
    return this.streamed.type === "agent_message" ? rows : rows.map(style.dim)
  }

  /** The rows of changes that a question is about; its call does not show them again. */
  asked(
    callId: string,
    changes: Parameters<typeof diffRows>[0],
    options: TextOptions,
  ): ReadonlyArray<string> {
    this.shown.add(callId)
    return diffRows(changes, options)
  }

  /** The line at the end of a turn. */
  static footer(ms: number, { style }: TextOptions): ReadonlyArray<string> {
    return [style.dim(`  — ${formatMillis(ms)}`), ""]
  }

  private change(change: ItemChange, options: TextOptions): ReadonlyArray<string> {
    switch (change._tag) {
      case "Started":
        return this.started(change.item, options)
      case "Delta":
        return this.delta(change.id, change.delta, options)
      case "Progress":
        return []
      case "Reset":
        return this.reset(change.id, options)
      case "Completed":
        return this.completed(change.item, options)
      case "Discarded":
        return this.end(options)
    }
  }

  private started(item: Item, options: TextOptions): ReadonlyArray<string> {
    if (isText(item)) {
      if (item.type === "raw_reasoning") return []
      const rows = this.end(options)
      this.streamed = begun(item.id, item.type)
      return rows
    }
    const rows = [...this.end(options), ...startRows(item, options)]
    return item.type === "file_change" && !this.shown.has(item.callId)
      ? [...rows, ...diffRows(item.changes, options)]
      : rows
  }

  private delta(id: string, delta: string, options: TextOptions): ReadonlyArray<string> {
    if (this.streamed?.id !== id) return []
    const { hasBegun, rest, text } = this.streamed
    const shown = hasBegun ? rest + prose(delta) : prose(delta).trimStart()
    const rows = rowsOf(shown, options.columns - 2)
    const last = rows.at(-1) ?? ""
    const isFinal = last.length > maxRest
    this.streamed = {
      ...this.streamed,
      text: text + delta,
      hasBegun: hasBegun || shown !== "",
      rest: isFinal ? "" : last,
    }
    return this.styled(isFinal ? rows : rows.slice(0, -1), options)
  }

  private reset(id: string, options: TextOptions): ReadonlyArray<string> {
    if (this.streamed?.id !== id) return []
    const rows = this.end(options)
    this.streamed = begun(id, "agent_message")
    return [...rows, options.style.dim("  (the answer begins again)")]
  }

  private completed(item: Item, options: TextOptions): ReadonlyArray<string> {
    if (!isText(item)) return [...this.end(options), ...endRows(item, options)]
    const { streamed } = this
    if (streamed?.id === item.id && streamed.text !== "") {
      const more = item.text.startsWith(streamed.text) ? item.text.slice(streamed.text.length) : ""
      return [...this.delta(item.id, more, options), ...this.end(options)]
    }
    const rows = this.end(options)
    return [...rows, ...endRows(item, options)]
  }

  private styled(rows: ReadonlyArray<string>, { style }: TextOptions): ReadonlyArray<string> {
    const shown = rows.map((row) => (row === "" ? "" : `  ${row}`))
    return this.streamed?.type === "reasoning" ? shown.map(style.dim) : shown
  }

  /** Ends the streamed text: its last row is final. */
  private end(options: TextOptions): ReadonlyArray<string> {
    const { streamed } = this
    const rows =
      streamed === undefined || streamed.rest.trim() === ""
        ? []
        : this.styled(rowsOf(streamed.rest, options.columns - 2), options)
    this.streamed = undefined
    return rows
  }
}
