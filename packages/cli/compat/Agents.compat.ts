/** Checks `@openai/agents`: the tools of the server as tools of its agents. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { describeClient, load, server, type ServerCommand } from "./Driver.ts"

beforeAll(buildIfMissing)

interface McpServer {
  connect(): Promise<void>
  listTools(): Promise<ReadonlyArray<{ readonly name: string }>>
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<ReadonlyArray<{ readonly type: string; readonly text?: string }>>
  close(): Promise<void>
}

interface ModelRequest {
  readonly input: string | ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly tools: ReadonlyArray<{ readonly name: string }>
}

interface Model {
  readonly getResponse: (request: ModelRequest) => Promise<{
    readonly usage: object
    readonly output: ReadonlyArray<object>
  }>
}

/** The part of the library that is used here; its types are not installed when this project's types are checked. */
interface Agents {
  readonly MCPServerStdio: new (options: ServerCommand & { readonly name: string }) => McpServer
  readonly Agent: new (options: {
    readonly name: string
    readonly model: Model
    readonly mcpServers: ReadonlyArray<McpServer>
  }) => object
  readonly Usage: new () => object
  readonly run: (agent: object, input: string) => Promise<{ readonly finalOutput?: string }>
  readonly setTracingDisabled: (disabled: boolean) => void
}

const connected = Effect.gen(function* () {
  const command = yield* server()
  const agents = load("@openai/agents") as Agents
  agents.setTracingDisabled(true)
  const mcp = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const made = new agents.MCPServerStdio({ name: "colloquy", ...command })
      await made.connect()
      return made
    }),
    (made) => Effect.promise(() => made.close()),
  )
  return { agents, mcp }
})

describeClient("@openai/agents", () => {
  it.live("MCPServerStdio lists the tools and calls one", () =>
    Effect.gen(function* () {
      const { mcp } = yield* connected
      const tools = yield* Effect.promise(() => mcp.listTools())
      assert.includeMembers(
        tools.map(({ name }) => name),
        ["codex", "codex-reply"],
      )
      const content = yield* Effect.promise(() => mcp.callTool("codex", { prompt: "say hi agent" }))
      assert.deepStrictEqual(
        content.map(({ type }) => type),
        ["text", "text"],
      )
      assert.strictEqual(content[0]?.text, "hi agent")
      assert.match(content[1]?.text ?? "", /^threadId: [0-9a-f-]{36} /)
    }),
  )

  it.live("an agent's model calls `codex` and reads what it said", () =>
    Effect.gen(function* () {
      const { agents, mcp } = yield* connected
      const requests: Array<ModelRequest> = []
      const model: Model = {
        getResponse: (request) => {
          requests.push(request)
          const call = {
            type: "function_call",
            callId: "call_1",
            name: "codex",
            arguments: JSON.stringify({ prompt: "say from below" }),
            status: "completed",
          }
          const message = {
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "the agent is done" }],
          }
          const output = [requests.length === 1 ? call : message]
          return Promise.resolve({ usage: new agents.Usage(), output })
        },
      }
      const agent = new agents.Agent({ name: "outer", model, mcpServers: [mcp] })
      const { finalOutput } = yield* Effect.promise(() => agents.run(agent, "go"))
      assert.strictEqual(finalOutput, "the agent is done")
      // The library changes names with hyphens before it passes them to the model.
      assert.include(
        (requests[0]?.tools ?? []).map(({ name }) => name),
        "codex",
      )
      const input = JSON.stringify(requests[1]?.input)
      assert.include(input, "from below")
      // The model learns how to continue the conversation.
      assert.match(input, /threadId: [0-9a-f-]{36} \(pass it to codex-reply/)
    }),
  )
})
