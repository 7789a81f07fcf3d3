/**
 * A stand-in for the tools of a recording. It asks the original's questions and emits the original's events for the
 * call, in that order, and runs nothing: replays with it test how questions, answers and events are delivered.
 * `packages/tools/test/Recordings.long.live.test.ts` checks that the real tools emit the same events.
 */
import { parsedCommand } from "@colloquy/tools/policy/ParsedCommand"
import type { ApprovalRequest } from "@colloquy/core/approvals/Approval"
import { type ToolContext, ToolRuntime } from "@colloquy/core/ToolRuntime"
import { AnyEventMsg, type EventMsg } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Schema from "effect/Schema"
import type { Entry } from "./Recording.ts"
import { event, type WireMessage } from "./Wire.ts"

const kinds = [
  "exec_approval_request",
  "apply_patch_approval_request",
  "exec_command_begin",
  "exec_command_output_delta",
  "exec_command_end",
  "patch_apply_begin",
  "patch_apply_end",
  "turn_diff",
  "background_event",
  "plan_update",
] as const

type ToolEvent = Extract<EventMsg, { readonly type: (typeof kinds)[number] }>
type Question = Extract<
  ToolEvent,
  { readonly type: "exec_approval_request" | "apply_patch_approval_request" }
>

const isToolKind = (msg: AnyEventMsg): msg is ToolEvent =>
  (kinds as ReadonlyArray<string>).includes(msg.type)

const isQuestion = (msg: ToolEvent): msg is Question =>
  msg.type === "exec_approval_request" || msg.type === "apply_patch_approval_request"

/** Byte lists as base64, and addresses of directories as their paths: the form of this server. */
const inServerForm = (msg: Readonly<Record<string, unknown>>): unknown => ({
  ...msg,
  ...(Array.isArray(msg["chunk"])
    ? { chunk: Base64.encode(Uint8Array.from(msg["chunk"].filter(Number.isInteger))) }
    : {}),
  ...(typeof msg["cwd"] === "string" ? { cwd: msg["cwd"].replace(/^file:\/\//, "") } : {}),
})

interface OfCall {
  /** `plan_update` for the plan, whose event names no call. */
  readonly call: string
  readonly msg: ToolEvent
}

/** True for an event of either dialect. */
const isCodexEvent = ({ method = "", params = {} }: WireMessage) =>
  /^codex\/event(\/|$)/.test(method) && "msg" in params

/** The events of calls, in order. A turn's diff is sent again after every response: once is enough. */
const toolEventsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<OfCall> => {
  const toolEvents: Array<OfCall> = []
  let call = ""
  for (const entry of entries) {
    if (entry.dir !== "s2c" || !isCodexEvent(entry.message)) continue
    const msg = Schema.decodeUnknownSync(AnyEventMsg)(inServerForm(event(entry.message).msg))
    if (!isToolKind(msg)) continue
    if ("call_id" in msg) call = msg.call_id
    if (msg.type === "turn_diff" && toolEvents.some((one) => one.msg.type === "turn_diff")) continue
    toolEvents.push({ call: msg.type === "plan_update" ? msg.type : call, msg })
  }
  return toolEvents
}

/** The events of a command that the original did not run. */
const ranQuietly = (callId: string): ReadonlyArray<EventMsg> => [
  { type: "exec_command_begin", call_id: callId, command: [], cwd: "/workspace" },
  {
    type: "exec_command_end",
    call_id: callId,
    stdout: "",
    stderr: "",
    exit_code: 0,
    duration: { secs: 0, nanos: 0 },
  },
]

const requestOf = (msg: ToolEvent): ApprovalRequest => {
  const reason = "reason" in msg && msg.reason !== undefined ? { reason: msg.reason } : {}
  switch (msg.type) {
    case "exec_approval_request":
    case "exec_command_begin":
      return {
        _tag: "Exec",
        callId: msg.call_id,
        command: msg.command,
        cwd: msg.cwd,
        sandbox: { mode: "danger-full-access" },
        parsedCommand: parsedCommand(msg.command),
        ...reason,
      }
    case "apply_patch_approval_request":
      return { _tag: "Patch", callId: msg.call_id, changes: msg.changes, ...reason }
    default:
      throw new Error(`nothing to ask about ${msg.type}`)
  }
}

/** Replaces the events where the tools of this server emit other ones. */
export interface Otherwise {
  /** Default: as recorded. */
  readonly amend?: (msg: EventMsg) => ReadonlyArray<EventMsg>
  /** The command does not end by itself. */
  readonly hangs?: boolean
}

export const toolsOf = (
  entries: ReadonlyArray<Entry>,
  { amend = (msg) => [msg], hangs = false }: Otherwise = {},
): ToolRuntime["Service"] => {
  const toolEvents = toolEventsOf(entries)
  const asks = toolEvents.some(({ msg }) => isQuestion(msg))

  const ask = (msg: ToolEvent, { approve }: ToolContext) =>
    Effect.map(approve(requestOf(msg)), ({ decision }) =>
      decision === "approved" || decision === "approved_for_session" ? undefined : decision,
    )

  return ToolRuntime.simple({
    specs: () => [],
    run: Effect.fnUntraced(function* (toolCall, context) {
      const callId = toolCall.call_id ?? ""
      const own = toolEvents.flatMap(({ call, msg }) =>
        call === callId ||
        (call === "plan_update" && "name" in toolCall && toolCall.name === "update_plan")
          ? [msg]
          : [],
      )
      const [first] = own
      if (first === undefined) return "nothing was recorded of this call"
      // Asked before and approved for the session: the grant is remembered.
      const questions = asks && !own.some(isQuestion) ? [first] : []
      for (const msg of questions) {
        const refused = yield* ask(msg, context)
        if (refused !== undefined) return refused
      }
      for (const msg of own) {
        if (isQuestion(msg)) {
          const refused = yield* ask(msg, context)
          if (refused !== undefined) return refused
        } else yield* Effect.forEach(amend(msg), context.emit, { discard: true })
      }
      const last = own.at(-1)
      if (last !== undefined && isQuestion(last)) {
        yield* Effect.forEach(ranQuietly(callId), context.emit, { discard: true })
      }
      return hangs ? yield* Effect.never : "ran"
    }),
  })
}
