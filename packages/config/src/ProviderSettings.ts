/**
 * Determines the provider that a configuration selects. Pure.
 *
 * Never substitutes an address. A provider without one, a misspelt key that would leave the address
 * unset, and an entry with the id of a built-in provider but another address are errors, since
 * prompts and API keys would otherwise be sent to a host that the configuration does not name.
 */
import { nearest } from "@colloquy/protocol/Nearest"
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { ModelProvider } from "@colloquy/core/ModelClient"
import { faultAt, type ConfigFault } from "./ConfigFault.ts"
import type { Config } from "./ConfigSchema.ts"
import { ProviderConfig } from "./ConfigServers.ts"
import { type ConfigTree, get, isTable } from "./ConfigTree.ts"

/** The limit of the original program. */
const maxRetries = 100

/**
 * The value of an own property of a record; undefined for inherited names such as `constructor`.
 */
export const ownValue = <A>(
  record: Readonly<Record<string, A>> | undefined,
  key: string,
): A | undefined => (record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined)

const withoutSlash = (url: string): string => url.replace(/\/+$/, "")

const tableOf = (id: string) => ["model_providers", id]

const providerOf = (
  id: string,
  config: ProviderConfig,
): Result.Result<ModelProvider, ConfigFault> => {
  const baseUrl = config.base_url?.trim() ?? ""
  if (baseUrl === "") {
    const problem =
      "missing field `base_url`, expected the address of the provider, for example `http://127.0.0.1:8080/v1`"
    return Result.fail(faultAt(tableOf(id), problem))
  }
  const envKey = config.env_key ?? (config.requires_openai_auth ? "OPENAI_API_KEY" : undefined)
  const bearerToken = config.experimental_bearer_token?.trim() ?? ""
  return Result.succeed({
    id,
    name: config.name,
    wire: config.wire_api ?? "chat",
    baseUrl: withoutSlash(baseUrl),
    ...(envKey === undefined ? {} : { envKey }),
    ...(bearerToken === "" ? {} : { bearerToken: Redacted.make(bearerToken) }),
    ...(config.env_key_instructions === undefined
      ? {}
      : { envKeyInstructions: config.env_key_instructions }),
    queryParams: config.query_params ?? {},
    httpHeaders: config.http_headers ?? {},
    envHttpHeaders: config.env_http_headers ?? {},
    requestMaxRetries: Math.min(config.request_max_retries ?? 4, maxRetries),
    streamMaxRetries: Math.min(config.stream_max_retries ?? 5, maxRetries),
    streamIdleTimeout: Duration.millis(config.stream_idle_timeout_ms ?? 300_000),
  })
}

/**
 * An entry with the id of a built-in provider is ignored, as in the original, except when it names
 * another address, which is an error.
 */
const builtinOf = (
  builtin: ModelProvider,
  entry: ProviderConfig | undefined,
): Result.Result<ModelProvider, ConfigFault> => {
  const baseUrl = entry?.base_url
  return baseUrl === undefined || withoutSlash(baseUrl) === builtin.baseUrl
    ? Result.succeed(builtin)
    : Result.fail(
        faultAt(
          [...tableOf(builtin.id), "base_url"],
          `provider \`${builtin.id}\` is built in and its address is not replaced, expected another id for this provider`,
        ),
      )
}

/** The provider with this id; undefined when the configuration has none. */
export const findProvider = (
  builtins: ReadonlyArray<ModelProvider>,
  config: Config,
  id: string,
): Result.Result<ModelProvider, ConfigFault> | undefined => {
  const entry = ownValue(config.model_providers, id)
  const builtin = builtins.find((provider) => provider.id === id)
  if (builtin !== undefined) return builtinOf(builtin, entry)
  return entry === undefined ? undefined : providerOf(id, entry)
}

const providerKeys = Object.keys(ProviderConfig.fields)

/** The known key of a provider that an unknown one resembles. */
const meantProviderKey = (key: string): string | undefined =>
  providerKeys.includes(key) ? undefined : nearest(key, providerKeys)

/**
 * The fault of the first misspelt key of a provider. If the key were ignored, the default that it
 * was meant to change would stay in effect.
 */
export const misspeltProviderKey = (tree: ConfigTree): ConfigFault | undefined => {
  const providers = get(tree, "model_providers")
  if (!isTable(providers)) return undefined
  for (const [id, table] of Object.entries(providers)) {
    if (!isTable(table)) continue
    for (const key of Object.keys(table)) {
      const meant = meantProviderKey(key)
      if (meant === undefined) continue
      return faultAt([...tableOf(id), key], `unknown field \`${key}\`, did you mean \`${meant}\`?`)
    }
  }
  return undefined
}
