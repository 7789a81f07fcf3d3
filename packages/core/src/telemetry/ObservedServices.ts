/** The ports of models and tools, observed: each request and each tool call has a span and is measured. */
import { defined, type OptionalMembers } from "@colloquy/protocol/Defined"
import type { TokenUsage } from "@colloquy/protocol/ResponseItem"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type { ModelClient, ModelError } from "../ModelClient.ts"
import type { ToolCall, ToolRuntime, TurnTools } from "../ToolRuntime.ts"
import type { SpanEnd } from "./Spans.ts"
import type { TurnSpans } from "./TurnSpans.ts"

/** The HTTP status of a failed request as the conventions demand it, else the reason. */
const errorTypeOf = ({ reason, status }: ModelError): string =>
  status === undefined ? reason : String(status)

const endOf = <A, E>(exit: Exit.Exit<A, E>, errorType: (error: E) => string): SpanEnd => {
  if (Exit.isSuccess(exit)) return { _tag: "Ended" }
  if (Cause.hasInterruptsOnly(exit.cause)) return { _tag: "Interrupted" }
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  return { _tag: "Failed", errorType: failure === undefined ? "defect" : errorType(failure.error) }
}

/** The model, with a span for each request. */
export const observedModels = (
  models: ModelClient["Service"],
  spans: TurnSpans,
): ModelClient["Service"] => ({
  stream: (request) =>
    Stream.suspend(() => {
      let usage: TokenUsage | undefined
      const ended = spans.request(request.conversationId, request)
      return models.stream(request).pipe(
        Stream.mapArray((events) => {
          const last = events.at(-1)
          if (last?._tag === "Completed") usage = last.usage
          return events
        }),
        Stream.onExit((exit) => Effect.sync(() => ended(endOf(exit, errorTypeOf), usage))),
      )
    }),
})

const nameOf = (call: ToolCall): string =>
  call.type === "local_shell_call" ? "local_shell" : call.name

/** The tools, with a span for each call. */
export const observedTools = (
  runtime: ToolRuntime["Service"],
  spans: TurnSpans,
): ToolRuntime["Service"] => ({
  open: (context) =>
    Effect.suspend(() => {
      const { conversationId, settings, turnId } = context
      const turn = spans.begin(conversationId, turnId, settings)
      return Effect.map(runtime.open(context), (tools): TurnTools => ({
        specs: tools.specs,
        isReadOnly: (call) => tools.isReadOnly(call),
        ...defined({
          replayOf: tools.replayOf?.bind(tools),
          questionOf: tools.questionOf?.bind(tools),
          runUserCommand: tools.runUserCommand?.bind(tools),
        } satisfies OptionalMembers<TurnTools>),
        run: (call) =>
          Effect.suspend(() => {
            const ended = spans.call(conversationId, turn, {
              id: call.call_id ?? "",
              name: nameOf(call),
            })
            return Effect.onExit(tools.run(call), (exit) =>
              Effect.sync(() => ended(endOf(exit, () => "_OTHER"))),
            )
          }),
      }))
    }),
  listMcpTools: (settings) => runtime.listMcpTools(settings),
  ...defined({
    readImage: runtime.readImage?.bind(runtime),
    toolServers: runtime.toolServers,
    isTaken: runtime.isTaken?.bind(runtime),
  } satisfies OptionalMembers<ToolRuntime["Service"]>),
})
