/** Checks Claude Code: its health check of servers, and a turn with a scripted model behind the Messages API. */
import { assert, beforeAll } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { agentChecks } from "./AgentTurns.ts"
import { setup } from "./ClientsPage.ts"
import { describeClient } from "./Driver.ts"
import { anthropicMessages } from "./models/AnthropicMessages.ts"
import { shell } from "./Place.ts"

beforeAll(buildIfMissing)

const client = "@anthropic-ai/claude-code"

describeClient(client, () => {
  agentChecks({
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
    prepare: (here, _, directory) =>
      Effect.gen(function* () {
        const { code, stderr } = yield* shell(setup(client, "sh", { DIR: directory }), here)
        assert.strictEqual(code, 0, stderr)
      }),
    list: "claude mcp list",
    ask: "claude --print 'ask codex' --allowedTools mcp__codex",
    tools: ["mcp__codex__codex", "mcp__codex__codex-reply"],
  })
})
