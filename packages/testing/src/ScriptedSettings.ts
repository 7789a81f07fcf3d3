/** Settings for conversations whose model follows a script: nothing configured, nothing asked, nothing repeated. */
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Duration from "effect/Duration"

/** New objects each time, as a resolver makes them. */
export const scriptedSettings = (
  settings: Partial<ConversationSettings> = {},
  provider: Partial<ModelProvider> = {},
): ConversationSettings => ({
  model: "scripted",
  provider: {
    id: "scripted",
    name: "Scripted",
    wire: "offline",
    baseUrl: "",
    queryParams: {},
    httpHeaders: {},
    envHttpHeaders: {},
    requestMaxRetries: 0,
    streamMaxRetries: 0,
    streamIdleTimeout: Duration.minutes(5),
    ...provider,
  },
  cwd: "/work",
  approvalPolicy: "never",
  sandboxPolicy: { mode: "read-only" },
  includePlanTool: false,
  summary: "auto",
  contextWindow: null,
  showRawReasoning: false,
  ...settings,
})
