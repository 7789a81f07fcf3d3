/**
 * The built-in providers, which need no configuration. Values only; code that reads a configuration
 * overrides members.
 */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Duration from "effect/Duration"

/** Retries and timeout of every provider that does not set them; the defaults of the original. */
export const providerDefaults = {
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeout: Duration.seconds(300),
} as const satisfies Partial<ModelProvider>

/** The offline model: no network, no API key. */
export const offlineProvider: ModelProvider = {
  ...providerDefaults,
  id: "offline",
  name: "Offline",
  wire: "offline",
  baseUrl: "",
}

/**
 * OpenAI.
 *
 * @param options.baseUrl value of `OPENAI_BASE_URL`, if it is set
 */
export const openaiProvider = (options?: { readonly baseUrl?: string }): ModelProvider => ({
  ...providerDefaults,
  id: "openai",
  name: "OpenAI",
  wire: "responses",
  baseUrl: options?.baseUrl ?? "https://api.openai.com/v1",
  envKey: "OPENAI_API_KEY",
  envKeyInstructions: "Create an API key (https://platform.openai.com) and export it.",
  envHttpHeaders: {
    "OpenAI-Organization": "OPENAI_ORGANIZATION",
    "OpenAI-Project": "OPENAI_PROJECT",
  },
})

/**
 * A local server of open models.
 *
 * @param options.baseUrl address from `CODEX_OSS_BASE_URL` or `CODEX_OSS_PORT`, if one is set
 */
export const ossProvider = (options?: { readonly baseUrl?: string }): ModelProvider => ({
  ...providerDefaults,
  id: "oss",
  name: "Open source models",
  wire: "chat",
  baseUrl: options?.baseUrl ?? "http://localhost:11434/v1",
})
