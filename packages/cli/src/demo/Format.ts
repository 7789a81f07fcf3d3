/** Formats single values of events for a terminal. Pure: no state, no colours, and no output that a terminal would obey. */
import { commandText } from "@colloquy/core/question/CommandText"
import { spelledOut } from "@colloquy/core/question/VisibleText"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import type { WireDuration } from "@colloquy/protocol/events/WireDuration"

/** Formats milliseconds: `850 ms`, `1.2 s`. */
export const formatMillis = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`

/** What is said of a turn that has been running for this time, which a terminal shows once a second. */
export const workingText = (ms: number): string =>
  `working${ms < 1000 ? "" : `, ${Math.floor(ms / 1000)} s`} · Ctrl-C interrupts`

/** Formats a duration as events carry it. */
export const formatDuration = (duration: WireDuration): string =>
  formatMillis(duration.secs * 1000 + duration.nanos / 1e6)

/** A number with its unit, in the plural unless the number is 1. */
export const count = (n: number, unit: string): string => `${n} ${unit}${n === 1 ? "" : "s"}`

/** The tokens of the last request, by the field of a current event or of an older version's; 0 if neither is set. */
export const usageOf = (
  msg: EventOf<"token_count">,
): { readonly input: number; readonly output: number } => ({
  input: msg.info?.last_token_usage.input_tokens ?? msg.input_tokens ?? 0,
  output: msg.info?.last_token_usage.output_tokens ?? msg.output_tokens ?? 0,
})

/** One line of output or of an error. Control characters are spelled out, so that the terminal does not obey them. */
export const printable = (text: string): string => spelledOut(text.replaceAll("\t", "    "))

/**
 * Text of the model, which arrives in pieces. It keeps its line feeds and the joiners of emoji; other control characters
 * become U+FFFD.
 */
export const prose = (text: string): string =>
  text.replaceAll("\t", "    ").replaceAll(/(?![\n\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�")

/** A command as a person would type it: the script of `bash -lc`, else all words, quoted where necessary. */
export const typedCommand = (command: ReadonlyArray<string>): string => {
  const [shell, flag, script] = command
  const isScript = command.length === 3 && shell === "bash" && flag === "-lc"
  return isScript && script !== undefined ? spelledOut(script) : commandText(command)
}

/** Longest output or diff that is shown, in lines. */
const maxQuotedLines = 12

/** The lines of an output or a diff. Lines beyond the limit are replaced by one that counts them. */
export const quotedLines = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  const more = lines.length - maxQuotedLines
  return more > 0 ? [...lines.slice(0, maxQuotedLines), `… and ${count(more, "line")} more`] : lines
}
