/**
 * A stand-in for the tools of a recording of app-server v2. It asks the questions and emits the events that are the recorded
 * items of a call, in their order, and runs nothing.
 */
import { refusedCall, ToolRuntime, type ToolContext } from "@colloquy/core/ToolRuntime"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { FileChange } from "@colloquy/protocol/events/PatchEvents"
import type { UserInputQuestion } from "@colloquy/protocol/events/QuestionEvents"
import { parsedCommand } from "@colloquy/tools/policy/ParsedCommand"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type { Entry } from "./Recording.ts"
import { at, textAt } from "./ThreadNames.ts"
import { planCall } from "./ThreadScript.ts"
import type { WireMessage } from "./Wire.ts"

const elicitation = "mcpServer/elicitation/request"
const userInput = "item/tool/requestUserInput"

/** The messages of the recording about each call, in order. */
const byCall = (entries: ReadonlyArray<Entry>): ReadonlyMap<string, ReadonlyArray<WireMessage>> => {
  const calls = new Map<string, Array<WireMessage>>()
  let plans = 0
  let patch: unknown
  let toolServerCall: unknown
  const seen = new Set<string>()
  for (const entry of entries) {
    if (entry.dir !== "s2c" || entry.message.method === undefined) continue
    const { message } = entry
    const { params } = message
    if (at(params, "item", "type") === "mcpToolCall") toolServerCall = at(params, "item", "id")
    const isDiff = message.method === "turn/diff/updated"
    const call =
      message.method === "turn/plan/updated"
        ? planCall(plans++)
        : isDiff
          ? patch
          : message.method === elicitation
            ? toolServerCall
            : (at(params, "item", "id") ?? at(params, "itemId") ?? at(params, "callId"))
    // The diff follows the patch; what repeats it later follows no patch.
    if (message.method === "item/completed" && at(params, "item", "type") === "fileChange") {
      patch = at(params, "item", "id")
    } else if (isDiff) patch = undefined
    // Subscribers get the same messages.
    const key = JSON.stringify([message.id, message.method, params])
    if (typeof call !== "string" || (seen.has(key) && !/delta$/i.test(message.method ?? "")))
      continue
    seen.add(key)
    calls.set(call, [...(calls.get(call) ?? []), message])
  }
  return calls
}

const argvOf = (command: string): ReadonlyArray<string> => {
  const [, program, quoted, plain] = /^(\S+) -lc (?:'(.*)'|(.*))$/s.exec(command) ?? []
  return program === undefined
    ? command.split(" ")
    : [program, "-lc", quoted?.replaceAll(`'\\''`, "'") ?? plain ?? ""]
}

const durationOf = (item: unknown) => {
  const ms = Number(at(item, "durationMs") ?? 0)
  return { secs: Math.floor(ms / 1000), nanos: (ms % 1000) * 1e6 }
}

const changeOf = (change: unknown): readonly [string, FileChange] => {
  const [path, diff] = [String(at(change, "path")), String(at(change, "diff"))]
  switch (at(change, "kind", "type")) {
    case "add":
      return [path, { add: { content: diff } }]
    case "delete":
      return [path, { delete: { content: diff } }]
    default: {
      const moved = at(change, "kind", "move_path")
      const hunks = diff.replace(/\n\nMoved to: .*$/s, "")
      return [
        path,
        { update: { unified_diff: hunks, move_path: typeof moved === "string" ? moved : null } },
      ]
    }
  }
}

const changesOf = (item: unknown): Readonly<Record<string, FileChange>> => {
  const changes = at(item, "changes")
  return Object.fromEntries(Array.isArray(changes) ? changes.map(changeOf) : [])
}

const began = (callId: string, item: unknown): EventMsg | undefined => {
  switch (at(item, "type")) {
    case "commandExecution": {
      const command = argvOf(String(at(item, "command")))
      return {
        type: "exec_command_begin",
        call_id: callId,
        command,
        cwd: String(at(item, "cwd")),
        parsed_cmd: parsedCommand(command),
      }
    }
    case "fileChange":
      return {
        type: "patch_apply_begin",
        call_id: callId,
        auto_approved: true,
        changes: changesOf(item),
      }
    case "mcpToolCall":
      return {
        type: "mcp_tool_call_begin",
        call_id: callId,
        invocation: {
          server: String(at(item, "server")),
          tool: String(at(item, "tool")),
          arguments: at(item, "arguments"),
        },
        ...(at(item, "readOnlyHint") === true ? { read_only: true } : {}),
      }
    case "dynamicToolCall":
      return {
        type: "tool_call_begin",
        call_id: callId,
        tool: String(at(item, "tool")),
        arguments: at(item, "arguments"),
      }
    case "imageView":
      return { type: "view_image_tool_call", call_id: callId, path: String(at(item, "path")) }
    default:
      return undefined
  }
}

const ended = (callId: string, item: unknown): EventMsg | undefined => {
  const begin = began(callId, item)
  switch (begin?.type) {
    case "exec_command_begin": {
      const output = textAt(item, "aggregatedOutput")
      return {
        type: "exec_command_end",
        call_id: callId,
        stdout: output,
        stderr: "",
        aggregated_output: output,
        exit_code: Number(at(item, "exitCode") ?? -1),
        duration: durationOf(item),
      }
    }
    case "patch_apply_begin":
      return {
        type: "patch_apply_end",
        call_id: callId,
        stdout: "",
        stderr: "",
        success: at(item, "status") === "completed",
      }
    case "mcp_tool_call_begin": {
      const error = at(item, "error", "message")
      const isError = at(item, "status") === "failed"
      return {
        type: "mcp_tool_call_end",
        call_id: callId,
        invocation: begin.invocation,
        duration: durationOf(item),
        result:
          typeof error === "string"
            ? { Err: error }
            : { Ok: { ...(at(item, "result") as object), ...(isError ? { isError } : {}) } },
      }
    }
    default:
      return undefined
  }
}

/** Asks the recorded question; undefined for a message that is none. */
const ask = (
  callId: string,
  { id, method, params }: WireMessage,
  item: unknown,
  context: ToolContext,
) => {
  if (id === undefined) return undefined
  const reason = at(params, "reason")
  const justification = typeof reason === "string" ? { justification: reason } : {}
  switch (method) {
    case "item/commandExecution/requestApproval": {
      const command = argvOf(String(at(params, "command")))
      return context.approve({
        _tag: "Exec",
        callId,
        command,
        cwd: String(at(params, "cwd")),
        sandbox: { mode: "danger-full-access" },
        parsedCommand: parsedCommand(command),
        ...justification,
      })
    }
    case "item/permissions/requestApproval": {
      const network = at(params, "permissions", "network", "enabled") === true
      const write = at(params, "permissions", "fileSystem", "write")
      return context.approve({
        _tag: "Permissions",
        callId,
        permissions: {
          ...(network ? { network } : {}),
          ...(Array.isArray(write) ? { write: write.map(String) } : {}),
        },
        cwd: String(at(params, "cwd")),
        ...justification,
      })
    }
    case elicitation:
      // A form of the tool server is no approval.
      if (at(params, "_meta") === null) return undefined
      return context.approve({
        _tag: "Tool",
        callId,
        server: textAt(params, "serverName"),
        tool: textAt(params, "_meta", "tool_name"),
        arguments: at(params, "_meta", "tool_params"),
        annotations: at(params, "_meta", "tool_annotations") as Readonly<Record<string, unknown>>,
      })
    case "item/fileChange/requestApproval":
      return context.approve({ _tag: "Patch", callId, changes: changesOf(item), ...justification })
    default:
      return undefined
  }
}

/** Asks the recorded questions of the agent. */
const askPerson = (callId: string, params: unknown, context: ToolContext) => {
  const questions = at(params, "questions")
  return context.requestInput({
    callId,
    questions: (Array.isArray(questions) ? questions : []).map((one) => ({
      id: textAt(one, "id"),
      header: textAt(one, "header"),
      question: textAt(one, "question"),
      is_other: at(one, "isOther") === true,
      is_secret: at(one, "isSecret") === true,
      options: at(one, "options") as UserInputQuestion["options"],
    })),
  })
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null)

const eventOf = (callId: string, { method, params }: WireMessage): EventMsg | undefined => {
  const item = at(params, "item")
  switch (method) {
    case "item/commandExecution/outputDelta":
      return {
        type: "exec_command_output_delta",
        call_id: callId,
        stream: "stdout",
        chunk: Base64.encode(String(at(params, "delta"))),
      }
    case "item/completed":
      return at(item, "status") === "declined" ? undefined : ended(callId, item)
    case "turn/diff/updated":
      return { type: "turn_diff", unified_diff: String(at(params, "diff")) }
    case "turn/plan/updated": {
      const plan = at(params, "plan")
      return {
        type: "plan_update",
        explanation: textOrNull(at(params, "explanation")),
        plan: (Array.isArray(plan) ? plan : []).map((step) => ({
          step: String(at(step, "step")),
          status:
            at(step, "status") === "inProgress"
              ? "in_progress"
              : (at(step, "status") as "pending" | "completed"),
        })),
      }
    }
    default:
      return undefined
  }
}

const run = Effect.fnUntraced(function* (
  callId: string,
  own: ReadonlyArray<WireMessage>,
  context: ToolContext,
  more: object = {},
) {
  const first = own.find(({ method }) => method === "item/started")
  const item = at(first?.params, "item")
  const begin = first === undefined ? undefined : began(callId, item)
  const isAsked = own.some(({ id, method }) => id !== undefined && method !== elicitation)
  const emitBegin = begin === undefined ? Effect.void : context.emit({ ...begin, ...more })
  if (!isAsked) yield* emitBegin
  for (const message of own) {
    // The approval of a call, which the original asks in the same way, has `_meta`.
    if (message.method === elicitation && at(message.params, "_meta") === null) {
      yield* context.elicit({
        server: String(at(message.params, "serverName")),
        message: String(at(message.params, "message")),
        requestedSchema: at(message.params, "requestedSchema") as Readonly<Record<string, unknown>>,
      })
    }
    if (message.method === userInput) yield* askPerson(callId, message.params, context)
    const question = ask(callId, message, item, context)
    if (question !== undefined) {
      const { decision } = yield* question
      if (decision !== "approved" && decision !== "approved_for_session") return decision
      if (isAsked) yield* emitBegin
    }
    const event = eventOf(callId, message)
    if (event !== undefined) yield* context.emit(event)
  }
  const hasEnded = own.some(({ method }) => method === "item/completed") || begin === undefined
  return hasEnded ? "ran" : yield* Effect.never
})

/** The tools of a recording. A call that the recording does not show to end does not end. */
export const threadTools = (entries: ReadonlyArray<Entry>): ToolRuntime["Service"] => {
  const calls = byCall(entries)
  const userCommands = [...calls.values()].filter(
    ([first]) => at(first?.params, "item", "source") === "userShell",
  )
  return ToolRuntime.simple({
    specs: () => [],
    run: ({ call_id }, context) => {
      const callId = call_id ?? ""
      const own = calls.get(callId)
      return own === undefined
        ? Effect.succeed(refusedCall("unsupported call: shell"))
        : run(callId, own, context)
    },
    runUserCommand: (_, callId, context) =>
      Effect.map(
        run(callId, userCommands.shift() ?? [], context, { source: "user_shell" }),
        (output) => ({ output }),
      ),
  })
}
