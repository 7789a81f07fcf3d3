/** One stored conversation as text: the facts, and its items in order. Pure. */
import type { ConversationSummary } from "@colloquy/core/ConversationManager"
import type { Item } from "@colloquy/core/log/Item"
import { printable, prose, typedCommand } from "../../demo/Format.ts"
import type { Style } from "../../demo/Style.ts"
import { rowsOf } from "../Width.ts"

/** How the text is written. */
export interface TextOptions {
  readonly columns: number
  readonly style: Style
}

const indented = (text: string, columns: number): ReadonlyArray<string> =>
  rowsOf(prose(text.trimEnd()), columns - 2).map((row) => (row === "" ? "" : `  ${row}`))

const output = (text: string, { columns, style }: TextOptions): ReadonlyArray<string> =>
  text
    .trimEnd()
    .split("\n")
    .flatMap((line) => rowsOf(printable(line), columns - 4))
    .map((row) => `  ${style.dim("│")} ${row}`)

/** The rows of an item; none for one that a reader does not need. */
export const itemRows = (item: Item, options: TextOptions): ReadonlyArray<string> => {
  const { columns, style } = options
  const row = (text: string) => rowsOf(printable(text), columns - 2).map((one) => `  ${one}`)
  switch (item.type) {
    case "user_message":
      return item.kind === "plain"
        ? rowsOf(prose(item.text), columns - 2).map((one, index) =>
            style.bold(`${index === 0 ? "›" : " "} ${one}`),
          )
        : []
    case "agent_message":
      return indented(item.text, columns)
    case "reasoning":
      return indented(item.text, columns).map(style.dim)
    case "command": {
      const { exitCode, output: text = "" } = item
      const ended = exitCode === undefined ? item.status : `exit ${exitCode}`
      return [
        ...row(`$ ${typedCommand(item.command)}`).map(style.accent),
        ...(text === "" ? [] : output(text, options)),
        ...row(ended).map(style.dim),
      ]
    }
    case "file_change":
      return [
        ...Object.keys(item.changes).flatMap((path) => row(`± ${path}`).map(style.accent)),
        ...row(item.success === true ? "applied" : "not applied").map(style.dim),
      ]
    case "mcp_tool_call":
      return row(`→ ${item.server}.${item.tool}: ${item.status}`).map(style.accent)
    case "tool_call":
      return row(`→ ${item.tool}: ${item.status}`).map(style.accent)
    case "question":
      return item.decision === undefined ? [] : row(`? ${item.decision}`).map(style.accent)
    case "plan":
      return item.steps.flatMap(({ status, step }) => row(`${status}: ${step}`).map(style.dim))
    case "error":
      return row(`✗ ${item.message}`).map(style.bad)
    case "warning":
      return row(`! ${item.message}`).map(style.accent)
    case "interruption":
      return row(`— ${item.reason}`).map(style.dim)
    case "compaction":
      return row("— the conversation was compacted").map(style.dim)
    default:
      return []
  }
}

/** The facts about a conversation, one row each. */
export const factRows = (
  { archived, createdAtMs, cwd, id, model, path, provider, updatedAtMs }: ConversationSummary,
  { columns, style }: TextOptions,
): ReadonlyArray<string> =>
  (
    [
      ["id", id],
      ["created", new Date(createdAtMs).toISOString()],
      ["updated", new Date(updatedAtMs).toISOString()],
      ["directory", cwd],
      ["model", [model, provider].filter((one) => one !== undefined).join(" of ")],
      ["archived", archived ? "yes" : ""],
      ["file", path ?? ""],
    ] as const
  )
    .filter(([, value]) => value !== "")
    .flatMap(([name, value]) =>
      rowsOf(printable(value), columns - 11).map(
        (row, index) => `${style.dim((index === 0 ? name : "").padEnd(11))}${row}`,
      ),
    )

/** All rows: an empty one before each message of the user and after it. */
export const transcriptRows = (
  items: ReadonlyArray<Item>,
  options: TextOptions,
): ReadonlyArray<string> =>
  items.flatMap((item) => {
    const rows = itemRows(item, options)
    return rows.length === 0 ? [] : item.type === "user_message" ? ["", ...rows, ""] : rows
  })
