/** Which events start, end or are an item, and what the item gets from them. Pure. */
import { defined } from "@colloquy/protocol/Defined"
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"
import type { WireDuration } from "@colloquy/protocol/events/WireDuration"
import { reviewText } from "../review/ReviewFindings.ts"
import type { CallItem, Item, QuestionItem, QuestionSubject } from "./Item.ts"

type RunningBase = Pick<CallItem, "id" | "turnId"> & { readonly status: "running" }
type CompletedBase = Pick<Item, "id" | "turnId"> & { readonly status: "completed" }

const millisOf = ({ nanos, secs }: WireDuration): number => secs * 1000 + nanos / 1e6

const question =
  (callId: string, kind: QuestionItem["kind"], subject: QuestionSubject) =>
  (base: RunningBase) => ({
    ...base,
    type: "question" as const,
    callId,
    kind,
    subject,
  })

const userSource = ({ source }: EventOf<"exec_command_begin">): "user_shell" | undefined =>
  source === "user_shell" ? source : undefined

const readOnlyOf = ({ read_only: readOnly }: EventOf<"mcp_tool_call_begin">) =>
  defined({ readOnly })

/** The item that the event starts and another event will end; undefined when it starts none. */
export const callStart = (msg: EventMsg): ((base: RunningBase) => CallItem) | undefined => {
  switch (msg.type) {
    case "exec_command_begin": {
      const { call_id: callId, command, cwd, parsed_cmd: parsed } = msg
      const described = defined({ parsed, source: userSource(msg) })
      return (base) => ({ ...base, type: "command", callId, command, cwd, ...described })
    }
    case "patch_apply_begin": {
      const { call_id: callId, changes } = msg
      return (base) => ({ ...base, type: "file_change", callId, changes })
    }
    case "mcp_tool_call_begin": {
      const call = { callId: msg.call_id, ...msg.invocation, ...readOnlyOf(msg) }
      return (base) => ({ ...base, type: "mcp_tool_call", ...call })
    }
    case "tool_call_begin": {
      const { arguments: args, call_id: callId, namespace, tool } = msg
      const named = { callId, tool, ...defined({ namespace }) }
      return (base) => ({ ...base, type: "tool_call", ...named, arguments: args })
    }
    case "web_search_begin":
      return (base) => ({ ...base, type: "web_search", callId: msg.call_id })
    case "exec_approval_request": {
      const { call_id: callId, command, cwd, parsed_cmd: parsed } = msg
      return question(callId, "command", { command, cwd, ...defined({ parsed }) })
    }
    case "apply_patch_approval_request":
      return question(msg.call_id, "file_change", { changes: msg.changes })
    case "tool_approval_request":
      return question(msg.call_id, "tool", { tool: msg.tool, arguments: msg.arguments })
    case "request_permissions":
      return question(msg.call_id, "permissions", { permissions: msg.permissions })
    case "request_user_input":
      return question(msg.call_id, "input", { questions: msg.questions })
    case "elicitation_request":
      return question(msg.id, "form", { server: msg.server_name, message: msg.message })
    default:
      return undefined
  }
}

/**
 * What the event makes of an open item that it ends; undefined when the event ends no item. The function gives undefined
 * for an item that the event does not belong to.
 */
export const callEnd = (msg: EventMsg): ((item: CallItem) => CallItem | undefined) | undefined => {
  switch (msg.type) {
    case "exec_command_end": {
      const { aggregated_output, exit_code: exitCode, stderr, stdout } = msg
      const output = aggregated_output ?? `${stdout}${stderr}`
      const status = exitCode === 0 ? "completed" : "failed"
      const durationMs = millisOf(msg.duration)
      return (item) =>
        item.type === "command" && item.callId === msg.call_id
          ? { ...item, status, exitCode, output, durationMs }
          : undefined
    }
    case "patch_apply_end": {
      const { success } = msg
      const status = success ? "completed" : "failed"
      return (item) =>
        item.type === "file_change" && item.callId === msg.call_id
          ? { ...item, status, success }
          : undefined
    }
    case "mcp_tool_call_end": {
      const { result } = msg
      const status = "Ok" in result ? "completed" : "failed"
      const durationMs = millisOf(msg.duration)
      return (item) =>
        item.type === "mcp_tool_call" && item.callId === msg.call_id
          ? { ...item, status, result, durationMs }
          : undefined
    }
    case "tool_call_end": {
      const { content, result } = msg
      const status = "Ok" in result ? "completed" : "failed"
      const durationMs = millisOf(msg.duration)
      return (item) =>
        item.type === "tool_call" && item.callId === msg.call_id
          ? { ...item, status, result, ...defined({ content }), durationMs }
          : undefined
    }
    case "web_search_end":
      return (item) =>
        item.type === "web_search" && item.callId === msg.call_id
          ? { ...item, status: "completed", query: msg.query }
          : undefined
    case "approval_resolved": {
      const { decision, reason } = msg
      const status = decision.startsWith("approved") ? "completed" : "declined"
      return (item) =>
        item.type === "question" && item.callId === msg.call_id
          ? { ...item, status, decision, reason }
          : undefined
    }
    default:
      return undefined
  }
}

/** The item that the event is by itself; undefined when it is none. */
export const singleItem = (msg: EventMsg): ((base: CompletedBase) => Item) | undefined => {
  switch (msg.type) {
    case "user_message": {
      const { client_id: clientId, images = [], kind = "plain", message, parts } = msg
      const named = defined({ clientId, parts })
      return (base) => ({ ...base, type: "user_message", text: message, kind, images, ...named })
    }
    case "view_image_tool_call": {
      const { call_id: callId, path } = msg
      return (base) => ({ ...base, type: "image_view", callId, path })
    }
    case "plan_update": {
      const { explanation, plan: steps } = msg
      return (base) => ({ ...base, type: "plan", explanation, steps })
    }
    case "error":
    case "warning":
      return (base) => ({ ...base, type: msg.type, message: msg.message })
    case "compacted":
      return (base) => ({ ...base, type: "compaction", message: msg.message })
    case "entered_review_mode":
      return (base) => ({ ...base, type: "review_start", text: msg.user_facing_hint })
    case "exited_review_mode":
      return (base) => ({ ...base, type: "review_end", text: reviewText(msg) })
    case "turn_aborted":
      return (base) => ({ ...base, type: "interruption", reason: msg.reason })
    default:
      return undefined
  }
}
