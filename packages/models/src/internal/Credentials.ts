/**
 * The API key and the headers that a provider's settings take from the environment, read through
 * `ConfigProvider` (L12).
 */
import type { ModelError, ModelProvider } from "@colloquy/core/ModelClient"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { addressSecrets } from "./Address.ts"
import { missingKey, unusableKey, unusableStored } from "./failures/Failures.ts"

/** An API key that is stored outside the environment, and what belongs to it. */
export interface StoredKey {
  /** The key. */
  readonly key: Redacted.Redacted
  /** Address that the key is valid for; replaces the provider's address. */
  readonly baseUrl?: string
  /** Headers that requests with this key need. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Called for each request to a provider whose `envKey` is not set in the environment; undefined
 * when no key is stored for it.
 */
export type FindKey = (provider: ModelProvider) => Effect.Effect<StoredKey | undefined, ModelError>

/** What a request needs to be authorized. */
export interface Credentials {
  /** Absent when the provider needs no key. */
  readonly key: Redacted.Redacted | undefined
  /** Headers with values from the environment or belonging to the key. */
  readonly headers: Readonly<Record<string, string>>
  /** Replaces the provider's address. */
  readonly baseUrl?: string
}

/** Shorter values of a configuration, such as a version or a name, are not secrets. */
const minConfiguredLength = 8

/** The values that no text may quote, the longest first, because one may start like another. */
export const secretsOf = (
  { baseUrl, key, headers }: Credentials,
  provider: ModelProvider,
): ReadonlyArray<string> => {
  const configured = [
    ...Object.values(provider.httpHeaders),
    ...Object.values(provider.queryParams),
    ...addressSecrets(baseUrl ?? provider.baseUrl),
  ]
  return [
    ...(key === undefined ? [] : [Redacted.value(key)]),
    ...Object.values(headers),
    ...configured.filter((value) => value.length >= minConfiguredLength),
  ].toSorted((a, b) => b.length - a.length)
}

/**
 * Trimmed, because files and shells add newlines. A blank value counts as not set. Asks the provider of the configuration
 * itself, because `Config` compiles a schema for each value and this runs for every request.
 */
const variable = (name: string): Effect.Effect<string | undefined, ModelError> =>
  Effect.flatMap(ConfigProvider.ConfigProvider, (environment) =>
    Effect.mapBoth(environment.load([name]), {
      onFailure: () => unusableKey(name, "cannot be read"),
      onSuccess: (node) => {
        const text = node?.value?.trim() ?? ""
        return text === "" ? undefined : text
      },
    }),
  )

// Characters that a header may contain; for any other the platform would fail with a text that
// quotes the key.
const printable = /^[\x20-\x7e]+$/

const usable = (name: string, text: string): Effect.Effect<string, ModelError> =>
  printable.test(text)
    ? Effect.succeed(text)
    : Effect.fail(unusableKey(name, "holds characters that a header cannot carry"))

const usableStored = (
  provider: ModelProvider,
  kept: StoredKey,
): Effect.Effect<StoredKey, ModelError> =>
  [Redacted.value(kept.key), ...Object.values(kept.headers ?? {})].every((text) =>
    printable.test(text),
  )
    ? Effect.succeed(kept)
    : Effect.fail(unusableStored(provider))

/** The key of a provider whose variable `envKey` is not set. */
const storedKey = (
  provider: ModelProvider,
  envKey: string,
  stored: FindKey | undefined,
): Effect.Effect<Partial<StoredKey>, ModelError> =>
  Effect.flatMap(stored === undefined ? Effect.undefined : stored(provider), (kept) => {
    if (kept !== undefined) return usableStored(provider, kept)
    if (provider.keyOptional === true) return Effect.succeed({})
    return Effect.fail(missingKey(envKey, provider.envKeyInstructions))
  })

/** The key from the environment, else the bearer token of the settings, else a stored key. */
const findKey = (
  provider: ModelProvider,
  stored: FindKey | undefined,
): Effect.Effect<Partial<StoredKey>, ModelError> => {
  const { bearerToken, envKey } = provider
  const configured = bearerToken === undefined ? undefined : { key: bearerToken }
  if (envKey === undefined) return Effect.succeed(configured ?? {})
  return Effect.flatMap(variable(envKey), (found) => {
    if (found !== undefined) {
      return Effect.map(usable(envKey, found), (text) => ({ key: Redacted.make(text) }))
    }
    return configured === undefined
      ? storedKey(provider, envKey, stored)
      : Effect.succeed(configured)
  })
}

/** Adds the headers whose variables are set. */
const addHeaders = Effect.fnUntraced(function* (
  credentials: Credentials,
  variables: ReadonlyArray<readonly [header: string, name: string]>,
): Effect.fn.Return<Credentials, ModelError> {
  const headers: Record<string, string> = { ...credentials.headers }
  for (const [header, name] of variables) {
    const value = yield* variable(name)
    if (value !== undefined) headers[header] = yield* usable(name, value)
  }
  return { ...credentials, headers }
})

/**
 * Reads key and headers. Fails with reason `Key` when the key is needed and missing, or when a
 * value cannot be sent in a header.
 */
export const readCredentials = (
  provider: ModelProvider,
  stored?: FindKey,
): Effect.Effect<Credentials, ModelError> => {
  const variables = Object.entries(provider.envHttpHeaders)
  return Effect.flatMap(findKey(provider, stored), ({ key, baseUrl, headers = {} }) => {
    const credentials = { key, headers, ...(baseUrl === undefined ? {} : { baseUrl }) }
    return variables.length === 0 ? Effect.succeed(credentials) : addHeaders(credentials, variables)
  })
}
