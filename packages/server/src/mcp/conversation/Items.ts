/**
 * The items of a conversation as its resource shows them: what the user and the agent said and did, oldest first, in JSON.
 * A presentation of the core's fold (`core/log/Items.ts`): kinds that the resource does not show are left out, long texts
 * are cut. Pure. The shapes are on the wire and do not follow changes of the core.
 */
import type * as Core from "@colloquy/core/log/Item"
import * as Items from "@colloquy/core/log/Items"
import type { Event } from "@colloquy/protocol/EventMsg"

/** One item of the resource. */
export type ResourceItem =
  | { readonly type: "message"; readonly role: "user" | "assistant"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | {
      readonly type: "command"
      readonly call_id: string
      readonly command: ReadonlyArray<string>
      readonly cwd: string
      /** Absent while it runs, like `output`. */
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
      /** Absent for a tool of the application. */
      readonly server?: string
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

/** UTF-16 code units of one text: a resource is made to be read, a log of a megabyte is not. */
const maxTextLength = 64 * 1024

const cut = (text: string): string =>
  text.length <= maxTextLength
    ? text
    : `${text.slice(0, maxTextLength)}\n[${text.length - maxTextLength} more characters]`

const commandItem = ({
  callId,
  command,
  cwd,
  exitCode,
  output,
}: Core.CommandItem): ResourceItem => ({
  type: "command",
  call_id: callId,
  command,
  cwd,
  ...(exitCode === undefined ? {} : { exit_code: exitCode }),
  ...(output === undefined ? {} : { output: cut(output) }),
})

const patchItem = ({ callId, changes, success }: Core.FileChangeItem): ResourceItem => ({
  type: "patch",
  call_id: callId,
  files: Object.keys(changes),
  ...(success === undefined ? {} : { success }),
})

const toolCallItem = (item: Core.McpToolCallItem | Core.ToolCallItem): ResourceItem => ({
  type: "tool_call",
  call_id: item.callId,
  ...(item.type === "mcp_tool_call" ? { server: item.server } : {}),
  tool: item.tool,
  arguments: item.arguments,
  ...(item.result === undefined ? {} : { success: "Ok" in item.result }),
})

/** Undefined for an item that the resource does not show. */
const presented = (item: Core.Item): ResourceItem | undefined => {
  switch (item.type) {
    case "user_message":
      return item.kind === "plain"
        ? { type: "message", role: "user", text: cut(item.text) }
        : undefined
    case "agent_message":
      return { type: "message", role: "assistant", text: cut(item.text) }
    case "reasoning":
      return { type: "reasoning", text: cut(item.text) }
    case "command":
      return commandItem(item)
    case "file_change":
      return patchItem(item)
    case "mcp_tool_call":
    case "tool_call":
      return toolCallItem(item)
    case "plan":
      return { type: "plan", steps: item.steps }
    case "error":
      return { type: "error", message: cut(item.message) }
    case "interruption":
      return { type: "interrupted", reason: item.reason }
    default:
      return undefined
  }
}

/** True for a text that is still being received: the resource shows recorded texts only. */
const isPartial = (item: Core.Item): boolean => Items.isText(item) && item.status === "running"

/** The items that the resource shows of a conversation's events, oldest first. */
export const resourceItemsOf = (events: ReadonlyArray<Event>): ReadonlyArray<ResourceItem> =>
  Items.itemsOf(events).flatMap((item) => {
    const shown = isPartial(item) ? undefined : presented(item)
    return shown === undefined ? [] : [shown]
  })

/** Characters of all items as JSON: they are sent as one message. */
const maxTotalLength = 4 * 1024 * 1024

/** The newest items that fit into a message, and the number of older ones that do not. */
export const newest = (
  items: ReadonlyArray<ResourceItem>,
): { readonly items: ReadonlyArray<ResourceItem>; readonly omitted: number } => {
  let length = 0
  let first = items.length
  while (first > 0) {
    length += JSON.stringify(items[first - 1]).length + 1
    if (length > maxTotalLength) break
    first--
  }
  return { items: items.slice(first), omitted: first }
}
