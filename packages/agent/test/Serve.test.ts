import { ToolsList } from "@colloquy/protocol/mcp/CodexMcp"
import * as McpClient from "@colloquy/client/McpClient"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Agent } from "../src/testing/index.ts"

const refund = Agent.tool("refund", {
  input: { order: Schema.String },
  approve: true,
  run: ({ order }) => Effect.succeed(`refunded ${order}`),
})

/** Serves the agent in memory. */
const connect = <Q, E>(agent: Agent.Agent<Q, E>, options: Partial<McpClient.ConnectOptions> = {}) =>
  Effect.gen(function* () {
    const [ours, theirs] = yield* memoryPair()
    yield* Effect.forkScoped(Agent.toMcp(agent)(theirs), { startImmediately: true })
    return yield* McpClient.connect(ours, {
      clientInfo: { name: "test", version: "1" },
      ...options,
    })
  })

describe("Agent.toMcp", () => {
  it.effect("offers one tool under the agent's own name, and goes on with a conversation", () =>
    Effect.gen(function* () {
      const model = Agent.scripted(["one", "two"])
      const agent = Agent.make({ name: "till", version: "2.1.0", instructions: "", model })
      const mcp = yield* connect(agent)
      assert.deepInclude(mcp.server.serverInfo, { name: "till", version: "2.1.0" })
      const { tools } = yield* mcp.client.request(ToolsList, {})
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        ["till"],
      )
      const first = yield* mcp.callTool("till", { message: "a" })
      assert.deepInclude(first.structuredContent, { answer: "one" })
      const { conversation } = first.structuredContent as { conversation: string }
      const second = yield* mcp.callTool("till", { message: "b", conversation })
      assert.deepStrictEqual(second.structuredContent, { conversation, answer: "two" })
      assert.lengthOf(model.requests[1]?.input ?? [], 3)
    }),
  )

  it.effect(
    "a client goes on with conversations of results only, not with those of the program",
    () =>
      Effect.gen(function* () {
        const model = Agent.scripted(["noted", "one"])
        const agent = Agent.make({ name: "till", instructions: "", model })
        const chat = yield* agent.open("admin")
        yield* chat.ask("a secret").result
        const mcp = yield* connect(agent)
        const unknown = "01a2093d-214f-7717-9efb-f392214fece4"
        for (const conversation of ["admin", chat.id, unknown, ""]) {
          const { content, isError } = yield* mcp.callTool("till", { message: "a", conversation })
          assert.isTrue(isError)
          assert.include(JSON.stringify(content), `no conversation with id: ${conversation}`)
        }
        assert.lengthOf(model.requests, 1)
        const { structuredContent } = yield* mcp.callTool("till", { message: "a" })
        assert.deepInclude(structuredContent, { answer: "one" })
      }),
  )

  it.effect("puts questions to a client that can show a form", () =>
    Effect.gen(function* () {
      const model = Agent.scripted([Agent.calls("refund", { order: "A1" }), "done"])
      const agent = Agent.make({ name: "till", instructions: "", model, tools: [refund] })
      const asked: Array<string> = []
      const mcp = yield* connect(agent, {
        onElicitation: (params) =>
          Effect.sync(() => {
            asked.push(params.message)
            return { action: "accept", content: { decision: "approved" } }
          }),
      })
      yield* mcp.callTool("till", { message: "refund A1" })
      assert.include(asked[0], "Allow till to call refund?")
      assert.include(JSON.stringify(model.requests[1]?.input), "refunded A1")
    }),
  )
})
