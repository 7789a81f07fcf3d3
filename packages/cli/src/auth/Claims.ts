/**
 * Reads the claims of a JWT without verifying its signature: tokens come from the issuer over TLS, and the server that they
 * are sent to verifies them. Pure.
 */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const Claims = Schema.fromJsonString(
  Schema.Struct({
    email: Schema.optionalKey(Schema.String),
    /** Seconds since the epoch. */
    exp: Schema.optionalKey(Schema.Finite),
    "https://api.openai.com/auth": Schema.optionalKey(
      Schema.Struct({ chatgpt_account_id: Schema.optionalKey(Schema.String) }),
    ),
  }),
)

/** The claims that are used; each is absent if the token does not have it. */
export interface TokenClaims {
  readonly email?: string
  readonly expiresAtMs?: number
  readonly accountId?: string
}

const decode = Schema.decodeUnknownResult(Claims)

/** The claims of a token; empty for a token that is no JWT. */
export const claimsOf = (token: Redacted.Redacted): TokenClaims => {
  const payload = Redacted.value(token).split(".")[1]
  if (payload === undefined) return {}
  const claims = decode(Buffer.from(payload, "base64url").toString("utf8"))
  if (Result.isFailure(claims)) return {}
  const { email, exp, "https://api.openai.com/auth": auth } = claims.success
  return {
    ...(email === undefined ? {} : { email }),
    ...(exp === undefined ? {} : { expiresAtMs: exp * 1000 }),
    ...(auth?.chatgpt_account_id === undefined ? {} : { accountId: auth.chatgpt_account_id }),
  }
}
