/** Checks Claude Code: its health check of servers, and a turn with a scripted model behind the Messages API. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { type Agent, agentChecks } from "./AgentTurns.ts"
import { describeClient } from "./Driver.ts"
import { anthropicMessages } from "./models/AnthropicMessages.ts"
import { place, shell } from "./Place.ts"
import { overHttp, overStdio } from "./Reach.ts"

beforeAll(buildIfMissing)

const client = "@anthropic-ai/claude-code"

const agent: Omit<Agent, "reach" | "ask" | "tools"> = {
  client,
  wire: anthropicMessages,
  variables: (modelUrl) => ({
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: modelUrl,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_TELEMETRY: "1",
    // By default the client's model searches for tools; the scripted model does not.
    ENABLE_TOOL_SEARCH: "false",
  }),
  prepare: (here, _, setup) =>
    Effect.gen(function* () {
      const { code, stderr } = yield* shell(setup, here)
      assert.strictEqual(code, 0, stderr)
    }),
  list: "claude mcp list",
}

describeClient(client, () => {
  describe("standard streams", () =>
    agentChecks({
      ...agent,
      reach: overStdio(client, "sh"),
      ask: "claude --print 'ask codex' --allowedTools mcp__codex",
      tools: ["mcp__codex__codex", "mcp__codex__codex-reply"],
    }))

  describe("HTTP", () =>
    agentChecks({
      ...agent,
      reach: overHttp(client, "sh"),
      ask: "claude --print 'ask codex' --allowedTools mcp__colloquy",
      tools: ["mcp__colloquy__codex", "mcp__colloquy__codex-reply"],
    }))

  it.live("over HTTP without the token it shows the server as not connected", () =>
    Effect.gen(function* () {
      const here = yield* place(client, agent.variables("http://127.0.0.1:9"))
      const line = yield* overHttp(client, "sh").setup(here)
      yield* shell(line.replace(/ --header .*$/, ""), here)
      const { stderr, stdout } = yield* shell(agent.list, here)
      assert.match(`${stdout}${stderr}`, /colloquy.*(?:authentication|failed)/is)
      assert.notMatch(`${stdout}${stderr}`, /colloquy.*connected/is)
    }),
  )
})
