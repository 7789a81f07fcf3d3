/**
 * The tools of an embedding application: an `effect/ai` `Toolkit` with its handlers becomes tools of the conversation.
 *
 * A tool that `needsApproval` is asked for like a command: what is shown and remembered for the session is its name
 * and its arguments, word by word. A handler that fails or dies is told to the model; the turn goes on.
 */
import type { ToolCall, ToolContext, ToolResult } from "@colloquy/core/ToolRuntime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AiTool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import { askFirst } from "../Asking.ts"
import type { Tool } from "../Tool.ts"

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const text = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "null")

const failed = (name: string, error: unknown): ToolResult => ({
  output: `tool \`${name}\` failed: ${error instanceof Error ? error.message : text(error)}`,
})

/** Whether a person has to be asked before this call. The history of the conversation is not shown to the rule. */
const needsApproval = (tool: AiTool.Any, args: unknown, callId: string): Effect.Effect<boolean> => {
  const rule = tool.needsApproval
  if (typeof rule !== "function") return Effect.succeed(rule ?? false)
  return Effect.suspend(() => {
    const answer: boolean | Effect.Effect<boolean> = rule(args, {
      toolCallId: callId,
      messages: [],
    })
    return typeof answer === "boolean" ? Effect.succeed(answer) : answer
  }).pipe(
    // A rule that breaks asks: it is there to be careful.
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("the approval rule of a tool died", defect), true),
    ),
  )
}

/**
 * The tools of a toolkit, in its order, for `Tools.layer`. Arguments are checked by the toolkit; what it finds is told
 * to the model. A tool annotated `Readonly` that needs no approval runs beside others that only read.
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
    const invoke = (tool: AiTool.Any, args: unknown, callId: string): Effect.Effect<ToolResult> =>
      handle(tool.name, args as AiTool.ParametersEncoded<Tools[string]>, callId).pipe(
        Effect.flatMap(Stream.runLast),
        Effect.map((last) => ({
          output: Option.isSome(last) ? text(last.value.encodedResult) : "",
        })),
        Effect.catch((error) => Effect.succeed(failed(tool.name, error))),
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError("a tool of the application died", defect),
            failed(tool.name, "internal error"),
          ),
        ),
        Effect.provideContext(services),
      )
    return Object.values(toolkit.tools).map((tool): Tool => toolOf(tool, invoke))
  })

const toolOf = (
  tool: AiTool.Any,
  invoke: (tool: AiTool.Any, args: unknown, callId: string) => Effect.Effect<ToolResult>,
): Tool => {
  const { description, name } = tool
  const parameters = AiTool.getJsonSchema(tool)
  const run = Effect.fnUntraced(function* (call: ToolCall, context: ToolContext) {
    const args = call.type === "function_call" ? parseJson(call.arguments) : Option.none()
    if (Option.isNone(args)) {
      return { output: "failed to parse function arguments: expected the JSON text of an object" }
    }
    const callId = call.call_id ?? ""
    if (yield* needsApproval(tool, args.value, callId)) {
      const refused = yield* askFirst(context, {
        _tag: "Exec",
        callId,
        command: [name, text(args.value)],
        cwd: context.settings.cwd,
        sandbox: { mode: "danger-full-access" },
        reason: `the application asks before \`${name}\``,
      })
      if (refused !== undefined) return { output: `tool call ${refused}` }
    }
    return yield* invoke(tool, args.value, callId)
  })
  return {
    name,
    spec: () => ({ type: "function", name, description: description ?? name, parameters }),
    isReadOnly: () =>
      tool.needsApproval === undefined && Context.get(tool.annotations, AiTool.Readonly),
    run,
  }
}
