/** The key and the headers a provider's settings take from the environment, read through `Config` (L12). */
import type { ModelError, ModelProvider } from "@colloquy/core/ModelClient"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { addressSecrets } from "./Address.ts"
import { missingKey, unusableKey, unusableStored } from "./Failures.ts"

/** A key that is kept somewhere else than in the environment, and what goes with it. */
export interface StoredKey {
  readonly key: Redacted.Redacted
  /** Where this key is good for, in place of the provider's address. */
  readonly baseUrl?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Asked for each request of a provider whose `envKey` is not set; undefined where nothing is kept for it. */
export type FindKey = (provider: ModelProvider) => Effect.Effect<StoredKey | undefined, ModelError>

export interface Credentials {
  readonly key: Redacted.Redacted | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly baseUrl?: string
}

/** What people write into a configuration that is no secret is shorter: a version, a name. */
const minConfiguredLength = 8

/** The values no text may quote, the longest first: one may begin like another. */
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

/** Trimmed: files and shells add newlines. Blank counts as not set. */
const variable = (name: string): Effect.Effect<string | undefined, ModelError> =>
  Effect.matchEffect(Config.option(Config.Redacted(name)), {
    onFailure: () => Effect.fail(unusableKey(name, "cannot be read")),
    onSuccess: (value) => {
      const text = Option.match(value, { onNone: () => "", onSome: Redacted.value }).trim()
      return Effect.succeed(text === "" ? undefined : text)
    },
  })

// What a header may hold; anything else would fail with a text that quotes the key.
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

/** From the environment, else the token of the settings, else from where it is kept. */
const findKey = Effect.fnUntraced(function* (
  provider: ModelProvider,
  stored: FindKey | undefined,
): Effect.fn.Return<Partial<StoredKey>, ModelError> {
  const { bearerToken, envKey } = provider
  const found = envKey === undefined ? undefined : yield* variable(envKey)
  if (envKey !== undefined && found !== undefined) {
    return { key: Redacted.make(yield* usable(envKey, found)) }
  }
  if (bearerToken !== undefined) return { key: bearerToken }
  if (envKey === undefined) return {}
  const kept = stored === undefined ? undefined : yield* stored(provider)
  if (kept !== undefined) return yield* usableStored(provider, kept)
  if (provider.keyOptional === true) return {}
  return yield* missingKey(envKey, provider.envKeyInstructions)
})

/** Fails with reason `Key` when the key is needed and missing, or when a value cannot go into a header. */
export const readCredentials = Effect.fnUntraced(function* (
  provider: ModelProvider,
  stored?: FindKey,
): Effect.fn.Return<Credentials, ModelError> {
  const { key, baseUrl, headers: own } = yield* findKey(provider, stored)
  const headers: Record<string, string> = { ...own }
  for (const [header, name] of Object.entries(provider.envHttpHeaders)) {
    const value = yield* variable(name)
    if (value !== undefined) headers[header] = yield* usable(name, value)
  }
  return { key, headers, ...(baseUrl === undefined ? {} : { baseUrl }) }
})
