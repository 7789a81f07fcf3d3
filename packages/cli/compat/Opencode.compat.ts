/** Checks opencode: the state of its servers, and a turn with a scripted model behind the Chat Completions API. */
import { beforeAll } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import { agentChecks } from "./AgentTurns.ts"
import { setup } from "./ClientsPage.ts"
import { describeClient } from "./Driver.ts"
import { chatCompletions } from "./models/ChatCompletions.ts"

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

describeClient(client, () => {
  agentChecks({
    client,
    wire: chatCompletions,
    variables: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
    prepare: (here, modelUrl, directory) =>
      Effect.sync(() => {
        const settings: object = JSON.parse(setup(client, "json", { DIR: directory }))
        const all = { ...settings, ...modelAt(modelUrl) }
        writeFileSync(join(here.workspace, "opencode.json"), JSON.stringify(all))
      }),
    list: "opencode mcp list",
    ask: "opencode run 'ask codex'",
    tools: ["codex_codex", "codex_codex-reply"],
  })
})
