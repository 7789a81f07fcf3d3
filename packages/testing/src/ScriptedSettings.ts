/** Settings for conversations whose model follows a script: nothing configured, nothing asked, nothing repeated. */
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

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

/** Gives the settings it is made with, whatever is asked for. */
export const scriptedResolver = (
  settings: ConversationSettings = scriptedSettings(),
): Layer.Layer<SettingsResolver> =>
  Layer.succeed(SettingsResolver, { resolve: () => Effect.succeed(settings) })
