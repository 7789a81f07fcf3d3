/**
 * A stand-in for the tools of a recording: asks what the original asked and, once approved, tells of the command what
 * the original told. Runs nothing: what is replayed with it is how questions and answers travel.
 */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { AnyEventMsg, type EventMsg, type EventOf } from "@colloquy/protocol/EventMsg"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Entry } from "./Recording.ts"
import { event } from "./Wire.ts"

type Exec = EventOf<"exec_approval_request" | "exec_command_begin" | "exec_command_end">

const isExec = (msg: AnyEventMsg): msg is Exec =>
  msg.type === "exec_approval_request" ||
  msg.type === "exec_command_begin" ||
  msg.type === "exec_command_end"

const execEvents = (entries: ReadonlyArray<Entry>): ReadonlyArray<Exec> =>
  entries
    .flatMap((entry) =>
      entry.dir === "s2c" && entry.message.method === "codex/event" ? [entry.message] : [],
    )
    .map((message) => Schema.decodeUnknownSync(AnyEventMsg)(event(message).msg))
    .filter(isExec)

/** What is told of a command that the original did not run. */
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

export const toolsOf = (entries: ReadonlyArray<Entry>): ToolRuntime["Service"] => {
  const events = execEvents(entries)
  return ToolRuntime.simple({
    specs: () => [],
    run: Effect.fnUntraced(function* (call, { approve, emit }) {
      const callId = call.call_id ?? ""
      const own = events.filter((msg) => msg.call_id === callId)
      const question = own.find((msg) => msg.type !== "exec_command_end")
      if (question === undefined) return "nothing was recorded of this call"
      const { command, cwd } = question
      const { decision } = yield* approve({
        _tag: "Exec",
        callId,
        command,
        cwd,
        sandbox: { mode: "read-only" },
        ...("reason" in question && question.reason !== undefined
          ? { reason: question.reason }
          : {}),
      })
      if (decision !== "approved" && decision !== "approved_for_session") return decision
      const run = own.filter(({ type }) => type !== "exec_approval_request")
      yield* Effect.forEach(run.length > 0 ? run : ranQuietly(callId), emit, { discard: true })
      return "ran"
    }),
  })
}
