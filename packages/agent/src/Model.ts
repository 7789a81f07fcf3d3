/** The models of an agent: a provider over HTTP, the offline model, or any `LanguageModel` of `effect/ai`. */
import { ModelClient, type ModelProvider } from "@colloquy/core/ModelClient"
import * as Models from "@colloquy/models/Models"
import { offlineProvider, openaiProvider, providerDefaults } from "@colloquy/models/Providers"
import type { OfflineScript } from "@colloquy/models/OfflineScript"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { LanguageModel } from "effect/ai/LanguageModel"
import { BadOption, checkKeys } from "./internal/KnownKeys.ts"
import * as FromLanguageModel from "./internal/FromLanguageModel.ts"

/** A model that an agent can use. */
export interface Model<out E = never, out R = never> {
  readonly "~colloquy/agent/Model": "Model"
  /** Its name at the provider. */
  readonly name: string
  readonly provider: ModelProvider
  readonly layer: Layer.Layer<ModelClient, E, R>
}

/** Makes a model of any implementation of the port `ModelClient`. */
export const model = <E, R>(
  name: string,
  provider: ModelProvider,
  layer: Layer.Layer<ModelClient, E, R>,
): Model<E, R> => ({ "~colloquy/agent/Model": "Model", name, provider, layer })

/** How a provider is reached. */
export interface ProviderOptions {
  /**
   * Default: the variable `OPENAI_API_KEY` of the `ConfigProvider`, read with each request; with a `baseUrl`, no key is
   * sent that was not given here or by `apiKeyVariable`.
   */
  readonly apiKey?: string | Redacted.Redacted
  /** Name of the variable that holds the key instead of `OPENAI_API_KEY`. */
  readonly apiKeyVariable?: string
  /** Address without the path of the wire protocol. Default: `https://api.openai.com/v1`. */
  readonly baseUrl?: string
  /** Added to every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the requests. Default: `fetch` of the platform. */
  readonly httpClient?: Layer.Layer<HttpClient.HttpClient>
}

const providerKeys: ReadonlyArray<keyof ProviderOptions> = [
  "apiKey",
  "apiKeyVariable",
  "baseUrl",
  "headers",
  "httpClient",
]

/** The address without a slash at its end. */
const addressOf = (of: string, baseUrl: string): string => {
  if (/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? "")) return baseUrl.replace(/\/+$/, "")
  const expected = "an address that begins with http:// or https://"
  throw new BadOption({ option: `${of} baseUrl`, expected, got: JSON.stringify(baseUrl) })
}

/** The key, or where it is. Without either, the key of OpenAI is sent to OpenAI and to no other address. */
const keyOf = ({ apiKey, apiKeyVariable, baseUrl }: ProviderOptions): Partial<ModelProvider> => {
  if (apiKey !== undefined) {
    return { bearerToken: typeof apiKey === "string" ? Redacted.make(apiKey) : apiKey }
  }
  if (apiKeyVariable !== undefined) return { envKey: apiKeyVariable }
  if (baseUrl !== undefined) return {}
  const { baseUrl: _, id: __, name: ___, wire: ____, ...defaults } = openaiProvider()
  return defaults
}

const overHttp = (
  of: string,
  name: string,
  wire: "responses" | "chat",
  options: ProviderOptions,
): Model => {
  checkKeys(of, options, providerKeys)
  if (name.trim() === "") {
    throw new BadOption({ option: `${of} model`, expected: "a name", got: JSON.stringify(name) })
  }
  const { baseUrl, headers = {}, httpClient = FetchHttpClient.layer } = options
  const provider: ModelProvider = {
    ...providerDefaults,
    id: wire === "chat" ? "chat-completions" : "openai",
    name: wire === "chat" ? "Chat Completions" : "OpenAI",
    wire,
    baseUrl: baseUrl === undefined ? openaiProvider().baseUrl : addressOf(of, baseUrl),
    httpHeaders: headers,
    ...keyOf(options),
  }
  return model(name, provider, Layer.provide(Models.layer(), httpClient))
}

/** A model behind OpenAI's Responses API, or a server that speaks it. */
export const openai = (name: string, options: ProviderOptions = {}): Model =>
  overHttp("Agent.openai", name, "responses", options)

/** A model behind a Chat Completions API: most other providers, and local servers of open models. */
export const chatCompletions = (name: string, options: ProviderOptions = {}): Model =>
  overHttp("Agent.chatCompletions", name, "chat", options)

/** How the offline model answers. */
export interface OfflineOptions {
  /** Responses in order; when it is used up or absent, simple rules answer. */
  readonly script?: OfflineScript
}

/** A model without network and key, for trying things out. */
export const offline = (options: OfflineOptions = {}): Model => {
  checkKeys("Agent.offline", options, ["script"])
  return model(
    "offline",
    offlineProvider,
    Layer.provide(Models.layer(options), FetchHttpClient.layer),
  )
}

/** What `Agent.make` accepts as a model. */
export type AnyModel =
  | Model<unknown, unknown>
  | Layer.Layer<LanguageModel, unknown, unknown>
  | LanguageModel

/** The errors of building the model. */
export type ModelErrors<M> =
  M extends Model<infer E, infer _R>
    ? E
    : M extends Layer.Layer<infer _A, infer E, infer _R>
      ? E
      : never

/** The services that building the model needs. */
export type ModelServices<M> =
  M extends Model<infer _E, infer R>
    ? R
    : M extends Layer.Layer<infer _A, infer _E, infer R>
      ? R
      : never

const languageModelProvider: ModelProvider = {
  ...offlineProvider,
  id: "language-model",
  name: "Language model",
  wire: "responses",
}

const isModel = (u: AnyModel): u is Model<unknown, unknown> => "~colloquy/agent/Model" in u

/** The model that an option names. */
export const modelOf = (given: AnyModel): Model<unknown, unknown> => {
  if (isModel(given)) return given
  const layer = Layer.isLayer(given)
    ? FromLanguageModel.layerOf(given)
    : Layer.succeed(ModelClient, FromLanguageModel.make(given as LanguageModel))
  return model("language-model", languageModelProvider, layer)
}
