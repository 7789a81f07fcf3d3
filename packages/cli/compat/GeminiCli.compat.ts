/** Checks gemini-cli: the state of its servers, and a turn with a scripted model behind the Gemini API. */
import { assert, beforeAll } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { type Agent, agentChecks } from "./AgentTurns.ts"
import { describeClient } from "./Driver.ts"
import { generateContent } from "./models/GenerateContent.ts"
import { shell } from "./Place.ts"
import { overHttp, overStdio } from "./Reach.ts"

beforeAll(buildIfMissing)

const client = "@google/gemini-cli"

/** Login with an API key: with another login the client would request the model from that login's provider. */
const settings = {
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  security: { auth: { selectedType: "gemini-api-key" } },
  telemetry: { enabled: false },
}

const agent: Omit<Agent, "reach"> = {
  client,
  wire: generateContent,
  variables: (modelUrl) => ({
    GEMINI_API_KEY: "none",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
    GOOGLE_GEMINI_BASE_URL: modelUrl,
  }),
  prepare: (here, _, setup) =>
    Effect.gen(function* () {
      mkdirSync(join(here.home, ".gemini"))
      writeFileSync(join(here.home, ".gemini", "settings.json"), JSON.stringify(settings))
      const { code, stderr } = yield* shell(setup, here)
      assert.strictEqual(code, 0, stderr)
    }),
  list: "gemini mcp list",
  // Without `--model` the client first lets a model select the model.
  ask: "gemini --prompt 'ask codex' --model gemini-2.5-flash --approval-mode yolo",
  tools: ["mcp_codex_codex", "mcp_codex_codex-reply"],
}

describeClient(client, () => {
  describe("standard streams", () => agentChecks({ ...agent, reach: overStdio(client, "sh") }))
  describe("HTTP", () => agentChecks({ ...agent, reach: overHttp(client, "sh") }))
})
