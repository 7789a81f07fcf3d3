/** The table of stored conversations, as wide as the terminal. Pure. */
import type { ConversationSummary } from "@colloquy/core/ConversationManager"
import { spelledOut } from "@colloquy/core/question/VisibleText"
import { fit, pad, widthOf } from "../Width.ts"

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
] as const

/** How long ago: `3 h ago`; the date from 30 days on. */
export const ago = (atMs: number, nowMs: number): string => {
  const ms = nowMs - atMs
  if (ms >= 30 * 86_400_000) return new Date(atMs).toISOString().slice(0, 10)
  for (const [unit, size] of units) if (ms >= size) return `${Math.floor(ms / size)} ${unit} ago`
  return "just now"
}

/** From this width on the table also has the model and the directory. */
const wideColumns = 110

interface Column {
  readonly title: string
  /** Most columns of the terminal; absent for the last one, which gets the rest. */
  readonly most?: number
  readonly text: (one: ConversationSummary) => string
}

const columnsOf = (nowMs: number, isWide: boolean): ReadonlyArray<Column> => [
  { title: "ID", most: 36, text: ({ id }) => id },
  // By which they are ordered: the stores order by nothing else.
  { title: "CREATED", most: 10, text: ({ createdAtMs }) => ago(createdAtMs, nowMs) },
  ...(isWide
    ? [
        { title: "MODEL", most: 14, text: ({ model = "" }: ConversationSummary) => model },
        { title: "DIRECTORY", most: 24, text: ({ cwd }: ConversationSummary) => endOf(cwd, 24) },
      ]
    : []),
  { title: "NAME OR FIRST MESSAGE", text: ({ name, preview = "" }) => name ?? preview },
]

/** The end of a path says more than its beginning. */
const endOf = (path: string, columns: number): string =>
  path.length <= columns ? path : `…${path.slice(path.length - columns + 1)}`

/** One line for the titles and one for each conversation, none wider than `columns`. */
export const sessionTable = (
  sessions: ReadonlyArray<ConversationSummary>,
  { columns, nowMs }: { readonly columns: number; readonly nowMs: number },
): ReadonlyArray<string> => {
  const shown = columnsOf(nowMs, columns >= wideColumns)
  const rows = [
    shown.map(({ title }) => title),
    ...sessions.map((one) => shown.map(({ text }) => spelledOut(text(one)))),
  ]
  const widths = shown.map(({ most = Infinity }, index) =>
    Math.min(most, Math.max(...rows.map((row) => widthOf(row[index] ?? "")))),
  )
  return rows.map((row) =>
    fit(
      row
        .map((cell, index) => pad(fit(cell, widths[index] ?? 0), widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
      columns,
    ),
  )
}
