/**
 * The lines of the log: one per entry on stderr, and nothing anywhere else (L9). A process that stops reading stderr costs bounded
 * memory and blocks nothing: further lines are dropped and counted. On POSIX, Node queues writes to a full pipe (300 kB
 * return at once), so this queue is what has to be bounded.
 */
import { spelledOut } from "@colloquy/core/question/VisibleText"
import type * as LogLevel from "effect/LogLevel"

/** Largest queue of unwritten text. */
const maxQueuedBytes = 256 * 1024

const levels: ReadonlyMap<string, LogLevel.LogLevel> = new Map([
  ["off", "None"],
  ["error", "Error"],
  ["warn", "Warn"],
  ["info", "Info"],
  ["debug", "Debug"],
  ["trace", "Trace"],
])

const named = (text: string): LogLevel.LogLevel | undefined =>
  levels.get(text.toLowerCase().split(/[,=]/).at(-1)?.trim() ?? "")

/** Parses a level such as `debug`. Of the original's `RUST_LOG` form `codex_core=info,debug` the last level counts. Default: `Warn`. */
export const levelOf = (text: string | undefined): LogLevel.LogLevel => named(text ?? "") ?? "Warn"

/** The warning about an invalid `COLLOQUY_LOG`; undefined if it is valid or not set. */
export const levelWarning = (text: string | undefined): string | undefined =>
  text === undefined || named(text) !== undefined
    ? undefined
    : `COLLOQUY_LOG: unknown level, using \`warn\`; expected one of ${[...levels.keys()].map((name) => `\`${name}\``).join(", ")}`

/** The stream that lines are written to, such as `process.stderr`. */
export interface LineTarget {
  readonly writableLength: number
  readonly write: (text: string) => boolean
}

/** Spells out control characters: the log contains texts of models and tool servers, and file names, and may be shown by a terminal. */
const legible = (line: string): string => line.split("\n").map(spelledOut).join("\n")

/** Returns a function that writes lines. Lines are dropped while more than `maxQueuedBytes` are queued; the next written line reports how many. */
export const lineWriter = (target: LineTarget): ((line: string) => void) => {
  let dropped = 0
  return (line) => {
    if (target.writableLength > maxQueuedBytes) {
      dropped += 1
      return
    }
    const gap = dropped === 0 ? "" : `colloquy: ${dropped} log lines were dropped\n`
    dropped = 0
    target.write(`${gap}${legible(line)}\n`)
  }
}

/** Returns a function that writes lines to stderr. If the reader of stderr is gone, lines are discarded. */
export const stderrLines = (): ((line: string) => void) => {
  process.stderr.on("error", () => {})
  return lineWriter(process.stderr)
}
