/** The key and the headers a provider's settings take from the environment, read through `Config` (L12). */
import type { ModelError, ModelProvider } from "@colloquy/core/ModelClient"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { missingKey, unusableKey } from "./Failures.ts"

export interface Credentials {
  readonly key: Redacted.Redacted | undefined
  readonly headers: Readonly<Record<string, string>>
}

/** The values no text may quote. */
export const secretsOf = ({ key, headers }: Credentials): ReadonlyArray<string> => [
  ...(key === undefined ? [] : [Redacted.value(key)]),
  ...Object.values(headers),
]

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

/** Fails with reason `Key` when the key is needed and missing, or when a value cannot go into a header. */
export const readCredentials = (provider: ModelProvider): Effect.Effect<Credentials, ModelError> =>
  Effect.gen(function* () {
    const { envKey } = provider
    const found = envKey === undefined ? undefined : yield* variable(envKey)
    if (envKey !== undefined && found === undefined && provider.keyOptional !== true) {
      return yield* missingKey(envKey, provider.envKeyInstructions)
    }
    const headers: Record<string, string> = {}
    for (const [header, name] of Object.entries(provider.envHttpHeaders)) {
      const value = yield* variable(name)
      if (value !== undefined) headers[header] = yield* usable(name, value)
    }
    return {
      key:
        envKey === undefined || found === undefined
          ? undefined
          : Redacted.make(yield* usable(envKey, found)),
      headers,
    }
  })
