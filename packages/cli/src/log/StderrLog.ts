/**
 * The log: one line per entry on stderr, and nothing anywhere else (L9). A reader that stops reading costs bounded
 * memory and blocks nothing: lines are then dropped and counted. On POSIX a full pipe makes Node queue what is
 * written to stderr (measured: 300 kB into a stopped reader return at once), so the queue is what has to be bounded.
 */
import { spelledOut } from "@colloquy/core/question/VisibleText"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"

/** Longest queue towards a reader that does not read. */
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

/** Reads `debug`, and of the original's `RUST_LOG` form `codex_core=info,debug` the last level; else `Warn`. */
export const levelOf = (text: string | undefined): LogLevel.LogLevel => named(text ?? "") ?? "Warn"

/** What is wrong with `COLLOQUY_LOG`, in a line. */
export const levelWarning = (text: string | undefined): string | undefined =>
  text === undefined || named(text) !== undefined
    ? undefined
    : `COLLOQUY_LOG: there is no such level and \`warn\` counts, expected one of ${[...levels.keys()].map((name) => `\`${name}\``).join(", ")}`

/** What a line is written to; `process.stderr` is one. */
export interface LineTarget {
  readonly writableLength: number
  readonly write: (text: string) => boolean
}

/** Texts of models, tool servers and file names are part of the log, and a terminal obeys what it is given. */
const legible = (line: string): string => line.split("\n").map(spelledOut).join("\n")

/** Writes lines; while more than `maxQueuedBytes` wait they are dropped, and the next one written tells how many. */
export const lineWriter = (target: LineTarget): ((line: string) => void) => {
  let dropped = 0
  return (line) => {
    if (target.writableLength > maxQueuedBytes) {
      dropped += 1
      return
    }
    const gap = dropped === 0 ? "" : `colloquy: ${dropped} lines of this log were dropped\n`
    dropped = 0
    target.write(`${gap}${legible(line)}\n`)
  }
}

/** The writer on stderr. Its reader may leave: that ends the log and nothing else. */
export const stderrLines = (): ((line: string) => void) => {
  process.stderr.on("error", () => {})
  return lineWriter(process.stderr)
}

export const layer = (
  write: (line: string) => void,
  level: LogLevel.LogLevel,
): Layer.Layer<never> =>
  Layer.merge(
    Logger.layer([Logger.map(Logger.formatLogFmt, write)]),
    Layer.succeed(References.MinimumLogLevel, level),
  )
