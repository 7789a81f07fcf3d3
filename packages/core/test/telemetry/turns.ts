/** Scripted turns, as the tests of telemetry observe them. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../../src/ConversationManager.ts"
import type { ModelEvent } from "../../src/ModelClient.ts"
import type { ToolContext } from "../../src/ToolRuntime.ts"
import { exec } from "../approvals.ts"
import {
  assistantItem,
  callItem,
  done,
  isEnd,
  isType,
  managerLayer,
  type Response,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
  tools,
  usage,
} from "../support.ts"
import type { observing } from "./support.ts"

const ask = ({ approve }: ToolContext) =>
  Effect.map(approve(exec("call-1")), ({ decision }) => decision)

/** Provides a manager with these responses, which is observed. */
export const managed = (
  { layer }: Pick<ReturnType<typeof observing>, "layer">,
  responses: ReadonlyArray<Response>,
  options: Parameters<typeof managerLayer>[1] = {},
) =>
  Effect.provide(
    Layer.provide(
      managerLayer(scripted(...responses), {
        tools: tools({ ask: (_, context) => ask(context) }),
        ...options,
      }),
      layer,
    ),
  )

/** A conversation with a listener that answers. */
export const created = Effect.gen(function* () {
  const conversation = yield* (yield* ConversationManager).create({
    ...settings,
    approvalPolicy: "on-request",
  })
  const listener = yield* conversation.attach({ from: 0, answers: true })
  return { conversation, listener }
})

/** A response that takes two seconds. */
const later = (response: ReadonlyArray<ModelEvent>): Response =>
  Stream.unwrap(Effect.as(Effect.sleep("2 seconds"), Stream.fromIterable(response)))

/** Two responses, the first of which calls a tool that asks. */
export const withApproval: ReadonlyArray<Response> = [
  later([done(callItem("ask", "call-1")), { _tag: "Completed", usage: usage(10, 5) }]),
  [done(assistantItem("ok")), { _tag: "Completed", usage: usage(20, 7) }],
]

/** The span of a caller in another process. */
export const caller = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16) })

/** A turn with one tool call, whose question is answered after three seconds. */
export const turnWithApproval = Effect.gen(function* () {
  const { conversation, listener } = yield* created
  const { id } = yield* Effect.withParentSpan(conversation.submit(says("go")), caller)
  yield* settle
  yield* TestClock.adjust("2 seconds")
  yield* takeUntil(listener, isType("exec_approval_request"))
  yield* TestClock.adjust("3 seconds")
  yield* conversation.submit({ type: "exec_approval", id: "call-1", decision: "approved" })
  yield* takeUntil(listener, isEnd)
  yield* settle
  return { conversation, turnId: id }
})
