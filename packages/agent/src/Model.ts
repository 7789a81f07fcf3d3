/** The models of an agent: a provider over HTTP, the offline model, or any `LanguageModel` of `effect/ai`. */
import { ModelClient, type ModelProvider } from "@colloquy/core/ModelClient"
import * as Models from "@colloquy/models/Models"
import { offlineProvider, openaiProvider, providerDefaults } from "@colloquy/models/Providers"
import { OfflineScript } from "@colloquy/models/OfflineScript"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { LanguageModel } from "effect/ai/LanguageModel"
import {
  type Kinds,
  checkOptions,
  is,
  layer as layerKind,
  named,
  optional,
  options as optionsOf,
  recordOf,
  shown,
} from "./internal/Options.ts"
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

/** Texts that no error shows. */
const secret = (expected: string, accepts: (value: unknown) => boolean) =>
  is(expected, accepts, (value) => (typeof value === "string" ? "a text" : shown(value)))

const providerOptions = optionsOf({
  apiKey: optional(
    secret("a text or a Redacted of one", (value) =>
      Predicate.isString(Redacted.isRedacted(value) ? Redacted.value(value) : value),
    ),
  ),
  apiKeyVariable: optional(named("the name of a variable")),
  baseUrl: optional(
    is("an address that begins with http:// or https://", (value) =>
      /^https?:$/.test(URL.parse(String(value))?.protocol ?? ""),
    ),
  ),
  headers: optional(recordOf("an object of texts", secret("a text", Predicate.isString))),
  httpClient: optional(layerKind),
} satisfies Kinds<ProviderOptions>)

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
  checkOptions(`${of} model`, named("a name"), name)
  checkOptions(of, providerOptions, options)
  const { baseUrl, headers = {}, httpClient = FetchHttpClient.layer } = options
  const provider: ModelProvider = {
    ...providerDefaults,
    id: wire === "chat" ? "chat-completions" : "openai",
    name: wire === "chat" ? "Chat Completions" : "OpenAI",
    wire,
    baseUrl: baseUrl === undefined ? openaiProvider().baseUrl : baseUrl.replace(/\/+$/, ""),
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

const offlineOptions = optionsOf({
  script: optional(is("an array of responses, each an array of steps", Schema.is(OfflineScript))),
} satisfies Kinds<OfflineOptions>)

/** A model without network and key, for trying things out. */
export const offline = (options: OfflineOptions = {}): Model => {
  checkOptions("Agent.offline", offlineOptions, options)
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

/** What a model is, before it is built. */
export const modelKind = is(
  "a model, such as Agent.offline()",
  (value) =>
    Layer.isLayer(value) ||
    Predicate.hasProperty(value, "~colloquy/agent/Model") ||
    Predicate.hasProperty(value, "~effect/ai/LanguageModel"),
)

/** The model that an option names. */
export const modelOf = (given: AnyModel): Model<unknown, unknown> => {
  if (isModel(given)) return given
  const layer = Layer.isLayer(given)
    ? FromLanguageModel.layerOf(given)
    : Layer.succeed(ModelClient, FromLanguageModel.make(given as LanguageModel))
  return model("language-model", languageModelProvider, layer)
}
