/** Shortens a history that is too long for a request for its summary, from its beginning. Pure. */
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { historyTokens } from "../../log/Tokens.ts"

/**
 * Groups of items that must stay together: a call and its output, and reasoning and the item after it. Providers reject
 * one without the other.
 */
const unitsOf = (
  items: ReadonlyArray<ResponseItem>,
): ReadonlyArray<ReadonlyArray<ResponseItem>> => {
  const units: Array<Array<ResponseItem>> = []
  for (const item of items) {
    const unit = units.at(-1)
    const isContinued =
      item.type === "function_call_output" ||
      item.type === "custom_tool_call_output" ||
      unit?.at(-1)?.type === "reasoning"
    if (unit === undefined || !isContinued) units.push([item])
    else unit.push(item)
  }
  return units
}

/** The later half by estimated tokens, or a little more; undefined when nothing can be left out. */
export const laterHalf = (
  items: ReadonlyArray<ResponseItem>,
): ReadonlyArray<ResponseItem> | undefined => {
  const units = unitsOf(items)
  const enough = historyTokens(items) / 2
  let kept = 0
  let from = units.length
  while (from > 0 && kept < enough) kept += historyTokens(units[--from] ?? [])
  // The last unit may be more than half by itself; then it is kept.
  from = Math.max(from, 1)
  return from >= units.length ? undefined : units.slice(from).flat()
}
