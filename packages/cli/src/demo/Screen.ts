/**
 * The state of the terminal that the demo writes to: which text is being streamed, where the cursor is, and whether a mark
 * shows that more is to come. Every method returns the text to write; nothing is written here.
 *
 *     at the start of a line --delta, item--> streaming a message or reasoning --line, end of the item--> at the start of a line
 */
import { printable, prose, quotedLines } from "./Format.ts"
import { colored, plain, type Style } from "./Style.ts"
import { type Cursor, textStart, wrap } from "./Wrap.ts"

/** How the demo writes. */
export interface ScreenOptions {
  /** Shows text while it streams, and a mark while waiting. For terminals only. */
  readonly live: boolean
  /** Uses escape sequences for colours. */
  readonly color: boolean
  /** Columns of the terminal. */
  readonly columns: number
}

/** What is being streamed: the model's message or its reasoning. */
export type StreamKind = "text" | "reasoning"

const margin = "  "
const mark = "▌"
/** Erases the mark: after a text that continues, or on its own line. */
const eraseMark = { inline: "\b\u001b[K", alone: "\r\u001b[K" }

/** See the header. */
export class Screen {
  /** The style of everything that is written. */
  readonly style: Style
  private readonly live: boolean
  private readonly width: number
  private open: StreamKind | undefined
  /** The kinds whose current item was already shown piece by piece. */
  private readonly streamed = new Set<StreamKind>()
  private cursor: Cursor = textStart
  private marked: keyof typeof eraseMark | undefined

  constructor(options: ScreenOptions) {
    this.live = options.live
    this.style = options.color ? colored : plain
    this.width = Math.max(20, Math.min(options.columns, 100) - 2 * margin.length)
  }

  /** A piece of a streamed text; empty where text is not shown while it streams. */
  delta(kind: StreamKind, piece: string): string {
    if (!this.live) return ""
    this.streamed.add(kind)
    return this.flow(kind, prose(piece))
  }

  /** A whole message or reasoning. Nothing is repeated of an item that was already streamed. */
  item(kind: StreamKind, text: string): string {
    const shown = this.streamed.delete(kind)
    if (shown && this.open !== kind) return ""
    // An empty line separates reasoning from the message.
    const gap = kind === "reasoning" ? "\n" : ""
    return (shown ? "" : this.endLine() + this.flow(kind, prose(text))) + this.endLine() + gap
  }

  /** Ends the streamed line, if there is one. */
  endLine(): string {
    if (this.open === undefined) return ""
    this.open = undefined
    return "\n"
  }

  /** One line of its own. */
  line(text: string): string {
    return `${this.endLine()}${margin}${text}\n`
  }

  /** Output or a diff, line by line, unwrapped, cut at a number of lines. */
  quoted(text: string): string {
    return quotedLines(text)
      .map((row) => this.line(`${this.style.dim("│")} ${printable(row)}`))
      .join("")
  }

  /** The whole question; its first line has a mark. */
  question(text: string): string {
    const { accent, dim } = this.style
    return text
      .split("\n")
      .map((row, index) => this.line(index === 0 ? accent(`? ${row}`) : dim(`  ${row}`)))
      .join("")
  }

  /** One line for something that went wrong and does not end the turn. */
  warning(message: string): string {
    return this.line(this.style.accent(`! ${printable(message)}`))
  }

  /** Forgets which items were streamed, when their stream has ended or starts again. */
  forgetStreams(): void {
    this.streamed.clear()
  }

  /**
   * The text with the erasure of the mark before it and, on a live terminal, a new mark after it.
   *
   * @param waits true while a turn runs, hence more is to come
   */
  withMark(text: string, waits: boolean): string {
    if (!this.live) return text
    const erased = this.marked === undefined ? "" : eraseMark[this.marked]
    this.marked = !waits ? undefined : this.open === undefined ? "alone" : "inline"
    const indent = this.marked === "alone" ? margin : ""
    return erased + text + (this.marked === undefined ? "" : indent + this.style.dim(mark))
  }

  private flow(kind: StreamKind, piece: string): string {
    const start = this.open === kind ? "" : `${this.endLine()}${margin}`
    if (this.open !== kind) this.cursor = textStart
    this.open = kind
    const [text, next] = wrap(piece, this.cursor, this.width, margin)
    this.cursor = next
    return start + (kind === "reasoning" ? this.style.dim(text) : text)
  }
}
