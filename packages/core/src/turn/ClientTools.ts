/**
 * Offers the tools of the clients to the model beside those of this process, and calls them: reports the begin and the end of
 * each call, checks its arguments, and has a client run it. Whatever becomes of a call, it ends and the model reads of it.
 */
import { compile } from "@colloquy/json-schema/SchemaCheck"
import { defined } from "@colloquy/protocol/Defined"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import { wireDuration } from "@colloquy/protocol/events/WireDuration"
import { parseJson } from "@colloquy/protocol/Json"
import { nullsAbsentIn } from "@colloquy/protocol/NullAsAbsent"
import type { ToolOutputPart } from "@colloquy/protocol/ResponseItem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ApprovalReason, ClientOutcome } from "../approvals/Approval.ts"
import { type ClientTool, offeredName } from "../ClientTool.ts"
import type { ToolSpec } from "../ModelClient.ts"
import type { ToolCall, ToolResult, TurnTools } from "../ToolRuntime.ts"
import { schemaFaultText } from "./SchemaFaultText.ts"
import type { TurnPort } from "./TurnPort.ts"

/** Most text of one result, in UTF-16 code units: what the model and the log get of it. */
const maxChars = 1024 * 1024

type Port = Pick<TurnPort, "callClient" | "emit">
type Begin = EventOf<"tool_call_begin">
type End = EventOf<"tool_call_end">

const specOf = (tool: ClientTool): ToolSpec => ({
  type: "function",
  name: offeredName(tool),
  description: tool.description,
  // Providers reject the schema of an object without `properties`.
  parameters: { properties: {}, ...tool.inputSchema },
})

const specName = (spec: ToolSpec): string => ("name" in spec ? spec.name : spec.type)

/** The arguments as the client gets them, or what is wrong with them. */
const argumentsOf = (tool: ClientTool, text: string): Result.Result<unknown, string> => {
  const json = parseJson(text.trim() === "" ? "{}" : text)
  if (Result.isFailure(json)) return Result.fail(json.failure.detail)
  const compiled = compile(tool.inputSchema)
  if (Result.isFailure(compiled)) return Result.fail(compiled.failure)
  const faults = compiled.success(json.success)
  if (faults.length === 0) return Result.succeed(json.success)
  const without = nullsAbsentIn(tool.inputSchema, json.success)
  return compiled.success(without).length === 0
    ? Result.succeed(without)
    : Result.fail(faults.map(schemaFaultText).join("; "))
}

/** What the model reads of a call without a result; the first two in the words of the original. */
const reasonText = (reason: ApprovalReason): string => {
  switch (reason) {
    case "malformed":
      return "dynamic tool response was invalid"
    case "failed":
      return "dynamic tool request failed"
    case "expired":
      return "dynamic tool request failed: the client did not answer in time"
    case "unattended":
      return "dynamic tool request failed: no connected client can run the tool"
    default:
      return "dynamic tool request failed: it was withdrawn"
  }
}

/** The parts with at most `maxChars` of text; the last text says what is missing. */
const cut = (parts: ReadonlyArray<ToolOutputPart>): ReadonlyArray<ToolOutputPart> => {
  let left = maxChars
  return parts.map((part) => {
    if (part.type !== "input_text" || part.text.length <= left) {
      left -= part.type === "input_text" ? part.text.length : 0
      return part
    }
    const text = part.text.slice(0, left).toWellFormed()
    const omitted = part.text.length - left
    left = 0
    return { ...part, text: `${text}\n[${omitted} of ${part.text.length} characters omitted]` }
  })
}

const textOf = (parts: ReadonlyArray<ToolOutputPart>): string =>
  parts.flatMap((part) => (part.type === "input_text" ? [part.text] : [])).join("\n")

/** How a call ends: what is recorded, and what the model gets. */
interface Ending {
  readonly end: Pick<End, "result" | "content">
  readonly result: ToolResult
}

const failed = (text: string): Ending => ({
  end: { result: { Err: text } },
  result: { output: text },
})

const endingOf = (outcome: ClientOutcome): Ending => {
  if (outcome._tag === "None") return failed(reasonText(outcome.reason))
  const content = cut(outcome.content)
  const output = textOf(content)
  const images = content.flatMap((part) => (part.type === "input_image" ? [part.image_url] : []))
  return {
    end: { content, result: outcome.success ? { Ok: output } : { Err: output } },
    result: { output, ...(images.length === 0 ? {} : { images }) },
  }
}

/** Runs a call of that tool. Never fails. */
const runCall = Effect.fnUntraced(function* (
  tool: ClientTool,
  callId: string,
  text: string,
  port: Port,
): Effect.fn.Return<ToolResult> {
  const { name, namespace } = tool
  const args = argumentsOf(tool, text)
  const call = { call_id: callId, tool: name, ...defined({ namespace }) }
  const given: unknown = Result.isSuccess(args) ? args.success : text
  const begin: Begin = { type: "tool_call_begin", ...call, arguments: given }
  yield* port.emit([begin])
  const startedAtMs = yield* Clock.currentTimeMillis
  const end = (ending: Ending["end"]) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      port.emit([
        { type: "tool_call_end", ...call, duration: wireDuration(now - startedAtMs), ...ending },
      ]),
    )
  const running = Result.isFailure(args)
    ? Effect.succeed(failed(`failed to parse function arguments: ${args.failure}`))
    : Effect.map(
        port.callClient({ callId, tool: name, ...defined({ namespace }), arguments: given }),
        endingOf,
      )
  // Listeners that saw the call begin also see its end.
  const ending = yield* Effect.onInterrupt(running, () => end({ result: { Err: "interrupted" } }))
  yield* end(ending.end)
  return ending.result
})

/**
 * The tools of a turn with those of the clients behind them. A name that a tool of this process has now, as one of a tool
 * server may, is that tool's.
 */
export const withClientTools = (
  tools: TurnTools,
  clientTools: ReadonlyArray<ClientTool> | undefined,
  port: Port,
): TurnTools => {
  if (clientTools === undefined || clientTools.length === 0) return tools
  const byName = new Map(clientTools.map((tool) => [offeredName(tool), tool]))
  let taken: ReadonlySet<string> = new Set()
  const find = (call: ToolCall): ClientTool | undefined =>
    call.type === "function_call" && !taken.has(call.name) ? byName.get(call.name) : undefined
  return {
    ...tools,
    specs: Effect.map(tools.specs, (specs) => {
      taken = new Set(specs.map(specName))
      const own = [...byName].flatMap(([name, tool]) => (taken.has(name) ? [] : [specOf(tool)]))
      return [...specs, ...own]
    }),
    isReadOnly: (call) => find(call) === undefined && tools.isReadOnly(call),
    questionOf: (call) => {
      const tool = find(call)
      if (tool === undefined || call.type !== "function_call") return tools.questionOf?.(call)
      const args = argumentsOf(tool, call.arguments)
      const given: unknown = Result.isSuccess(args) ? args.success : call.arguments
      return { tool: call.name, arguments: given }
    },
    run: (call) => {
      const tool = find(call)
      return tool === undefined || call.type !== "function_call"
        ? tools.run(call)
        : runCall(tool, call.call_id, call.arguments, port)
    },
  }
}
