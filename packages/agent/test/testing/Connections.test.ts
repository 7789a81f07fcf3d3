import { SendUserMessage } from "@colloquy/protocol/app/Messages"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Agent } from "../../src/testing/index.ts"

const refund = Agent.tool("refund", {
  input: { order: Schema.String },
  approve: true,
  run: ({ order }) => Effect.succeed(`refunded ${order}`),
})

const script = [Agent.calls("refund", { order: "A1" }), [Agent.pauses("1 hour"), "done"]]

describe("connections in memory", () => {
  it.effect("an MCP client calls the agent and answers its questions", () =>
    Effect.gen(function* () {
      const till = Agent.test({ name: "till", tools: [refund], script })
      const mcp = yield* Agent.mcpClient(till, {
        onElicitation: () =>
          Effect.succeed({ action: "accept" as const, content: { decision: "approved" } }),
      })
      const { structuredContent } = yield* mcp.callTool("till", { message: "refund A1" })
      assert.deepInclude(structuredContent, { answer: "done" })
      assert.deepStrictEqual(till.sent().outputs, ["refunded A1"])
      assert.isTrue(till.events().some(({ msg }) => msg.type === "task_complete"))
    }).pipe(Agent.settle),
  )

  it.effect("calls of clients settle by themselves", () =>
    Effect.gen(function* () {
      const test = Agent.test({ name: "till", script: () => [Agent.pauses("1 hour"), "done"] })
      const mcp = yield* Agent.mcpClient(test)
      const { structuredContent } = yield* mcp.callTool("till", { message: "x" })
      assert.deepInclude(structuredContent, { answer: "done" })
      const chat = yield* test.open()
      const app = yield* Agent.appClient(test)
      const items = [{ type: "text" as const, data: { text: "x" } }]
      yield* app.client.request(SendUserMessage, { conversationId: chat.id, items })
      const message = yield* app.events(chat.id).pipe(
        Stream.filter((one) => one._tag === "Event" && one.msg.type === "task_complete"),
        Stream.runHead,
      )
      assert.isTrue(Option.isSome(message))
      assert.strictEqual(yield* Clock.currentTimeMillis, 2 * 60 * 60_000)
    }),
  )

  it.effect("what keeps an agent from being served is the error of the client", () =>
    Effect.gen(function* () {
      const codex = Agent.make({ name: "codex", instructions: "", model: Agent.scripted([]) })
      const error = yield* Effect.flip(Agent.mcpClient(codex))
      assert.strictEqual(error._tag, "FeatureRefused")
    }),
  )

  it.effect("a client of the app-server takes part in an open chat", () =>
    Effect.gen(function* () {
      const look = Agent.tool("look", { run: () => Effect.succeed("A1 is paid") })
      const till = Agent.test({ tools: [look], script: [Agent.calls("look"), "done"] })
      const chat = yield* till.open()
      const { client, events } = yield* Agent.appClient(till)
      const received = yield* Effect.forkChild(
        events(chat.id).pipe(
          Stream.takeUntil(
            (message) => message._tag === "Event" && message.msg.type === "task_complete",
          ),
          Stream.runCollect,
        ),
        { startImmediately: true },
      )
      yield* client.request(SendUserMessage, {
        conversationId: chat.id,
        items: [{ type: "text", data: { text: "is A1 paid?" } }],
      })
      const messages = yield* Fiber.join(received)
      assert.isTrue(
        messages.some(
          (message) => message._tag === "Event" && message.msg.type === "agent_message",
        ),
      )
      assert.deepStrictEqual(till.sent().outputs, ["A1 is paid"])
      assert.deepStrictEqual(till.sent().messages, ["user: is A1 paid?"])
    }).pipe(Agent.settle),
  )
})
