/** A history that is too long even to be summarised, made shorter from its beginning. Pure. */
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { historyTokens } from "../../log/Tokens.ts"

/**
 * Groups of items that go together or not at all: a call with the output behind it, and reasoning with what it led to.
 * Providers reject the one without the other.
 */
const unitsOf = (
  items: ReadonlyArray<ResponseItem>,
): ReadonlyArray<ReadonlyArray<ResponseItem>> => {
  const units: Array<Array<ResponseItem>> = []
  for (const item of items) {
    const unit = units.at(-1)
    const goesOn =
      item.type === "function_call_output" ||
      item.type === "custom_tool_call_output" ||
      unit?.at(-1)?.type === "reasoning"
    if (unit === undefined || !goesOn) units.push([item])
    else unit.push(item)
  }
  return units
}

/** The later half by estimated tokens, or a little more; undefined when there is nothing to leave out. */
export const laterHalf = (
  items: ReadonlyArray<ResponseItem>,
): ReadonlyArray<ResponseItem> | undefined => {
  const units = unitsOf(items)
  const enough = historyTokens(items) / 2
  let kept = 0
  let from = units.length
  while (from > 0 && kept < enough) kept += historyTokens(units[--from] ?? [])
  // The last unit alone may be more than half: then that is what stays.
  from = Math.max(from, 1)
  return from >= units.length ? undefined : units.slice(from).flat()
}
