import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Duration from "effect/Duration"
import * as Stream from "effect/Stream"
import { ConversationManager } from "../src/ConversationManager.ts"
import type { ConversationSettings } from "../src/ConversationSettings.ts"
import { IdGenerator } from "../src/IdGenerator.ts"
import type { Listener } from "../src/Listener.ts"
import { ModelClient, type ModelEvent } from "../src/ModelClient.ts"
import { ToolRuntime } from "../src/ToolRuntime.ts"

const settings: ConversationSettings = {
  model: "mock-model",
  provider: {
    id: "mock",
    name: "Mock",
    wire: "offline",
    baseUrl: "",
    queryParams: {},
    httpHeaders: {},
    envHttpHeaders: {},
    requestMaxRetries: 0,
    streamMaxRetries: 0,
    streamIdleTimeout: Duration.minutes(5),
  },
  cwd: "/work",
  approvalPolicy: "never",
  sandboxPolicy: { mode: "read-only" },
  includePlanTool: false,
  summary: "auto",
  contextWindow: null,
  showRawReasoning: false,
}

const layer = (events: ReadonlyArray<ModelEvent>) =>
  ConversationManager.layer.pipe(
    Layer.provide(IdGenerator.layer),
    Layer.provide(ToolRuntime.layerNone),
    Layer.provide(Layer.succeed(ModelClient, { stream: () => Stream.fromIterable(events) })),
  )

const untilTerminal = Effect.fnUntraced(function* (listener: Listener) {
  const seen: Array<EventMsg["type"]> = []
  while (true) {
    for (const delivery of yield* listener.take) {
      if (delivery._tag !== "Event") continue
      seen.push(delivery.event.msg.type)
      if (delivery.event.msg.type === "task_complete") return seen
    }
  }
})

describe("Conversation", () => {
  it.effect("runs a turn and tells it in the order of section 4.6", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      const listener = yield* conversation.attach({ from: 0 })
      const receipt = yield* conversation.submit(
        { type: "user_input", items: [{ type: "text", text: "hi" }] },
        { id: "7" },
      )
      assert.deepStrictEqual(receipt, { id: "7", disposition: "started" })
      assert.deepStrictEqual(yield* untilTerminal(listener), [
        "session_configured",
        "raw_response_item",
        "task_started",
        "raw_response_item",
        "user_message",
        "agent_message_delta",
        "raw_response_item",
        "agent_message",
        "token_count",
        "task_complete",
      ])
    }).pipe(
      Effect.provide(
        layer([
          { _tag: "TextDelta", delta: "yes" },
          {
            _tag: "ItemDone",
            item: {
              type: "message",
              role: "assistant",
              content: [{ type: "output_text", text: "yes" }],
            },
          },
          { _tag: "Completed" },
        ]),
      ),
    ),
  )
})
