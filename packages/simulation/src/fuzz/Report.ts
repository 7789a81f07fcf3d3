/** The findings and counts of a run of the fuzzer as text. Pure. */
import { escapeBytes } from "./Escaped.ts"
import type { EdgeReport, Finding } from "./Runner.ts"

/** The text as one quoted word of a POSIX shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/** Longest command line with inputs; longer inputs can be reproduced only by the seed. */
const maxReplayChars = 60_000

/**
 * The violation, the commands that reproduce it, and its shortest inputs.
 *
 * @param seed seed of the run that found it
 */
export const describeFinding = (
  edge: string,
  { index, inputs, law, message }: Finding,
  seed: number,
): string => {
  const escaped = inputs.map(escapeBytes)
  const replay = escaped.map((input) => ` --input ${quoted(input)}`).join("")
  return [
    `${law} is broken at ${edge}: ${message}`,
    `  input ${index} of seed ${seed}; found again by:`,
    `  npm run fuzz -- --edge ${edge} --seed ${seed} --inputs ${index + 1}`,
    ...(inputs.length === 0
      ? ["  a new target does not show it: it depends on earlier inputs"]
      : [
          inputs.length === 1 ? "  shortest input:" : "  shortest inputs, in order on one target:",
          ...escaped.map((input) => `  "${input}"`),
          ...(replay.length <= maxReplayChars
            ? ["  alone:", `  npm run fuzz -- --edge ${edge}${replay}`]
            : []),
        ]),
  ].join("\n")
}

const columns = [
  ["edge", 28],
  ["inputs", 10],
  ["rejected", 10],
  ["accepted", 10],
  ["violations", 12],
  ["inputs/s", 10],
  ["slowest", 10],
  ["heap growth", 14],
] as const

const row = (cells: ReadonlyArray<string>): string =>
  cells
    .map((cell, at) => {
      const width = columns[at]?.[1] ?? 10
      return at === 0 ? cell.padEnd(width) : cell.padStart(width)
    })
    .join("")

const kib = (bytes: number | undefined): string =>
  bytes === undefined ? "-" : `${Math.round(bytes / 1024)} KiB`

const cellsOf = (report: EdgeReport): ReadonlyArray<string> => [
  report.edge,
  String(report.inputs),
  String(report.rejected),
  String(report.accepted),
  String(report.violations),
  report.elapsedMs === 0 ? "-" : String(Math.round((report.inputs / report.elapsedMs) * 1000)),
  `${report.slowestMs} ms`,
  kib(report.heapGrowthBytes),
]

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((a, b) => a + b, 0)

/** The header line of the table. */
export const header = row(columns.map(([name]) => name))

/** The line of one edge in the table. */
export const line = (report: EdgeReport): string => row(cellsOf(report))

/** The line of totals and the digest, which is equal for equal runs. */
export const total = (reports: ReadonlyArray<EdgeReport>): string => {
  const of = (pick: (report: EdgeReport) => number) => sum(reports.map(pick))
  const all = cellsOf({
    edge: "all",
    inputs: of(({ inputs }) => inputs),
    accepted: of(({ accepted }) => accepted),
    rejected: of(({ rejected }) => rejected),
    violations: of(({ violations }) => violations),
    findings: [],
    elapsedMs: of(({ elapsedMs }) => elapsedMs),
    slowestMs: Math.max(0, ...reports.map(({ slowestMs }) => slowestMs)),
    heapGrowthBytes: undefined,
    digest: "",
  })
  return `${row(all)}\ndigest ${reports.map(({ digest }) => digest).join(" ")}`
}
