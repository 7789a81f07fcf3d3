/** Settings for conversations with a scripted model: no configuration, no approvals, no retries. */
import { type ConversationSettings, SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Creates new settings, as a resolver does. */
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

/** A resolver that returns the given settings for every request. */
export const scriptedResolver = (
  settings: ConversationSettings = scriptedSettings(),
): Layer.Layer<SettingsResolver> =>
  Layer.succeed(SettingsResolver, { resolve: () => Effect.succeed(settings) })
