/**
 * What running calls print or report, as rows that change: the last lines of the output of each command, and the progress of
 * each call of a tool server. Bounded in text and in rows, whatever a call prints. Pure but for its own state.
 */
import type { Item } from "@colloquy/core/log/Item"
import type { ItemChange } from "@colloquy/core/log/Items"
import { printable } from "../../demo/Format.ts"
import type { TextOptions } from "../sessions/SessionText.ts"
import { fit } from "../Width.ts"

/** Lines of each call that are shown. */
const maxLines = 5
/** Calls that are shown: the newest. */
const maxCalls = 4
/** UTF-16 code units that are kept of each call: more than its lines can show on any screen. */
const maxChars = 16 * 1024

interface Running {
  /** Decodes the next piece of its output, which may end within a character. */
  readonly decode: (piece: Uint8Array) => string
  text: string
}

/** A line as a terminal shows it: what follows a carriage return replaces what was before. */
const shownLine = (line: string): string => {
  const text = line.replace(/\r+$/, "")
  return text.slice(text.lastIndexOf("\r") + 1)
}

/** See the header. */
export class LiveOutput {
  private readonly running = new Map<string, Running>()

  /** Takes what changes with the call; everything else has no effect. */
  change(change: ItemChange): void {
    switch (change._tag) {
      case "Started":
        return this.started(change.item)
      case "Delta": {
        const call = this.running.get(change.id)
        if (call === undefined) return
        const piece = call.decode(Buffer.from(change.delta, "base64"))
        call.text = (call.text + piece).slice(-maxChars)
        return
      }
      case "Progress": {
        const call = this.running.get(change.id)
        const { message, progress, total } = change.report
        const numbers = total === undefined ? `${progress}` : `${progress}/${total}`
        if (call !== undefined) call.text = [numbers, message ?? ""].join(" ").trimEnd()
        return
      }
      case "Completed":
      case "Discarded":
        this.running.delete(change.item.id)
        return
      case "Reset":
    }
  }

  /** The rows now, at most 20. */
  rows({ columns, style }: TextOptions): ReadonlyArray<string> {
    const calls = [...this.running.values()].filter(({ text }) => text.trim() !== "")
    return calls.slice(-maxCalls).flatMap(({ text }) =>
      text
        .trimEnd()
        .split("\n")
        .slice(-maxLines)
        .map((line) => `  ${style.dim(`│ ${fit(printable(shownLine(line)), columns - 4)}`)}`),
    )
  }

  private started(item: Item): void {
    if (item.type !== "command" && item.type !== "mcp_tool_call") return
    const decoder = new TextDecoder()
    const decode = (piece: Uint8Array) => decoder.decode(piece, { stream: true })
    this.running.set(item.id, { decode, text: "" })
  }
}
