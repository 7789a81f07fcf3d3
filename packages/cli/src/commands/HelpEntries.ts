/** Names with descriptions as rows of at most 80 columns. Pure. */
import { rowsOf, widthOf } from "../terminal/Width.ts"

/** A name and what it means. */
export type Entry = readonly [name: string, description: string]

/** Most columns of a help page. */
const columns = 80

/** The rows of the entries, their descriptions at the same column; a name that reaches it has a row of its own. */
export const entryRows = (entries: ReadonlyArray<Entry>, column: number): ReadonlyArray<string> =>
  entries.flatMap(([name, description]) => {
    const rows = rowsOf(description, columns - column)
    const head = `  ${name}`
    const fits = widthOf(head) < column - 1
    const [first = "", ...rest] = rows
    const indent = " ".repeat(column)
    return fits
      ? [head.padEnd(column) + first, ...rest.map((row) => indent + row)]
      : [head, ...rows.map((row) => indent + row)]
  })
