/**
 * Converts the tools of an `effect/ai` `Toolkit` to tools of the server. No other module imports this one, so that only
 * programs that use it load `effect/ai`.
 */
import * as AiTool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Members, RequestContext } from "../mcp/RequestContext.ts"
import { type Tool, tool, type ToolReturn } from "./Tool.ts"

/**
 * The context of the `tools/call` request that a toolkit's handler serves, for questions to the client and for progress;
 * undefined outside such a request.
 */
export const CurrentRequest = Context.Reference<RequestContext | undefined>(
  "@colloquy/server/CurrentRequest",
  { defaultValue: () => undefined },
)

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const returned = (value: unknown, isFailure: boolean): ToolReturn => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null")
  if (isFailure) return { content: [{ type: "text", text }], isError: true }
  return isMembers(value) ? { structuredContent: value } : text
}

const annotationsOf = ({ annotations }: AiTool.Any) => ({
  readOnlyHint: Context.get(annotations, AiTool.Readonly),
  destructiveHint: Context.get(annotations, AiTool.Destructive),
  idempotentHint: Context.get(annotations, AiTool.Idempotent),
  openWorldHint: Context.get(annotations, AiTool.OpenWorld),
})

/**
 * The tools in the toolkit's order, for `Features`. Arguments are checked with the tool's JSON Schema, which decides
 * whether unknown ones are allowed, and are then decoded by the toolkit. The failure of a handler becomes a result with
 * `isError`.
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
    return Object.values(toolkit.tools).map((one: AiTool.Any) => {
      const title = Option.getOrUndefined(Context.getOption(one.annotations, AiTool.Title))
      return tool({
        name: one.name,
        ...(title === undefined ? {} : { title }),
        ...(one.description === undefined ? {} : { description: one.description }),
        annotations: annotationsOf(one),
        input: { ...AiTool.getJsonSchema(one) },
        run: (args, context) =>
          handle(one.name, args as AiTool.ParametersEncoded<Tools[string]>).pipe(
            Effect.flatMap(Stream.runLast),
            Effect.map((last): ToolReturn =>
              Option.isSome(last) ? returned(last.value.encodedResult, last.value.isFailure) : "",
            ),
            Effect.provideService(CurrentRequest, context),
            Effect.provideContext(services),
          ),
      })
    })
  })
