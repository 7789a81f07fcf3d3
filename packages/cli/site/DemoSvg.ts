/** An animated picture of what a program printed, as one SVG file without scripts, fonts or links. Pure. */

/** One line of a recording. */
export interface RecordedLine {
  /** When it was printed, in milliseconds from the start of the program. */
  readonly atMs: number
  readonly text: string
}

const rows = 26
const columns = 92
const rowHeight = 18
const charWidth = 7.8
const padding = 16
const width = Math.round(columns * charWidth + 2 * padding)
const height = rows * rowHeight + 2 * padding

/** Shortest and longest time between two lines of the picture: a recording is too fast in some places to be read. */
const gapsMs = { least: 260, most: 1200 }
/** How long the last lines stay before the picture starts again. */
const restMs = 6000

const colors: ReadonlyArray<readonly [prefix: RegExp, color: string]> = [
  [/^›/, "#ffffff"],
  [/^\s*✓/, "#7ee787"],
  [/^\s*\?/, "#e3b341"],
  [/^\s*│ \+/, "#7ee787"],
  [/^\s*│ -/, "#ff7b72"],
  [/^\s*(?:│|—|exit |±)/, "#8b949e"],
  [/^\s*\$ /, "#79c0ff"],
]
const plain = "#d0d7de"

const colorOf = (text: string): string => colors.find(([prefix]) => prefix.test(text))?.[1] ?? plain

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Lines that fit into the picture; what continues a line is indented like it. */
const wrapped = ({ atMs, text }: RecordedLine): ReadonlyArray<RecordedLine> => {
  if (text.length <= columns) return [{ atMs, text }]
  const at = text.lastIndexOf(" ", columns)
  const end = at > columns / 2 ? at : columns
  const indent = /^\s*/.exec(text)?.[0] ?? ""
  return [
    { atMs, text: text.slice(0, end) },
    ...wrapped({ atMs, text: indent + text.slice(end).trimStart() }),
  ]
}

/** Times of the picture: those of the recording, with gaps that can be read. */
const readable = (lines: ReadonlyArray<RecordedLine>): ReadonlyArray<RecordedLine> => {
  let now = 0
  return lines.map((line, i) => {
    const gap = line.atMs - (lines[i - 1]?.atMs ?? 0)
    now += line.text === "" ? 0 : Math.min(gapsMs.most, Math.max(gapsMs.least, gap))
    return { ...line, atMs: now }
  })
}

const percent = (ms: number, cycleMs: number): string => `${((100 * ms) / cycleMs).toFixed(2)}%`

const lineOf = ({ text }: RecordedLine, row: number): string =>
  `<text x="${padding}" y="${padding + row * rowHeight + 13}" fill="${colorOf(text)}" style="animation-name:l${row}">${escaped(text)}</text>`

/** A line is hidden until its time, in every cycle. */
const lineFrames = (lines: ReadonlyArray<RecordedLine>, cycleMs: number): ReadonlyArray<string> =>
  lines.flatMap(({ atMs, text }, row) =>
    text === ""
      ? []
      : [`@keyframes l${row}{0%{visibility:hidden}${percent(atMs, cycleMs)}{visibility:visible}}`],
  )

/** All lines move up by one row whenever the picture is full. */
const scrollFrames = (lines: ReadonlyArray<RecordedLine>, cycleMs: number): string => {
  const steps = lines.slice(rows).map(({ atMs }, i) => {
    return `${percent(atMs, cycleMs)}{transform:translateY(${-(i + 1) * rowHeight}px)}`
  })
  return `@keyframes up{0%{transform:none}${steps.join("")}}`
}

/**
 * The picture. `title` is read out where it cannot be seen. Without animations, which a reader may not want, it shows the
 * last lines.
 */
export const demoSvg = (recording: ReadonlyArray<RecordedLine>, title: string): string => {
  const lines = readable(recording.flatMap(wrapped))
  const cycleMs = (lines.at(-1)?.atMs ?? 0) + restMs
  const texts = lines.flatMap((line, row) => (line.text === "" ? [] : [lineOf(line, row)]))
  const end = -Math.max(0, lines.length - rows) * rowHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}
g{transform:translateY(${end}px)}
@media (prefers-reduced-motion:no-preference){
text,g{animation-duration:${(cycleMs / 1000).toFixed(2)}s;animation-timing-function:step-end;animation-iteration-count:infinite}
g{animation-name:up}
${scrollFrames(lines, cycleMs)}
${lineFrames(lines, cycleMs).join("\n")}
}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<svg y="${padding / 2}" width="${width}" height="${height - padding}" viewBox="0 ${padding / 2} ${width} ${height - padding}">
<g>
${texts.join("\n")}
</g>
</svg>
</svg>
`
}
