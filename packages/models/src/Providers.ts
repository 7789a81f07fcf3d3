/** The providers that need no configuration (§7.3). Values only; who reads a configuration overrides members. */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Duration from "effect/Duration"

/** Retries and timeout of every provider that names none (§7.3). */
export const providerDefaults = {
  queryParams: {},
  httpHeaders: {},
  envHttpHeaders: {},
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeout: Duration.seconds(300),
} as const satisfies Partial<ModelProvider>

/** Answers by itself; no network, no key. */
export const offlineProvider: ModelProvider = {
  ...providerDefaults,
  id: "offline",
  name: "Offline",
  wire: "offline",
  baseUrl: "",
}

/** @param options.baseUrl what `OPENAI_BASE_URL` says, where it is set */
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

/** A local server of open models. @param options.baseUrl what `CODEX_OSS_BASE_URL` or `CODEX_OSS_PORT` say (§7.5) */
export const ossProvider = (options?: { readonly baseUrl?: string }): ModelProvider => ({
  ...providerDefaults,
  id: "oss",
  name: "Open source models",
  wire: "chat",
  baseUrl: options?.baseUrl ?? "http://localhost:11434/v1",
})
