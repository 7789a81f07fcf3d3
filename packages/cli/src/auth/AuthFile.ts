/**
 * `auth.json` in the state directory: an API key, or the tokens of a login, in the original's shape, so that a login
 * made with either serves both. Its owner's alone (0600); members that nobody here knows stay. No error quotes it.
 */
import { parseJson } from "@colloquy/protocol/Json"
import { AuthFailed } from "@colloquy/server/app/AuthPort"
import { readFile } from "@colloquy/store/ReadFile"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { replace } from "../AtomicFile.ts"
import { codeOf, problemOf } from "../config/ConfigFile.ts"

const maxBytes = 256 * 1024

const Stored = Schema.StructWithRest(
  Schema.Struct({
    OPENAI_API_KEY: Schema.optionalKey(Schema.NullOr(Schema.String)),
    tokens: Schema.optionalKey(
      Schema.NullOr(
        Schema.Struct({
          id_token: Schema.String,
          access_token: Schema.String,
          refresh_token: Schema.String,
          account_id: Schema.optionalKey(Schema.NullOr(Schema.String)),
        }),
      ),
    ),
    /** ISO 8601. */
    last_refresh: Schema.optionalKey(Schema.NullOr(Schema.String)),
  }),
  [Schema.Record(Schema.String, Schema.Unknown)],
)
type Stored = typeof Stored.Type

export interface Tokens {
  readonly idToken: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted
  readonly accountId?: string
}

/** What somebody logged in with. */
export type Kept =
  | { readonly _tag: "ApiKey"; readonly key: Redacted.Redacted }
  | { readonly _tag: "Tokens"; readonly tokens: Tokens; readonly refreshedAt: string }

const decode = Schema.decodeUnknownResult(Stored)

/** What a text says, or what was expected of it. */
const storedIn = (text: string): Result.Result<Stored, string> =>
  Result.mapError(
    Result.flatMap(parseJson(text), decode),
    () => "expected an object with `OPENAI_API_KEY` or `tokens`",
  )

const fail = (message: string) => new AuthFailed({ message })

const pathIn = (directory: string): string => join(directory, "auth.json")

/** Undefined for a file that is missing. */
const readFrom = (path: string): Effect.Effect<Stored | undefined, AuthFailed> =>
  Effect.suspend(() => {
    let text: string
    try {
      text = new TextDecoder().decode(readFile(path, maxBytes))
    } catch (error) {
      return codeOf(error) === "ENOENT" ? Effect.undefined : fail(`${path}: ${problemOf(error)}`)
    }
    return Effect.mapError(Effect.fromResult(storedIn(text)), (problem) =>
      fail(`${path}: ${problem}`),
    )
  })

const write = Effect.fnUntraced(function* (
  path: string,
  stored: Stored,
): Effect.fn.Return<void, AuthFailed> {
  const suffix = String(yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER))
  yield* Effect.try({
    try: () => replace(path, `${JSON.stringify(stored, null, 2)}\n`, { suffix, mode: 0o600 }),
    catch: (error) => fail(`${path}: cannot be written (${codeOf(error)})`),
  })
})

const keptIn = (stored: Stored): Kept | undefined => {
  const { OPENAI_API_KEY: key, tokens, last_refresh: refreshedAt } = stored
  if (typeof key === "string" && key.trim() !== "") {
    return { _tag: "ApiKey", key: Redacted.make(key.trim()) }
  }
  if (tokens === undefined || tokens === null || tokens.access_token === "") return undefined
  return {
    _tag: "Tokens",
    tokens: {
      idToken: Redacted.make(tokens.id_token),
      accessToken: Redacted.make(tokens.access_token),
      refreshToken: Redacted.make(tokens.refresh_token),
      ...(typeof tokens.account_id === "string" ? { accountId: tokens.account_id } : {}),
    },
    refreshedAt: refreshedAt ?? "",
  }
}

/** What a text of the file keeps; undefined when nobody is logged in. Pure. */
export const read = (text: string): Result.Result<Kept | undefined, string> =>
  Result.map(storedIn(text), keptIn)

const storedOf = (kept: Kept): Stored =>
  kept._tag === "ApiKey"
    ? { OPENAI_API_KEY: Redacted.value(kept.key), tokens: null, last_refresh: null }
    : {
        OPENAI_API_KEY: null,
        tokens: {
          id_token: Redacted.value(kept.tokens.idToken),
          access_token: Redacted.value(kept.tokens.accessToken),
          refresh_token: Redacted.value(kept.tokens.refreshToken),
          account_id: kept.tokens.accountId ?? null,
        },
        last_refresh: kept.refreshedAt,
      }

export interface AuthFile {
  /** Undefined when nobody is logged in. */
  readonly read: Effect.Effect<Kept | undefined, AuthFailed>
  /** Returns when it is on disk. */
  readonly write: (kept: Kept) => Effect.Effect<void, AuthFailed>
  readonly remove: Effect.Effect<void, AuthFailed>
}

export const make = (directory: string): AuthFile => {
  const path = pathIn(directory)
  return {
    read: Effect.map(readFrom(path), (stored) =>
      stored === undefined ? undefined : keptIn(stored),
    ),
    write: (kept) =>
      Effect.flatMap(
        // A file that cannot be read holds nothing that could be kept.
        Effect.orElseSucceed(readFrom(path), () => undefined),
        (before) => write(path, { ...before, ...storedOf(kept) }),
      ),
    remove: Effect.try({
      try: () => rmSync(path, { force: true }),
      catch: (error) => fail(`${path}: cannot be removed (${codeOf(error)})`),
    }),
  }
}
