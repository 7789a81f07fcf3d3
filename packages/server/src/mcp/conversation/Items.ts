/** A conversation as what people and the agent said and did, read of its events: one item each, oldest first. Pure. */
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"

export type Item =
  | { readonly type: "message"; readonly role: "user" | "assistant"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | {
      readonly type: "command"
      readonly call_id: string
      readonly command: ReadonlyArray<string>
      readonly cwd: string
      /** Absent while it runs. So is `output`. */
      readonly exit_code?: number
      readonly output?: string
    }
  | {
      readonly type: "patch"
      readonly call_id: string
      readonly files: ReadonlyArray<string>
      /** Absent while it is applied. */
      readonly success?: boolean
    }
  | {
      readonly type: "tool_call"
      readonly call_id: string
      readonly server: string
      readonly tool: string
      readonly arguments: unknown
      /** Absent while it runs. */
      readonly success?: boolean
    }
  | {
      readonly type: "plan"
      readonly steps: ReadonlyArray<{ readonly step: string; readonly status: string }>
    }
  | { readonly type: "error"; readonly message: string }
  | { readonly type: "interrupted"; readonly reason: string }

/** Of one text, in UTF-16 code units: an item is to be read, a log of a megabyte is not. */
const maxTextLength = 64 * 1024

const cut = (text: string): string =>
  text.length <= maxTextLength
    ? text
    : `${text.slice(0, maxTextLength)}\n[${text.length - maxTextLength} more characters]`

const begun = (msg: EventMsg): Item | undefined => {
  switch (msg.type) {
    case "user_message":
      return (msg.kind ?? "plain") === "plain"
        ? { type: "message", role: "user", text: cut(msg.message) }
        : undefined
    case "agent_message":
      return { type: "message", role: "assistant", text: cut(msg.message) }
    case "agent_reasoning":
      return { type: "reasoning", text: cut(msg.text) }
    case "exec_command_begin": {
      const { call_id, command, cwd } = msg
      return { type: "command", call_id, command, cwd }
    }
    case "patch_apply_begin":
      return { type: "patch", call_id: msg.call_id, files: Object.keys(msg.changes) }
    case "mcp_tool_call_begin": {
      const { arguments: args, server, tool } = msg.invocation
      return { type: "tool_call", call_id: msg.call_id, server, tool, arguments: args }
    }
    case "plan_update":
      return { type: "plan", steps: msg.plan }
    case "error":
      return { type: "error", message: cut(msg.message) }
    case "turn_aborted":
      return { type: "interrupted", reason: msg.reason }
    default:
      return undefined
  }
}

/** The item of that call, with what its end says. */
const ended = (item: Item, msg: EventMsg): Item => {
  if (item.type === "command" && msg.type === "exec_command_end") {
    const output = msg.aggregated_output ?? `${msg.stdout}${msg.stderr}`
    return { ...item, exit_code: msg.exit_code, output: cut(output) }
  }
  if (item.type === "patch" && msg.type === "patch_apply_end") {
    return { ...item, success: msg.success }
  }
  return item.type === "tool_call" && msg.type === "mcp_tool_call_end"
    ? { ...item, success: "Ok" in msg.result }
    : item
}

const isEnd = (msg: EventMsg) =>
  msg.type === "exec_command_end" ||
  msg.type === "patch_apply_end" ||
  msg.type === "mcp_tool_call_end"

export const itemsOf = (events: ReadonlyArray<Event>): ReadonlyArray<Item> => {
  const items: Array<Item> = []
  /** Where the item of a running call stands. */
  const calls = new Map<string, number>()
  for (const { msg } of events) {
    if (isEnd(msg)) {
      const place = calls.get(msg.call_id)
      const item = place === undefined ? undefined : items[place]
      if (place !== undefined && item !== undefined) items[place] = ended(item, msg)
      continue
    }
    const item = begun(msg)
    if (item === undefined) continue
    if ("call_id" in item) calls.set(item.call_id, items.length)
    items.push(item)
  }
  return items
}

/** In characters of JSON: what goes out as one message. */
const maxTotalLength = 4 * 1024 * 1024

/** The newest of them that fit, and how many older ones do not. */
export const newest = (
  items: ReadonlyArray<Item>,
): { readonly items: ReadonlyArray<Item>; readonly omitted: number } => {
  let length = 0
  let first = items.length
  while (first > 0) {
    length += JSON.stringify(items[first - 1]).length + 1
    if (length > maxTotalLength) break
    first--
  }
  return { items: items.slice(first), omitted: first }
}
