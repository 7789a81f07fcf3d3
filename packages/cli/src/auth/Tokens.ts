/** The tokens of a login, refreshed before they expire. Concurrent callers wait for the same refresh. */
import type { AuthFailed } from "@colloquy/server/app/ports/AuthPort"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Semaphore from "effect/Semaphore"
import type { AuthFile, StoredCredentials, MalformedLogin, Tokens } from "./AuthFile.ts"
import { claimsOf } from "./Claims.ts"
import * as OAuth from "./OAuth.ts"

/** Tokens are refreshed this long before they expire, so that a request and its retries still succeed. */
const earlyMs = 5 * 60_000
/** Age at which tokens without an expiry are refreshed. */
const maxAgeMs = 28 * 24 * 60 * 60_000

type KeptTokens = Extract<StoredCredentials, { readonly _tag: "Tokens" }>

const isStale = ({ tokens, refreshedAt }: KeptTokens, now: number): boolean => {
  const { expiresAtMs } = claimsOf(tokens.accessToken)
  if (expiresAtMs !== undefined) return expiresAtMs - earlyMs <= now
  const since = Date.parse(refreshedAt)
  return !(now - since < maxAgeMs)
}

/** Access to the login with current tokens. */
export interface FreshTokens {
  /** The stored login, its tokens refreshed if they are about to expire or `force` is set. Fails if the refresh fails. */
  readonly read: (options?: {
    readonly force?: boolean
  }) => Effect.Effect<StoredCredentials | undefined, AuthFailed | MalformedLogin>
}

/** @param issuer without one, tokens are never refreshed */
export const make = Effect.fnUntraced(function* (
  file: AuthFile,
  issuer: OAuth.Issuer | undefined,
): Effect.fn.Return<FreshTokens, never, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const lock = yield* Semaphore.make(1)

  const renew = Effect.fnUntraced(function* (
    issuer: OAuth.Issuer,
    before: Tokens,
  ): Effect.fn.Return<StoredCredentials, AuthFailed> {
    const tokens = yield* Effect.provideService(
      OAuth.refresh(issuer, before),
      HttpClient.HttpClient,
      client,
    )
    const refreshedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const kept: StoredCredentials = { _tag: "Tokens", tokens, refreshedAt }
    yield* file.write(kept)
    return kept
  }, Effect.uninterruptible)

  return {
    // The file is read under the permit: another fiber or process may have refreshed the tokens meanwhile.
    read: (options) =>
      lock.withPermit(
        Effect.gen(function* () {
          const kept = yield* file.read
          if (kept?._tag !== "Tokens" || issuer === undefined) return kept
          const stale = options?.force === true || isStale(kept, yield* Clock.currentTimeMillis)
          return stale ? yield* renew(issuer, kept.tokens) : kept
        }),
      ),
  }
})
