/** The table that a benchmark prints: one line per figure, with its aim. Pure. */

export interface Row {
  readonly name: string
  /** The figure with its unit. */
  readonly value: string
  /** What the figure is compared with, or consists of. */
  readonly beside?: string
  readonly aim?: { readonly text: string; readonly met: boolean }
}

const titles = ["measured", "figure", "beside", "aim", "met"]

const cells = (row: Row): ReadonlyArray<string> => [
  row.name,
  row.value,
  row.beside ?? "",
  row.aim?.text ?? "",
  row.aim === undefined ? "" : row.aim.met ? "yes" : "no",
]

/** Aligns the rows in columns, two spaces apart, without trailing spaces. */
export const render = (rows: ReadonlyArray<Row>): string => {
  const lines = [titles, ...rows.map(cells)]
  const widths = titles.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  const rule = widths.map((width) => "-".repeat(width))
  return [titles, rule, ...lines.slice(1)]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

/** Milliseconds with three significant digits, such as `1.23 ms`. */
export const ms = (value: number): string =>
  `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`

/** A rate, such as `48,211/s`. */
export const perSecond = (value: number): string => `${Math.round(value).toLocaleString("en-US")}/s`

/** Megabytes of 10^6 bytes. */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

/** Kibibytes of 1,024 bytes, such as `8.0 KiB`. */
export const kibibytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`
