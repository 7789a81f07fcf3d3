/** What a token says of itself, unchecked: the server that gave it out is asked over TLS, and checks it again. Pure. */
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

export interface TokenClaims {
  readonly email?: string
  readonly expiresAtMs?: number
  readonly accountId?: string
}

const decode = Schema.decodeUnknownResult(Claims)

/** Of a token that is no JWT nothing is known. */
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
