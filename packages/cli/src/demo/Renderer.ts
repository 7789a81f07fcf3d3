/**
 * Shows a conversation to a person: events in, text for the terminal out. No I/O and no clock; the caller writes what
 * comes back and says when it is.
 *
 * Live, text appears as it streams and a mark shows that more is to come. Otherwise only whole items are printed,
 * line by line, and nothing is ever taken back: that is what a file or a pipe wants.
 */
import { commandText } from "@colloquy/core/question/CommandText"
import { questionText, shownReason } from "@colloquy/core/question/QuestionText"
import { spelledOut } from "@colloquy/core/question/VisibleText"
import type { AnyEventMsg, EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { WireDuration } from "@colloquy/protocol/events/WireDuration"
import { colored, plain } from "./Style.ts"
import { type Cursor, textStart, wrap } from "./Wrap.ts"

export interface RendererOptions {
  /** Text as it streams, and a mark while waiting: for terminals only. */
  readonly live: boolean
  readonly color: boolean
  /** Columns of the terminal. */
  readonly columns: number
}

export interface Renderer {
  /** What a person says; a turn begins. */
  readonly prompt: (text: string, nowMs: number) => string
  /** What a person says to a question of the server. */
  readonly answer: (text: string) => string
  /** What the server tells. */
  readonly event: (msg: AnyEventMsg, nowMs: number) => string
}

type Handlers = {
  readonly [T in EventMsg["type"]]?: (msg: EventOf<T>, nowMs: number) => string
}
type Stream = "text" | "reasoning"

const margin = "  "
const mark = "▌"
/** Takes the mark back: behind a text that goes on, or on a line of its own. */
const eraseMark = { inline: "\b\u001b[K", alone: "\r\u001b[K" }

/** `850 ms`, `1.2 s`. */
const formatMillis = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`

const millisOf = (duration: WireDuration) => duration.secs * 1000 + duration.nanos / 1e6

const count = (n: number, unit: string) => `${n} ${unit}${n === 1 ? "" : "s"}`

const usageOf = (msg: EventOf<"token_count">) => ({
  input: msg.info?.last_token_usage.input_tokens ?? msg.input_tokens ?? 0,
  output: msg.info?.last_token_usage.output_tokens ?? msg.output_tokens ?? 0,
})

/** Of output and diffs. */
const maxQuotedLines = 12

/** One line of output or of an error, with nothing in it that a terminal would obey. */
const printable = (text: string): string => spelledOut(text.replaceAll("\t", "    "))

/** Text of the model, which comes in pieces: it keeps its line feeds and the joiners of emoji. */
const prose = (text: string): string =>
  text.replaceAll("\t", "    ").replaceAll(/(?![\n\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�")

/** A command as a person would type it. */
const shown = (command: ReadonlyArray<string>): string => {
  const [shell, flag, script] = command
  const isScript = command.length === 3 && shell === "bash" && flag === "-lc"
  return isScript && script !== undefined ? spelledOut(script) : commandText(command)
}

interface Turn {
  readonly beganMs: number
  firstWordMs: number | undefined
  inputTokens: number
  outputTokens: number
}

export const make = (options: RendererOptions): Renderer => {
  const style = options.color ? colored : plain
  const width = Math.max(20, Math.min(options.columns, 100) - 2 * margin.length)
  let turn: Turn | undefined
  let open: Stream | undefined
  /** The kinds whose current item was already shown piece by piece. */
  const streamed = new Set<Stream>()
  let cursor: Cursor = textStart
  let marked: keyof typeof eraseMark | undefined

  const paint = (kind: Stream, text: string) => (kind === "reasoning" ? style.dim(text) : text)

  const endLine = () => {
    if (open === undefined) return ""
    open = undefined
    return "\n"
  }

  const flow = (kind: Stream, piece: string) => {
    const start = open === kind ? "" : `${endLine()}${margin}`
    if (open !== kind) cursor = textStart
    open = kind
    const [text, next] = wrap(piece, cursor, width, margin)
    cursor = next
    return start + paint(kind, text)
  }

  const delta = (kind: Stream, piece: string, nowMs: number) => {
    if (turn !== undefined) turn.firstWordMs ??= nowMs - turn.beganMs
    if (!options.live) return ""
    streamed.add(kind)
    return flow(kind, prose(piece))
  }

  const item = (kind: Stream, text: string) => {
    const shown = streamed.delete(kind)
    if (shown && open !== kind) return ""
    // Thoughts stand apart from what is said.
    const gap = kind === "reasoning" ? "\n" : ""
    return (shown ? "" : endLine() + flow(kind, prose(text))) + endLine() + gap
  }

  const line = (text: string) => `${endLine()}${margin}${text}\n`

  const footer = (ended: string, nowMs: number) => {
    if (turn === undefined) return ""
    const { beganMs, firstWordMs, inputTokens, outputTokens } = turn
    turn = undefined
    streamed.clear()
    const facts = [
      ended,
      ...(inputTokens + outputTokens === 0
        ? []
        : [`${count(inputTokens, "token")} in, ${outputTokens} out`]),
      ...(firstWordMs === undefined ? [] : [`first word after ${formatMillis(firstWordMs)}`]),
      `${formatMillis(nowMs - beganMs)} in all`,
    ]
    return `${line(style.dim(`— ${facts.filter((fact) => fact !== "").join(" · ")}`))}\n`
  }

  /** Output or a diff, line by line, as it is but for its length. */
  const quoted = (text: string) => {
    const lines = text.split("\n")
    if (lines.at(-1) === "") lines.pop()
    const more = lines.length - maxQuotedLines
    return [
      ...lines.slice(0, maxQuotedLines),
      ...(more > 0 ? [`… and ${count(more, "line")} more`] : []),
    ]
      .map((text) => line(`${style.dim("│")} ${printable(text)}`))
      .join("")
  }

  /** The whole question, its first line marked. */
  const question = (text: string) =>
    text
      .split("\n")
      .map((row, index) => line(index === 0 ? style.accent(`? ${row}`) : style.dim(`  ${row}`)))
      .join("")

  const warning = (message: string) => line(style.accent(`! ${printable(message)}`))

  const handlers: Handlers = {
    agent_message_delta: (msg, nowMs) => delta("text", msg.delta, nowMs),
    agent_message: (msg) => item("text", msg.message),
    agent_reasoning_delta: (msg, nowMs) => delta("reasoning", msg.delta, nowMs),
    agent_reasoning: (msg) => item("reasoning", msg.text),
    agent_reasoning_section_break: () => endLine(),
    exec_approval_request: (msg) => question(questionText(msg)),
    apply_patch_approval_request: (msg) => question(questionText(msg)),
    elicitation_request: (msg) => question(shownReason(msg.message)),
    exec_command_begin: (msg) => line(style.accent(`$ ${shown(msg.command)}`)),
    exec_command_end: (msg) =>
      quoted(msg.aggregated_output ?? msg.stdout) +
      line(style.dim(`exit ${msg.exit_code} · ${formatMillis(millisOf(msg.duration))}`)),
    mcp_tool_call_begin: (msg) =>
      line(style.accent(`→ ${printable(`${msg.invocation.server}.${msg.invocation.tool}`)}`)),
    mcp_tool_call_end: (msg) =>
      line(
        style.dim(
          `${"Ok" in msg.result ? "done" : "failed"} · ${formatMillis(millisOf(msg.duration))}`,
        ),
      ),
    patch_apply_begin: (msg) =>
      line(style.accent(`± ${count(Object.keys(msg.changes).length, "file")}`)),
    patch_apply_end: (msg) => line(style.dim(msg.success ? "applied" : "not applied")),
    turn_diff: (msg) => quoted(msg.unified_diff),
    plan_update: (msg) =>
      msg.plan.map(({ step, status }) => line(style.dim(`${status}: ${printable(step)}`))).join(""),
    token_count: (msg) => {
      const usage = usageOf(msg)
      if (turn !== undefined) {
        turn.inputTokens += usage.input
        turn.outputTokens += usage.output
      }
      return ""
    },
    background_event: (msg) => warning(msg.message),
    stream_error: (msg) => {
      // What the broken attempt said is said again.
      streamed.clear()
      return warning(msg.message)
    },
    warning: (msg) => warning(msg.message),
    error: (msg) => line(style.bad(`✗ ${printable(msg.message)}`)),
    task_complete: (_, nowMs) => footer("", nowMs),
    turn_aborted: (msg, nowMs) => footer(msg.reason, nowMs),
  }

  const withMark = (text: string) => {
    if (!options.live) return text
    const erased = marked === undefined ? "" : eraseMark[marked]
    marked = turn === undefined ? undefined : open === undefined ? "alone" : "inline"
    const indent = marked === "alone" ? margin : ""
    return erased + text + (marked === undefined ? "" : indent + style.dim(mark))
  }

  return {
    prompt: (text, nowMs) => {
      turn = { beganMs: nowMs, firstWordMs: undefined, inputTokens: 0, outputTokens: 0 }
      return withMark(`${style.bold(`› ${text}`)}\n\n`)
    },
    answer: (text) => withMark(line(style.good(`✓ ${text}`))),
    event: (msg, nowMs) => {
      // An event of a later generation has no handler, like one that needs none.
      const handler = Object.hasOwn(handlers, msg.type)
        ? (handlers[msg.type as EventMsg["type"]] as (msg: AnyEventMsg, nowMs: number) => string)
        : undefined
      const text = handler?.(msg, nowMs) ?? ""
      return text === "" ? "" : withMark(text)
    },
  }
}
