/** A conversation as text: the facts, and its items in order. Pure. */
import type { ConversationSummary } from "@colloquy/core/ConversationManager"
import type { Item } from "@colloquy/core/log/Item"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import { count, printable, prose, typedCommand } from "../../demo/Format.ts"
import type { Style } from "../../demo/Style.ts"
import { rowsOf } from "../Width.ts"

/** How the text is written. */
export interface TextOptions {
  readonly columns: number
  readonly style: Style
  /** Most lines that are shown of the output of a command, which are its last. Default: all. */
  readonly maxOutputLines?: number
}

const indented = (text: string, columns: number): ReadonlyArray<string> =>
  text.trim() === ""
    ? []
    : rowsOf(prose(text.trim()), columns - 2).map((row) => (row === "" ? "" : `  ${row}`))

const textRows = (text: string, { columns }: TextOptions): ReadonlyArray<string> =>
  rowsOf(printable(text), columns - 2).map((row) => `  ${row}`)

/** Most characters of a line that can be seen in a column: a letter with its accents is more than one. */
const charactersPerColumn = 4

const outputRows = (text: string, options: TextOptions): ReadonlyArray<string> => {
  const { columns, maxOutputLines = Infinity, style } = options
  const width = columns - 4
  const lines = text.trimEnd().split("\n")
  const left = Math.max(0, lines.length - maxOutputLines)
  // A line may be as long as the whole output: what could not be shown is not wrapped.
  const most = maxOutputLines * width * charactersPerColumn
  const all = lines
    .slice(left)
    .map((line) => (line.length > most ? line.slice(-most) : line))
    .flatMap((line) => rowsOf(printable(line), width))
  const rows = all.slice(Math.max(0, all.length - maxOutputLines))
  const missing =
    left > 0
      ? [`… ${count(left, "line")} before these`]
      : rows.length < all.length
        ? ["… the rest of the line before this"]
        : []
  return [...missing, ...rows].map((row) => `  ${style.dim("│")} ${row}`)
}

const diffTextOf = (path: string, change: FileChange): ReadonlyArray<string> => {
  const signed = (sign: string, content: string) =>
    content
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => `${sign}${line}`)
  if ("add" in change) return [`new file ${path}`, ...signed("+", change.add.content)]
  if ("delete" in change) return [`deleted file ${path}`, ...signed("-", change.delete.content)]
  const { move_path: moved, unified_diff: diff } = change.update
  return [moved === null ? path : `${path} → ${moved}`, ...diff.trimEnd().split("\n")]
}

/** The rows of a diff, coloured by their first character. */
export const unifiedRows = (
  lines: ReadonlyArray<string>,
  { columns, style }: TextOptions,
): ReadonlyArray<string> =>
  lines.flatMap((line) => {
    const paint = line.startsWith("+") ? style.good : line.startsWith("-") ? style.bad : style.dim
    return rowsOf(printable(line), columns - 4).map((row) => `  ${style.dim("│")} ${paint(row)}`)
  })

/** The rows of changes of files, by path. */
export const diffRows = (
  changes: Readonly<Record<string, FileChange>>,
  options: TextOptions,
): ReadonlyArray<string> =>
  Object.entries(changes).flatMap(([path, change]) =>
    unifiedRows(diffTextOf(path, change), options),
  )

/** The rows that show that an item has started. */
export const startRows = (item: Item, options: TextOptions): ReadonlyArray<string> => {
  const { accent } = options.style
  switch (item.type) {
    case "command":
      return textRows(`$ ${typedCommand(item.command)}`, options).map(accent)
    case "file_change": {
      const files = count(Object.keys(item.changes).length, "file")
      return textRows(`± ${files}`, options).map(accent)
    }
    case "mcp_tool_call":
      return textRows(`→ ${item.server}.${item.tool}`, options).map(accent)
    case "tool_call":
      return textRows(`→ ${item.tool}`, options).map(accent)
    default:
      return []
  }
}

const messageRows = (text: string, { columns, style }: TextOptions): ReadonlyArray<string> => [
  "",
  ...rowsOf(prose(text), columns - 2).map((one, index) =>
    style.bold(`${index === 0 ? "›" : " "} ${one}`),
  ),
  "",
]

/** One row that says how a call has ended, or of a plan one for each step; undefined for other items. */
const callText = (item: Item): string | undefined => {
  switch (item.type) {
    case "command":
      return item.exitCode === undefined ? item.status : `exit ${item.exitCode}`
    case "file_change":
      return item.success === true ? "applied" : "not applied"
    case "mcp_tool_call":
    case "tool_call":
      return item.status
    case "web_search":
      return `searched: ${item.query ?? ""}`
    case "interruption":
      return `— ${item.reason}`
    case "review_start":
      return `— review of ${item.text}`
    case "compaction":
      return "— the history was replaced by a summary"
    default:
      return undefined
  }
}

/** The rows that show how an item has ended, or an item that has no beginning of its own. */
export const endRows = (item: Item, options: TextOptions): ReadonlyArray<string> => {
  const { columns, style } = options
  const ended = callText(item)
  if (ended !== undefined) {
    const text = item.type === "command" ? (item.output ?? "") : ""
    const rows = textRows(ended, options).map(style.dim)
    return text.trim() === "" ? rows : [...outputRows(text, options), ...rows]
  }
  switch (item.type) {
    case "user_message":
      return item.kind === "plain" ? messageRows(item.text, options) : []
    case "agent_message":
      return indented(item.text, columns)
    case "reasoning":
      return indented(item.text, columns).map(style.dim)
    case "plan":
      return item.steps.flatMap(({ status, step }) =>
        textRows(`${status}: ${step}`, options).map(style.dim),
      )
    case "error":
      return textRows(`✗ ${item.message}`, options).map(style.bad)
    case "warning":
      return textRows(`! ${item.message}`, options).map(style.accent)
    default:
      return []
  }
}

/** The model may be another one by now; the settings of a conversation are not among its facts. */
const modelText = ({ model, provider }: ConversationSummary): string => {
  const named = [model, provider].filter((one) => one !== undefined).join(" of ")
  return named === "" ? "" : `${named}, at its creation`
}

/** The facts about a conversation, one row each. */
export const factRows = (
  summary: ConversationSummary,
  { columns, style }: TextOptions,
): ReadonlyArray<string> => {
  const { archived, createdAtMs, cwd, id, name, path, updatedAtMs } = summary
  return (
    [
      ["id", id],
      ["name", name ?? ""],
      ["created", new Date(createdAtMs).toISOString()],
      ["updated", new Date(updatedAtMs).toISOString()],
      ["directory", cwd],
      ["model", modelText(summary)],
      ["archived", archived ? "yes" : ""],
      ["file", path ?? ""],
    ] as const
  )
    .filter(([, value]) => value !== "")
    .flatMap(([title, value]) =>
      rowsOf(printable(value), columns - 11).map(
        (row, index) => `${style.dim((index === 0 ? title : "").padEnd(11))}${row}`,
      ),
    )
}

/** All items, one after the other. */
export const transcriptRows = (
  items: ReadonlyArray<Item>,
  options: TextOptions,
): ReadonlyArray<string> =>
  items.flatMap((item) => [
    ...startRows(item, options),
    ...(item.type === "file_change" ? diffRows(item.changes, options) : []),
    ...endRows(item, options),
  ])
