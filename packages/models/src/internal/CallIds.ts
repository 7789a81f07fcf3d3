/** The ids of the tool calls of one response. Pure. */
import type { ModelRequest } from "@colloquy/core/ModelClient"

/** The ids of the calls in the history of a request. */
export const historyCallIds = (input: ModelRequest["input"]): ReadonlyArray<string> =>
  input.flatMap((item) =>
    item.type === "function_call" ||
    item.type === "custom_tool_call" ||
    item.type === "local_shell_call"
      ? [item.call_id ?? ""]
      : [],
  )

/**
 * Returns a function that yields the id of each call in order: the provider's, or `call_<n>` for a
 * call without one, where `n` counts the calls of the history and of this response. A generated id
 * differs from every id known so far.
 *
 * @param history ids of the calls in the history; evaluated at the first call without an id, so that
 * a response whose calls all have ids costs the same after any history
 * @param others ids that calls of this response have
 */
export const makeCallIds = (
  history: () => ReadonlyArray<string>,
  others: ReadonlyArray<string> = [],
): ((given: string | null | undefined) => string) => {
  const taken = new Set(others)
  let count = 0
  let historyCount: number | undefined
  const readHistory = (): number => {
    const ids = history()
    for (const id of ids) taken.add(id)
    return ids.length
  }
  return (given) => {
    let n = count++
    let id = given ?? ""
    if (id === "") {
      historyCount ??= readHistory()
      n += historyCount
      do id = `call_${n++}`
      while (taken.has(id))
    }
    taken.add(id)
    return id
  }
}
