/** From the core's events to the messages of a call's progress: one short line per item, no markup. Pure. */
import { commandText, pathText } from "@colloquy/core/question/CommandText"
import type { EventMsg, EventOf } from "@colloquy/protocol/EventMsg"

/** Longest message in UTF-16 code units: it has to fit beside a spinner. */
const maxLength = 100

/** How much of a text is read, in UTF-16 code units, to make one line of it: white space is folded. */
const maxLooked = 8 * maxLength

/** The text on one line, cut where it is too long, without the control characters that a terminal would execute. */
const short = (text: string): string => {
  const line = text.slice(0, maxLooked).replaceAll(/\s+/g, " ").trim()
  if (line.length <= maxLength && text.length <= maxLooked) return pathText(line)
  // Never cut between the two halves of a surrogate pair.
  return pathText(`${line.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "")}…`)
}

const command = (words: ReadonlyArray<string>): string => {
  // For a shell with a script only the script is shown.
  const [, flag, script] = words
  const isScript = words.length === 3 && (flag === "-c" || flag === "-lc") && script !== undefined
  return `\`${short(isScript ? script : commandText(words.slice(0, maxLooked)))}\``
}

const files = (changes: Readonly<Record<string, unknown>>): string => {
  const count = Object.keys(changes).length
  return count === 1 ? "1 file" : `${count} files`
}

const planMessage = ({ plan }: EventOf<"plan_update">): string => {
  const done = plan.filter(({ status }) => status === "completed").length
  const now = plan.find(({ status }) => status === "in_progress")
  const step = now === undefined ? "" : `, now: ${short(now.step)}`
  return `plan: ${done} of ${plan.length} steps done${step}`
}

const mcpName = ({
  invocation,
}: EventOf<"mcp_tool_call_begin"> | EventOf<"mcp_tool_call_end">): string =>
  short(`${invocation.server}.${invocation.tool}`)

/** The line for a call of the model. */
const callMessage = (msg: EventMsg): string | undefined => {
  switch (msg.type) {
    case "exec_command_begin":
      return `running ${command(msg.command)}`
    case "exec_command_end":
      return `command ended with exit code ${msg.exit_code}`
    case "patch_apply_begin":
      return `applying a patch to ${files(msg.changes)}`
    case "patch_apply_end":
      return msg.success ? "patch applied" : "patch failed"
    case "plan_update":
      return planMessage(msg)
    case "mcp_tool_call_begin":
      return `calling ${mcpName(msg)}`
    case "mcp_tool_call_end":
      return `${mcpName(msg)} ${"Ok" in msg.result ? "answered" : "failed"}`
    case "tool_call_begin":
      return `calling ${short(msg.tool)}`
    case "tool_call_end":
      return `${short(msg.tool)} ${"Ok" in msg.result ? "answered" : "failed"}`
    case "web_search_begin":
      return "searching the web"
    case "view_image_tool_call":
      return `looking at ${short(msg.path)}`
    default:
      return undefined
  }
}

/** The line for a question or its resolution. */
const questionMessage = (msg: EventMsg): string | undefined => {
  switch (msg.type) {
    case "exec_approval_request":
      return `asking whether to run ${command(msg.command)}`
    case "apply_patch_approval_request":
      return `asking whether to patch ${files(msg.changes)}`
    case "tool_approval_request":
      return `asking whether to call ${short(msg.server === undefined ? msg.tool : `${msg.server}.${msg.tool}`)}`
    case "request_permissions":
      return "asking for further permissions"
    case "request_user_input":
      return `asking: ${short(msg.questions.map(({ question }) => question).join(" "))}`
    case "elicitation_request":
      return `asking for tool server ${short(msg.server_name)}`
    case "approval_resolved":
      return `decided: ${msg.decision.replaceAll("_", " ")}`
    default:
      return undefined
  }
}

/** The line for this event; undefined for an event that is no item. */
export const progressMessage = (msg: EventMsg): string | undefined => {
  switch (msg.type) {
    case "task_started":
      return "turn begun"
    case "entered_review_mode":
      return `reviewing: ${short(msg.user_facing_hint)}`
    case "agent_message":
      return `message: ${short(msg.message)}`
    case "agent_reasoning":
      return `thinking: ${short(msg.text)}`
    case "background_event":
    case "stream_error":
    case "warning":
      return short(msg.message)
    case "error":
      return `error: ${short(msg.message)}`
    default:
      return callMessage(msg) ?? questionMessage(msg)
  }
}
