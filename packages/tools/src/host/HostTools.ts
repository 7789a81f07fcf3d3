/**
 * The tools of an embedding application: an `effect/ai` `Toolkit` with its handlers becomes tools of the conversation.
 *
 * A tool that `needsApproval` asks a question of its own: what is shown, and remembered for the session, is its name and its
 * arguments. Listeners see each call that runs begin and end. When a handler fails or dies, the model reads that and the
 * turn continues.
 */
import {
  refusedCall,
  type ToolCall,
  type ToolContext,
  type ToolResult,
} from "@colloquy/core/ToolRuntime"
import { parseJson } from "@colloquy/protocol/Json"
import { argumentFaults } from "@colloquy/protocol/mcp/ToolArguments"
import type { EventOf } from "@colloquy/protocol/EventMsg"
import { wireDuration } from "@colloquy/protocol/events/WireDuration"
import { nullsAbsent } from "@colloquy/protocol/NullAsAbsent"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AiTool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import { cutText, isWithinDepth, maxDepth, maxOutputBytes } from "../ResultLimits.ts"
import { requestApproval } from "../RequestApproval.ts"
import type { Tool } from "../Tool.ts"
import { failureText, jsonText } from "./FailureText.ts"

const text = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "null")

/** What became of a call: the member `result` of its end event. */
type Outcome = EventOf<"tool_call_end">["result"]

const failed = (name: string, reason: string): Outcome => ({
  Err: `tool \`${name}\` failed: ${reason}`,
})

/**
 * The result of a handler. What JSON cannot express can be recorded by no log and sent to no model; a result above the limit
 * is replaced by the beginning of its text.
 */
const succeeded = (name: string, result: unknown): Outcome => {
  if (!isWithinDepth(result, maxDepth)) {
    return failed(name, `its result is nested deeper than ${maxDepth} levels, or contains itself`)
  }
  const output = jsonText(result)
  if (output === undefined) return failed(name, "its result has no JSON form")
  const whole = typeof result === "string" ? result : output
  const cut = cutText(whole, maxOutputBytes)
  return { Ok: cut === whole ? result : cut }
}

const outputOf = (outcome: Outcome): string => ("Ok" in outcome ? text(outcome.Ok) : outcome.Err)

/** Runs a call, with the events of its begin and its end. */
const reported = Effect.fnUntraced(function* <R>(
  call: Omit<EventOf<"tool_call_begin">, "type">,
  { emit }: ToolContext,
  run: Effect.Effect<Outcome, never, R>,
) {
  const { arguments: _, ...named } = call
  yield* emit({ type: "tool_call_begin", ...call })
  const startedAtMs = yield* Clock.currentTimeMillis
  const end = (result: Outcome) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      emit({ type: "tool_call_end", ...named, duration: wireDuration(now - startedAtMs), result }),
    )
  // Listeners that saw the call begin also see its end.
  const outcome = yield* Effect.onInterrupt(run, () => end({ Err: "interrupted" }))
  yield* end(outcome)
  return { output: outputOf(outcome) }
})

/**
 * Whether a person has to approve this call. The rule of the tool gets the arguments as the handler gets them, so that
 * it decides about what will happen. It does not get the history of the conversation.
 */
const needsApproval = (tool: AiTool.Any, args: unknown, callId: string): Effect.Effect<boolean> => {
  const rule = tool.needsApproval
  if (typeof rule !== "function") return Effect.succeed(rule ?? false)
  // Decoding runs with the services of the handlers, which include its own.
  const decode = Schema.decodeUnknownEffect(tool.parametersSchema as Schema.Codec<unknown, unknown>)
  return decode(args).pipe(
    Effect.flatMap((params): Effect.Effect<unknown> => {
      const answer = rule(params, { toolCallId: callId, messages: [] })
      return Effect.isEffect(answer) ? answer : Effect.succeed(answer)
    }),
    Effect.flatMap(decided),
    // Unreachable, because `argumentFault` has found no fault.
    Effect.catchTag("SchemaError", () => Effect.succeed(false)),
    // A rule that fails counts as requiring approval, which is safe.
    Effect.catchCause((cause) =>
      Effect.as(Effect.logError(`the approval rule of tool \`${tool.name}\` failed`, cause), true),
    ),
  )
}

/** What a rule has decided. Dies for a value that is no decision, which types cannot exclude in every program. */
const decided = (answer: unknown): Effect.Effect<boolean> =>
  typeof answer === "boolean"
    ? Effect.succeed(answer)
    : Effect.die(new TypeError(`expected true, false or an Effect of one, got ${String(answer)}`))

/**
 * The tools of a toolkit, in its order, for `Tools.layer`. The toolkit checks the arguments; the model reads the
 * faults. A tool annotated `Readonly` that needs no approval may run concurrently with others that only read.
 */
export const fromToolkit = <Tools extends Record<string, AiTool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>,
): Effect.Effect<
  ReadonlyArray<Tool>,
  never,
  AiTool.HandlersFor<Tools> | AiTool.HandlerServices<Tools[keyof Tools]>
> =>
  Effect.gen(function* () {
    const { handle } = yield* toolkit
    const services = yield* Effect.context<AiTool.HandlerServices<Tools[keyof Tools]>>()
    const invoke = (tool: AiTool.Any, args: unknown, callId: string) =>
      handle(tool.name, args as AiTool.ParametersEncoded<Tools[string]>, callId).pipe(
        Effect.flatMap(Stream.runLast),
        Effect.map((last) =>
          succeeded(tool.name, Option.isSome(last) ? last.value.encodedResult : ""),
        ),
        Effect.catch((error) => Effect.sync(() => failed(tool.name, failureText(error)))),
        // The turn also continues when a handler interrupts itself.
        Effect.catchCause((cause) =>
          Effect.as(
            Effect.logError("a tool of the application failed", cause),
            failed(tool.name, "internal error"),
          ),
        ),
      )
    const run: Run = (tool, call, context) =>
      Effect.provideContext(runCall(tool, call, context, invoke), services)
    return Object.values(toolkit.tools).map((tool) => toolOf(tool, run))
  })

type Run = (tool: AiTool.Any, call: ToolCall, context: ToolContext) => Effect.Effect<ToolResult>

/**
 * The faults of the arguments, in the same words as for all tools; undefined: there are none. A tool that is defined by
 * a JSON Schema (`AiTool.dynamic`) checks its arguments itself.
 */
const argumentFault = (tool: AiTool.Any, args: unknown): Effect.Effect<string | undefined> => {
  if (!Schema.isSchema(tool.parametersSchema)) return Effect.succeed(undefined)
  const decode = Schema.decodeUnknownEffect(
    tool.parametersSchema as Schema.Codec<unknown, unknown>,
    { errors: "all" },
  )
  return Effect.match(decode(args), {
    onSuccess: () => undefined,
    onFailure: (error) => argumentFaults(AiTool.getJsonSchema(tool), error, args),
  })
}

/** The arguments of a call as JSON; undefined for text that is no JSON. */
const argumentsOf = (tool: AiTool.Any, call: ToolCall): unknown => {
  if (call.type !== "function_call") return undefined
  const json = parseJson(call.arguments)
  return Result.isSuccess(json) ? nullsAbsent(tool.parametersSchema, json.success) : undefined
}

const runCall = Effect.fnUntraced(function* <R>(
  tool: AiTool.Any,
  call: ToolCall,
  context: ToolContext,
  invoke: (tool: AiTool.Any, args: unknown, callId: string) => Effect.Effect<Outcome, never, R>,
): Effect.fn.Return<ToolResult, never, R> {
  const args = argumentsOf(tool, call)
  if (args === undefined) {
    return refusedCall("failed to parse function arguments: expected the JSON text of an object")
  }
  const fault = yield* argumentFault(tool, args)
  if (fault !== undefined) return refusedCall(`failed to parse function arguments: ${fault}`)
  const callId = call.call_id ?? ""
  if (yield* needsApproval(tool, args, callId)) {
    const refused = yield* requestApproval(context, {
      _tag: "Tool",
      callId,
      tool: tool.name,
      arguments: args,
    })
    if (refused !== undefined) return { output: `tool call ${refused}` }
  }
  const named = { call_id: callId, tool: tool.name, arguments: args }
  return yield* reported(named, context, invoke(tool, args, callId))
})

const toolOf = (tool: AiTool.Any, run: Run): Tool => {
  const { description, name } = tool
  // Providers reject the schema of an object without `properties`, which a tool without parameters has.
  const parameters = { properties: {}, ...AiTool.getJsonSchema(tool) }
  const needsNoApproval = tool.needsApproval === undefined || tool.needsApproval === false
  return {
    name,
    spec: () => ({ type: "function", name, description: description ?? name, parameters }),
    isReadOnly: () => needsNoApproval && Context.get(tool.annotations, AiTool.Readonly),
    questionOf: (call) => {
      const args = argumentsOf(tool, call)
      return args === undefined ? undefined : { tool: name, arguments: args }
    },
    run: (call, context) => run(tool, call, context),
  }
}
