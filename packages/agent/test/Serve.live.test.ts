import * as McpClient from "@colloquy/client/McpClient"
import * as StdioCommand from "@colloquy/transport-stdio/StdioCommand"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const index = new URL("../src/index.ts", import.meta.url).href

/** Serves an agent. What it prints later must not reach the client. */
const program = `
  import { Agent } from ${JSON.stringify(index)}
  import * as Effect from "effect/Effect"
  const agent = Agent.make({ name: "echo", instructions: "", model: Agent.offline() })
  await Effect.runPromise(Agent.serve(agent))
  console.log("over")
  process.exit(0)
`

describe("Agent.serve", () => {
  it.live("L9 speaks MCP over the standard streams of its process, and ends with its input", () =>
    Effect.gen(function* () {
      const connection = yield* StdioCommand.open({
        command: process.execPath,
        args: ["--input-type=module", "-e", program],
        cwd: import.meta.dirname,
        stderr: "ignore",
        maxLeaveMs: 10_000,
      })
      const mcp = yield* McpClient.connect(connection, { clientInfo: { name: "t", version: "1" } })
      assert.strictEqual(mcp.server.serverInfo.name, "echo")
      const { structuredContent } = yield* mcp.callTool("echo", { message: "hello" })
      assert.include(JSON.stringify(structuredContent), "It received: hello")
    }),
  )
})
