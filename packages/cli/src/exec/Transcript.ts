/**
 * What `exec` shows a person: the events of the turn as text on stderr. Everything that a model or a command wrote is shown
 * with its hidden characters escaped. Pure.
 */
import { isVisible, spelledOut } from "@colloquy/core/question/VisibleText"
import { rowsOf } from "../terminal/Width.ts"
import type { ExecEvent, ExecItem } from "./ExecEvents.ts"

/** The conversation, for the first lines. */
export interface Heading {
  readonly version: string
  readonly threadId: string
  readonly model: string
  readonly provider: string
  readonly cwd: string
  readonly sandbox: string
  readonly prompt: string
}

/** Most lines that are shown of the output of a command; the end of it. */
const maxOutputLines = 20

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

/** Text in its lines, each with visible characters only. */
const visible = (text: string): string =>
  text
    .split("\n")
    .map((line) => (isVisible(line) ? line : spelledOut(line)))
    .join("\n")

/** The last lines of an output, of which `rows` makes rows: at most as many rows as lines. */
const tail = (output: string, rows: (text: string) => string): string => {
  const lines = output.split("\n")
  const left = Math.max(0, lines.length - maxOutputLines)
  const all = rows(lines.slice(left).join("\n")).split("\n")
  const shown = all.slice(Math.max(0, all.length - maxOutputLines))
  const missing =
    left > 0
      ? [`[${left} lines before these]`]
      : shown.length < all.length
        ? ["[the rest of the line before this]"]
        : []
  return [...missing, ...shown].join("\n")
}

const signs = { add: "A", update: "M", delete: "D" } as const

/** How the text is shown. */
export interface TranscriptOptions {
  /** True: with escape sequences for colours. */
  readonly color: boolean
  /** Width of the terminal: longer lines are broken at spaces. Default: lines stay as they are. */
  readonly columns?: number
}

/** Makes the text of each event. */
export class Transcript {
  private readonly options: TranscriptOptions

  constructor(options: TranscriptOptions) {
    this.options = options
  }

  /** The first lines. */
  heading({ cwd, model, prompt, provider, sandbox, threadId, version }: Heading): string {
    const facts = [
      ["workdir", visible(cwd)],
      ["model", `${visible(model)} (${visible(provider)})`],
      ["approval", "never"],
      ["sandbox", sandbox],
      ["session id", threadId],
    ].map(([name, value]) => `${this.paint("bold", `${name}:`)} ${value}`)
    const rule = "--------"
    return [
      `Colloquy ${version}`,
      rule,
      ...facts,
      rule,
      this.paint("cyan", "user"),
      this.text(prompt),
      "",
    ].join("\n")
  }

  /** The lines of the event; empty for one that is not shown. */
  event(event: ExecEvent): string {
    switch (event.type) {
      case "item.started":
        return event.item.type === "command_execution"
          ? `${this.paint("bold", "$")} ${visible(event.item.command)}\n`
          : this.planned(event.item)
      case "item.updated":
        return this.planned(event.item)
      case "item.completed":
        return this.completed(event.item)
      case "turn.completed": {
        const { input_tokens: input, output_tokens: output } = event.usage
        return this.paint("dim", `tokens used: ${(input + output).toLocaleString("en")}`) + "\n"
      }
      case "turn.failed":
        return `${this.paint("red", "failed:")} ${visible(event.error.message)}\n`
      case "error":
        return `${this.paint("yellow", "error:")} ${visible(event.message)}\n`
      default:
        return ""
    }
  }

  /** Text in its lines, as they fit. */
  private text(text: string): string {
    const { columns } = this.options
    return columns === undefined ? visible(text) : rowsOf(visible(text), columns).join("\n")
  }

  private paint(color: keyof typeof codes, text: string): string {
    return this.options.color ? `\u001B[${codes[color]}m${text}\u001B[0m` : text
  }

  private planned(item: ExecItem): string {
    if (item.type !== "todo_list") return ""
    const rows = item.items.map(
      ({ completed, text }) => `  ${completed ? "[x]" : "[ ]"} ${visible(text)}\n`,
    )
    return `${this.paint("cyan", "plan")}\n${rows.join("")}`
  }

  private changed({
    changes,
    status,
  }: Extract<ExecItem, { readonly type: "file_change" }>): string {
    const rows = changes.map(({ kind, path }) => `  ${signs[kind]} ${visible(path)}\n`)
    const done =
      status === "completed"
        ? this.paint("green", "changed")
        : this.paint("red", "could not change")
    return `${done}\n${rows.join("")}\n`
  }

  private completed(item: ExecItem): string {
    switch (item.type) {
      case "agent_message":
        return `${this.paint("cyan", "agent")}\n${this.text(item.text)}\n\n`
      case "reasoning":
        return `${this.paint("dim", this.text(item.text))}\n\n`
      case "command_execution": {
        const output =
          item.aggregated_output === ""
            ? ""
            : `${tail(item.aggregated_output.trimEnd(), (text) => this.text(text))}\n`
        const ended =
          item.exit_code === 0
            ? this.paint("green", "ended with exit code 0")
            : this.paint(
                "red",
                item.exit_code === null
                  ? "did not end by itself"
                  : `ended with exit code ${item.exit_code}`,
              )
        return `${output}${ended}\n\n`
      }
      case "file_change":
        return this.changed(item)
      case "mcp_tool_call": {
        const done =
          item.status === "completed" ? this.paint("green", "ok") : this.paint("red", "failed")
        return `${visible(`${item.server}.${item.tool}`)} ${done}\n`
      }
      case "web_search":
        return `searched: ${visible(item.query)}\n`
      case "error":
        return `${this.paint("yellow", "warning:")} ${visible(item.message)}\n`
      case "todo_list":
        return ""
    }
  }
}
