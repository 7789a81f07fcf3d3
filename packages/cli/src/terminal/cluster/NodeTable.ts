/** The table of the nodes of a cluster. Pure. */
import type { NodeReport } from "@colloquy/cluster/node/PostgresReports"
import { spelledOut } from "@colloquy/core/question/VisibleText"
import { fit, pad, widthOf } from "../Width.ts"

const titles = ["NODE", "SHARDS", "CONVERSATIONS", "TURNS", "WAITING", "HEARTBEAT"]

const heartbeatOf = ({ ageMs, lives }: NodeReport): string =>
  `${(ageMs / 1000).toFixed(1)} s ago${lives ? "" : ", lost"}`

const cellsOf = (report: NodeReport): ReadonlyArray<string> => [
  spelledOut(report.node),
  String(report.shards),
  String(report.conversations),
  String(report.running),
  String(report.waiting),
  heartbeatOf(report),
]

/** One line for the titles and one for each node, none wider than `columns`. */
export const nodeTable = (
  reports: ReadonlyArray<NodeReport>,
  columns: number,
): ReadonlyArray<string> => {
  const rows = [titles, ...reports.map(cellsOf)]
  const widths = titles.map((_, index) => Math.max(...rows.map((row) => widthOf(row[index] ?? ""))))
  return rows.map((row) =>
    fit(
      row
        .map((cell, index) => pad(cell, widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
      columns,
    ),
  )
}

/** The nodes that live, of all that are known, and what they have together. */
export const summaryLine = (reports: ReadonlyArray<NodeReport>): string => {
  const living = reports.filter(({ lives }) => lives)
  const conversations = living.reduce((sum, report) => sum + report.conversations, 0)
  const nodes = reports.length === 1 ? "1 node lives" : `${reports.length} nodes live`
  return `${living.length} of ${nodes}, with ${conversations} conversations in memory`
}
