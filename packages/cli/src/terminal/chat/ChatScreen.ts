/**
 * The terminal of a chat. Final rows scroll up and stay; below them are the rows that change, which every drawing replaces.
 * Returns the text to write; writes nothing.
 */
import { widthOf } from "../Width.ts"
import type { Live } from "./line/Rows.ts"

/** See the header. */
export class ChatScreen {
  private last: Live = { rows: [], cursor: { row: 0, column: 0 } }

  /** @param columns width of the terminal now: it may have wrapped the rows that are shown */
  draw(final: ReadonlyArray<string>, live: Live, columns: number): string {
    const text = [this.erase(columns), ...final.map((row) => `${row}\r\n`), live.rows.join("\r\n")]
    const up = live.rows.length - 1 - live.cursor.row
    const { column } = live.cursor
    this.last = live
    return [
      ...text,
      up > 0 ? `\u001b[${up}A` : "",
      "\r",
      column > 0 ? `\u001b[${column}C` : "",
    ].join("")
  }

  /** Erases the rows that change: the cursor is then below the last final row. */
  erase(columns: number): string {
    const { cursor, rows } = this.last
    this.forget()
    const taken = (row: string) => Math.max(1, Math.ceil(widthOf(row) / Math.max(1, columns)))
    // Terminals differ in whether they wrap the row of the cursor anew: one that does leaves a piece of it, but no final row
    // is ever erased.
    const up = rows.slice(0, cursor.row).reduce((sum, row) => sum + taken(row), 0)
    return `\r${up > 0 ? `\u001b[${up}A` : ""}\u001b[J`
  }

  /** The rows that change are not on the screen any more, or not where they were: the next drawing erases none. */
  forget(): void {
    this.last = { rows: [], cursor: { row: 0, column: 0 } }
  }

  /** Erases everything, also what has scrolled up on this screen. */
  clear(): string {
    this.forget()
    return "\u001b[2J\u001b[H"
  }
}
