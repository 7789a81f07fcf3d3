/** What the turns that have not ended wait for, by the events of their conversations: for errors of tests. Pure. */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { EventLog } from "@colloquy/simulation/EventLaws"
import type { EventLogs } from "./EventLogs.ts"

/** Longest text of a message or of an input of a tool. */
const maxShownChars = 80

const shown = (value: unknown): string =>
  (JSON.stringify(value) ?? "nothing").slice(0, maxShownChars)

/** What an event begins: a call or a question; undefined: nothing. */
const begunBy = ({ msg }: Event): string | undefined => {
  switch (msg.type) {
    case "tool_call_begin":
      return `the tool ${msg.tool} runs with ${shown(msg.arguments)}`
    case "mcp_tool_call_begin":
      return `the tool ${msg.invocation.tool} of ${msg.invocation.server} runs with ${shown(msg.invocation.arguments)}`
    case "exec_command_begin":
      return `the command ${shown(msg.command)} runs`
    case "tool_approval_request":
      return `the approval of the tool ${msg.tool} is pending`
    case "exec_approval_request":
      return `the approval of the command ${shown(msg.command)} is pending`
    case "request_permissions":
      return "the approval of further permissions is pending"
    case "apply_patch_approval_request":
      return "the approval of a patch is pending"
    default:
      return undefined
  }
}

const ends: ReadonlySet<string> = new Set([
  "tool_call_end",
  "mcp_tool_call_end",
  "exec_command_end",
  "approval_resolved",
])

/** What a turn waits for. */
const waitingFor = (turn: EventLog): ReadonlyArray<string> => {
  const begun = new Map<string, string>()
  for (const event of turn) {
    if (!("call_id" in event.msg)) continue
    const what = begunBy(event)
    if (what !== undefined) begun.set(event.msg.call_id, what)
    else if (ends.has(event.msg.type)) begun.delete(event.msg.call_id)
  }
  return begun.size === 0 ? ["the model has not responded"] : [...begun.values()]
}

const turnsOf = (log: EventLog): ReadonlyArray<string> => {
  const start = log.findLast(({ msg }) => msg.type === "task_started")
  if (start === undefined) return []
  const turn = log.filter(({ id }) => id === start.id)
  if (turn.some(({ msg }) => isTerminal(msg))) return []
  const input = turn.flatMap(({ msg }) => (msg.type === "user_message" ? [msg.message] : []))
  const what = waitingFor(turn).join(", and ")
  return [`in the turn ${input[0] === undefined ? start.id : shown(input[0])}, ${what}`]
}

/** What each turn that runs waits for, one text for each. */
export const waitingIn = (logs: EventLogs): ReadonlyArray<string> =>
  logs.conversations.flatMap((id) => turnsOf(logs.of(id)))
