/**
 * Shows a conversation to a person: events in, text for the terminal out. It does no I/O and has no clock: the caller
 * writes the returned text and passes the time.
 *
 * On a live terminal, text appears as it streams and a mark shows that more is to come. Otherwise only whole items are
 * printed, line by line, and nothing is ever erased: that is what a file or a pipe needs.
 */
import { questionText, shownReason } from "@colloquy/core/question/QuestionText"
import type { AnyEventMsg, EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import { count, formatDuration, formatMillis, printable, typedCommand, usageOf } from "./Format.ts"
import { Screen, type ScreenOptions, type StreamKind } from "./Screen.ts"

/** How the conversation is shown. */
export type RendererOptions = ScreenOptions

/** Turns prompts, answers and events into text. Times are milliseconds since any fixed point. */
export interface Renderer {
  /** The text of a prompt, which starts a turn. */
  readonly prompt: (text: string, nowMs: number) => string
  /** The text of an answer to a question of the server. */
  readonly answer: (text: string) => string
  /** The text of an event; empty for one that is not shown. */
  readonly event: (msg: AnyEventMsg, nowMs: number) => string
}

type Handlers = {
  readonly [T in EventMsg["type"]]?: (msg: EventOf<T>, nowMs: number) => string
}

/** What the line at the end of a turn reports. */
interface Turn {
  readonly startedMs: number
  firstWordMs: number | undefined
  inputTokens: number
  outputTokens: number
}

const callEnd = (screen: Screen, msg: EventOf<"mcp_tool_call_end" | "tool_call_end">): string => {
  const outcome = "Ok" in msg.result ? "done" : "failed"
  return screen.line(screen.style.dim(`${outcome} · ${formatDuration(msg.duration)}`))
}

/** The events of commands, patches and tool calls, which need the screen alone. */
const toolHandlers = (screen: Screen): Handlers => ({
  exec_approval_request: (msg) => screen.question(questionText(msg, "Colloquy")),
  apply_patch_approval_request: (msg) => screen.question(questionText(msg, "Colloquy")),
  tool_approval_request: (msg) => screen.question(questionText(msg, "Colloquy")),
  request_permissions: (msg) => screen.question(questionText(msg, "Colloquy")),
  request_user_input: ({ questions }) =>
    screen.question(questions.map(({ question }) => printable(question)).join("\n")),
  elicitation_request: (msg) => screen.question(shownReason(msg.message)),
  exec_command_begin: (msg) => screen.line(screen.style.accent(`$ ${typedCommand(msg.command)}`)),
  exec_command_end: (msg) =>
    screen.quoted(msg.aggregated_output ?? msg.stdout) +
    screen.line(screen.style.dim(`exit ${msg.exit_code} · ${formatDuration(msg.duration)}`)),
  mcp_tool_call_begin: ({ invocation: { server, tool } }) =>
    screen.line(screen.style.accent(`→ ${printable(`${server}.${tool}`)}`)),
  mcp_tool_call_end: (msg) => callEnd(screen, msg),
  tool_call_begin: ({ tool }) => screen.line(screen.style.accent(`→ ${printable(tool)}`)),
  tool_call_end: (msg) => callEnd(screen, msg),
  patch_apply_begin: (msg) =>
    screen.line(screen.style.accent(`± ${count(Object.keys(msg.changes).length, "file")}`)),
  patch_apply_end: (msg) => screen.line(screen.style.dim(msg.success ? "applied" : "not applied")),
  turn_diff: (msg) => screen.quoted(msg.unified_diff),
  plan_update: (msg) =>
    msg.plan
      .map(({ step, status }) => screen.line(screen.style.dim(`${status}: ${printable(step)}`)))
      .join(""),
})

/** The `Renderer` of one conversation. */
class ConversationRenderer implements Renderer {
  private readonly screen: Screen
  private readonly handlers: Handlers
  private turn: Turn | undefined

  constructor(options: RendererOptions) {
    this.screen = new Screen(options)
    this.handlers = { ...toolHandlers(this.screen), ...this.turnHandlers() }
  }

  prompt(text: string, nowMs: number): string {
    this.turn = { startedMs: nowMs, firstWordMs: undefined, inputTokens: 0, outputTokens: 0 }
    return this.marked(`${this.screen.style.bold(`› ${text}`)}\n\n`)
  }

  answer(text: string): string {
    return this.marked(this.screen.line(this.screen.style.good(`✓ ${text}`)))
  }

  event(msg: AnyEventMsg, nowMs: number): string {
    // An event of a later version has no handler, and neither has one that is not shown.
    const handler = Object.hasOwn(this.handlers, msg.type)
      ? (this.handlers[msg.type as EventMsg["type"]] as (msg: AnyEventMsg, nowMs: number) => string)
      : undefined
    const text = handler?.(msg, nowMs) ?? ""
    return text === "" ? "" : this.marked(text)
  }

  private marked(text: string): string {
    return this.screen.withMark(text, this.turn !== undefined)
  }

  /** The events of messages and of the turn itself. */
  private turnHandlers(): Handlers {
    const { screen } = this
    return {
      agent_message_delta: (msg, nowMs) => this.delta("text", msg.delta, nowMs),
      agent_message: (msg) => screen.item("text", msg.message),
      agent_reasoning_delta: (msg, nowMs) => this.delta("reasoning", msg.delta, nowMs),
      agent_reasoning: (msg) => screen.item("reasoning", msg.text),
      agent_reasoning_section_break: () => screen.endLine(),
      token_count: (msg) => this.addUsage(msg),
      background_event: (msg) => screen.warning(msg.message),
      stream_error: (msg) => {
        // The next attempt repeats the text of the interrupted one.
        screen.forgetStreams()
        return screen.warning(msg.message)
      },
      warning: (msg) => screen.warning(msg.message),
      error: (msg) => screen.line(screen.style.bad(`✗ ${printable(msg.message)}`)),
      task_complete: (_, nowMs) => this.footer("", nowMs),
      turn_aborted: (msg, nowMs) => this.footer(msg.reason, nowMs),
    }
  }

  private delta(kind: StreamKind, piece: string, nowMs: number): string {
    if (this.turn !== undefined) this.turn.firstWordMs ??= nowMs - this.turn.startedMs
    return this.screen.delta(kind, piece)
  }

  private addUsage(msg: EventOf<"token_count">): string {
    const usage = usageOf(msg)
    if (this.turn !== undefined) {
      this.turn.inputTokens += usage.input
      this.turn.outputTokens += usage.output
    }
    return ""
  }

  /** The line at the end of a turn; `ended` is the reason of an aborted one, else empty. */
  private footer(ended: string, nowMs: number): string {
    if (this.turn === undefined) return ""
    const { startedMs, firstWordMs, inputTokens, outputTokens } = this.turn
    this.turn = undefined
    this.screen.forgetStreams()
    const facts = [
      ended,
      inputTokens + outputTokens === 0
        ? ""
        : `${count(inputTokens, "token")} in, ${outputTokens} out`,
      firstWordMs === undefined ? "" : `first word after ${formatMillis(firstWordMs)}`,
      `${formatMillis(nowMs - startedMs)} in all`,
    ]
    const text = `— ${facts.filter((fact) => fact !== "").join(" · ")}`
    return `${this.screen.line(this.screen.style.dim(text))}\n`
  }
}

/** Creates the renderer of one conversation. */
export const make = (options: RendererOptions): Renderer => new ConversationRenderer(options)
