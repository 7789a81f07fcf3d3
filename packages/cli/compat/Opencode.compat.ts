/** Checks opencode: the state of its servers, and a turn with a scripted model behind the Chat Completions API. */
import { beforeAll } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { type Agent, agentChecks } from "./AgentTurns.ts"
import { describeClient } from "./Driver.ts"
import { chatCompletions } from "./models/ChatCompletions.ts"
import { overHttp, overStdio } from "./Reach.ts"

beforeAll(buildIfMissing)

const client = "opencode-ai"

/** Configures the model of a provider that opencode does not know, so that it downloads nothing about it. */
const modelAt = (url: string): object => ({
  autoupdate: false,
  share: "disabled",
  model: "scripted/scripted",
  small_model: "scripted/scripted",
  provider: {
    scripted: {
      npm: "@ai-sdk/openai-compatible",
      name: "Scripted",
      options: { baseURL: `${url}/v1`, apiKey: "none" },
      models: { scripted: { name: "Scripted" } },
    },
  },
})

const agent: Omit<Agent, "reach"> = {
  client,
  wire: chatCompletions,
  variables: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
  }),
  prepare: (here, modelUrl, setup) =>
    Effect.sync(() => {
      const settings: object = JSON.parse(setup)
      const all = { ...settings, ...modelAt(modelUrl) }
      writeFileSync(join(here.workspace, "opencode.json"), JSON.stringify(all))
    }),
  list: "opencode mcp list",
  ask: "opencode run 'ask codex'",
  tools: ["codex_codex", "codex_codex-reply"],
}

describeClient(client, () => {
  describe("standard streams", () => agentChecks({ ...agent, reach: overStdio(client, "json") }))
  describe("HTTP", () => agentChecks({ ...agent, reach: overHttp(client, "json") }))
})
