/**
 * Formats the result of a command for the model. Pure. Bounded to 256 lines and 10 KiB, of which head and tail are
 * kept, as in the original; a real exit code is passed on unchanged.
 */
import * as Duration from "effect/Duration"
import { cutAfter, cutBefore } from "./Capture.ts"
import type { CommandResult } from "./Command.ts"

/** Limits of the original. */
const limits = { lines: 256, headLines: 128, tailLines: 128, bytes: 10 * 1024, headBytes: 5 * 1024 }

/** The exit code that shells use for a timeout; the original reports −1. */
const timedOutCode = 124

/** Numbers of the signals for exit codes. They are the same on Linux and macOS; for other signals the code is 128. */
const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
}

/**
 * Exit code of the result: the program's own, 124 after a timeout, or 128 plus the number of the signal that killed it.
 */
export const exitCodeOf = (result: Pick<CommandResult, "exit">): number => {
  switch (result.exit._tag) {
    case "Exited":
      return result.exit.code
    case "TimedOut":
      return timedOutCode
    case "Signaled":
      return 128 + (signalNumbers[result.exit.signal] ?? 0)
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Lines including their line feeds. */
const linesOf = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** The longest beginning of at most `maxBytes` bytes that ends with a whole character. */
const beginning = (text: string, maxBytes: number): string => {
  const bytes = encoder.encode(text)
  if (bytes.length <= maxBytes) return text
  return decoder.decode(bytes.subarray(0, cutBefore(bytes, maxBytes)))
}

const ending = (text: string, maxBytes: number): string => {
  const bytes = encoder.encode(text)
  if (bytes.length <= maxBytes) return text
  return decoder.decode(bytes.subarray(cutAfter(bytes, bytes.length - maxBytes)))
}

const markerOf = (omitted: number, total: number): string =>
  `\n[... omitted ${omitted} of ${total} lines ...]\n\n`

/** Number of lines of which every byte is in `kept`, counted from the end that both have in common. */
const wholeLines = (lines: ReadonlyArray<string>, kept: string): number => {
  let left = kept.length
  let count = 0
  while (count < lines.length && (left -= lines[count]?.length ?? 0) >= 0) count++
  return count
}

/**
 * Cuts the text to at most 256 lines and 10 KiB, marker included: the first and the last 128 lines, the head in at most
 * 5 KiB, the tail in the rest. Cuts fall between characters. The marker counts the lines that are not complete.
 */
export const truncated = (text: string): string => {
  const lines = linesOf(text)
  if (lines.length <= limits.lines && encoder.encode(text).length <= limits.bytes) return text
  const heads = lines.slice(0, limits.headLines)
  const tails = lines.slice(-limits.tailLines)
  const head = beginning(heads.join(""), limits.headBytes)
  // Room for the longest possible marker, so that the final count cannot make it longer.
  const room = limits.bytes - encoder.encode(head + markerOf(lines.length, lines.length)).length
  // Head and tail cannot overlap: the text has more bytes than both together may have.
  const tail = ending(tails.join(""), room)
  const shown = wholeLines(heads, head) + wholeLines(lines.toReversed(), tail)
  return head + markerOf(lines.length - shown, lines.length) + tail
}

const prefixOf = ({ exit }: CommandResult): string => {
  switch (exit._tag) {
    case "Exited":
      return ""
    case "TimedOut":
      return `command timed out after ${Math.round(Duration.toMillis(exit.after))} milliseconds\n`
    case "Signaled":
      return `command was killed by a signal: ${exit.signal}\n`
  }
}

/** `formatted_output` of `exec_command_end`: both streams in order of arrival, cut to the limits. */
export const formatted = (result: CommandResult): string =>
  truncated(prefixOf(result) + result.aggregated.text)

/** Output of the call for the model: JSON of `output` and `metadata`, with the duration in seconds and one decimal. */
export const modelText = (result: CommandResult): string =>
  JSON.stringify({
    output: formatted(result),
    metadata: {
      exit_code: exitCodeOf(result),
      duration_seconds: Math.round(Duration.toMillis(result.duration) / 100) / 10,
    },
  })
