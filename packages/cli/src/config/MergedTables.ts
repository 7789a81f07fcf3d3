/** Merges tables of a configuration. Pure. */
import * as ConfigTree from "@colloquy/config/ConfigTree"

/** The value over `before`: of two tables, the members of both; anything else replaces what was there. */
export const merged = (before: unknown, value: unknown): unknown =>
  ConfigTree.isTable(before) && ConfigTree.isTable(value)
    ? Object.fromEntries(
        [...new Set([...Object.keys(before), ...Object.keys(value)])].map((name) => [
          name,
          Object.hasOwn(value, name) ? merged(before[name], value[name]) : before[name],
        ]),
      )
    : value
