/**
 * Decodes and encodes `auth.json`, in the original's format. Pure. Unknown members are preserved. No error quotes the text.
 */
import { parseJson } from "@colloquy/protocol/Json"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

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
/** The content of the file, with its unknown members. */
export type Stored = typeof Stored.Type

/** The tokens of a login at an OAuth issuer. */
export interface Tokens {
  readonly idToken: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted
  readonly accountId?: string
}

/** The login of a user: an API key, or tokens. `refreshedAt` is an ISO 8601 time, empty if unknown. */
export type StoredCredentials =
  | { readonly _tag: "ApiKey"; readonly key: Redacted.Redacted }
  | { readonly _tag: "Tokens"; readonly tokens: Tokens; readonly refreshedAt: string }

const decode = Schema.decodeUnknownResult(Stored)

/** Decodes the text of the file; fails with what was expected. */
export const parseStored = (text: string): Result.Result<Stored, string> =>
  Result.mapError(
    Result.flatMap(parseJson(text), decode),
    () => "expected an object with `OPENAI_API_KEY` or `tokens`",
  )

/** The login that the file contains; undefined if there is none. An API key takes precedence over tokens. */
export const credentialsOf = (stored: Stored): StoredCredentials | undefined => {
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

/** The members of the file for a login. */
export const storedOf = (kept: StoredCredentials): Stored =>
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
