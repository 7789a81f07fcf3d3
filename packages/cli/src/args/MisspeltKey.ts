/** Finds a misspelt key in a table whose misspelt keys are errors; `UnknownKeys.ts` warns about the other unknown ones. */
import { type ConfigFault, faultAt } from "@colloquy/config/ConfigFault"
import { type ConfigTree, get, isTable } from "@colloquy/config/ConfigTree"
import { nearest } from "@colloquy/protocol/Nearest"

/** The fault of the first key of the table that is not one of these and resembles one. */
export const misspeltKey = (
  tree: ConfigTree,
  table: string,
  fields: Readonly<Record<string, unknown>>,
): ConfigFault | undefined => {
  const known = Object.keys(fields)
  const given = get(tree, table)
  for (const key of isTable(given) ? Object.keys(given) : []) {
    const meant = known.includes(key) ? undefined : nearest(key, known)
    if (meant === undefined) continue
    return faultAt([table, key], `unknown field \`${key}\`, did you mean \`${meant}\`?`)
  }
  return undefined
}
