/** Help pages of at most 80 columns: longer lines go on below the column of their descriptions. Pure. */
import * as CliOutput from "effect/cli/CliOutput"
import type { HelpDoc } from "effect/cli/HelpDoc"
import { rowsOf, widthOf } from "./Width.ts"

/** Most columns of a help page. */
const helpColumns = 80

/** Widest column of names: behind a wider one there is no room for a description. */
const maxIndent = 50

const wrapped = (line: string): ReadonlyArray<string> => {
  if (widthOf(line) <= helpColumns) return [line]
  const head = /^\s+\S.*?\s{2,}(?=\S)/u.exec(line)?.[0] ?? /^\s*/u.exec(line)?.[0] ?? ""
  const rest = line.slice(head.length)
  if (widthOf(head) > maxIndent) {
    return [
      ...rowsOf(head.trimEnd(), helpColumns),
      ...rowsOf(rest, helpColumns - 6).map((row) => `      ${row}`),
    ]
  }
  const indent = " ".repeat(widthOf(head))
  return rowsOf(rest, helpColumns - widthOf(head)).map(
    (row, index) => `${index === 0 ? head : indent}${row}`,
  )
}

const standard = CliOutput.defaultFormatter()

/** The page of a command. */
export const formatPage = (page: HelpDoc): string =>
  standard.formatHelpDoc(page).split("\n").flatMap(wrapped).join("\n")

/** The layer that formats them. */
export const layer = CliOutput.layer({
  formatCliError: (error) => standard.formatCliError(error),
  formatError: (error) => standard.formatError(error),
  formatErrors: (errors) => standard.formatErrors(errors),
  formatVersion: (name, version) => standard.formatVersion(name, version),
  formatHelpDoc: formatPage,
})
