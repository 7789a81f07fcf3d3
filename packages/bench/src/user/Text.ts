/** The report of the benchmark `user` as text, as Markdown and as a chart. Pure. */
import type { FigureLine, Phase, Report, Spread } from "./Figures.ts"

const number = (value: number): string =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString("en-US")
    : value.toFixed(Math.abs(value) >= 10 ? 1 : 2)

const cell = (found: Spread | undefined): string =>
  found === undefined ? "–" : `${number(found.median)} [${number(found.p10)}..${number(found.p90)}]`

const aim = ({ aim }: FigureLine): string =>
  aim === undefined ? "" : `${aim.better === "less" ? "≤" : "≥"} ${aim.value}`

const met = ({ aim, of }: FigureLine): string => {
  const own = of["ours"]?.median
  if (aim === undefined || own === undefined) return ""
  return (aim.better === "less" ? own <= aim.value : own >= aim.value) ? "yes" : "no"
}

const table = (report: Report): ReadonlyArray<ReadonlyArray<string>> => [
  ["measured", ...report.contenders, "aim", "met"],
  ...report.figures.map((line) => [
    line.unit === "" ? line.title : `${line.title}, ${line.unit}`,
    ...report.contenders.map((contender) => cell(line.of[contender])),
    aim(line),
    met(line),
  ]),
]

const heading = (report: Report): string =>
  `${report.machine}; ${report.runs} runs; median [p10..p90]; bare Node ${cell(report.bareNode)} ms\n` +
  `per run: ${Object.entries(report.sizes)
    .map(([name, size]) => `${name} ${size.toLocaleString("en-US")}`)
    .join(", ")}` +
  Object.entries(report.unanswered)
    .map(
      ([name, count]) =>
        `\n${name} did not answer a request in ${count} attempts, which were repeated`,
    )
    .join("")

const line = ({ fromMs, title, untilMs }: Phase): string =>
  `${title}: ${number(fromMs)} to ${number(untilMs)} ms`

/** Aligned columns, for a terminal. */
export const render = (report: Report): string => {
  const rows = table(report)
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  const aligned = rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  )
  return [heading(report), "", ...aligned, "", ...report.phases.map(line)].join("\n")
}

/** The section of `packages/docs/benchmarks.md`, between its marks. */
const markdown = (report: Report): string => {
  const rows = table(report)
  const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`
  const [head = [], ...others] = rows
  return [
    `${heading(report).replaceAll("\n", ". ")}.`,
    "",
    row(head),
    row(head.map((_, at) => (at === 0 ? "---" : "--:"))),
    ...others.map(row),
    "",
    "![Where the time of a warm reply goes](benchmarks/user.svg)",
  ].join("\n")
}

const width = 760
const left = 210
const step = 30

/** A bar per part of a warm reply, on one axis of milliseconds. */
export const chart = (phases: ReadonlyArray<Phase>): string => {
  const last = Math.max(...phases.map(({ untilMs }) => untilMs))
  const x = (ms: number) => Math.round(left + (ms / last) * (width - left - 80))
  const bars = phases.map(({ fromMs, title, untilMs }, index) => {
    const y = 40 + index * step
    const wide = Math.max(1, x(untilMs) - x(fromMs))
    return (
      `<text x="10" y="${y + 14}">${title}</text>` +
      `<rect x="${x(fromMs)}" y="${y}" width="${wide}" height="20" fill="#4878a8"/>` +
      `<text x="${x(untilMs) + 6}" y="${y + 14}">${number(untilMs - fromMs)} ms</text>`
    )
  })
  const height = 50 + phases.length * step
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="10" y="22" font-weight="bold">Where the time of a warm reply goes: ${number(last)} ms, medians</text>`,
    ...bars,
    "</svg>",
    "",
  ].join("\n")
}

const begin = "<!-- user: begin, written by `npm run bench -- user --write` -->"
const finish = "<!-- user: end -->"

/** The page with the section of this report. Throws when the page has no place for it. */
export const paged = (page: string, report: Report): string => {
  const [from, until] = [page.indexOf(begin), page.indexOf(finish)]
  if (from === -1 || until === -1) throw new Error("the page has no place for the benchmark `user`")
  return `${page.slice(0, from + begin.length)}\n\n${markdown(report)}\n\n${page.slice(until)}`
}
