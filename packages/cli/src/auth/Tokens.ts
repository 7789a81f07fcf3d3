/** The tokens of a login, refreshed before they run out; several who need one wait for the same refresh. */
import type { AuthFailed } from "@colloquy/server/app/ports/AuthPort"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Semaphore from "effect/Semaphore"
import type { AuthFile, Kept, MalformedLogin, Tokens } from "./AuthFile.ts"
import { claimsOf } from "./Claims.ts"
import * as OAuth from "./OAuth.ts"

/** A request and its retries fit in. */
const earlyMs = 5 * 60_000
/** Of tokens that do not say when they run out. */
const maxAgeMs = 28 * 24 * 60 * 60_000

type KeptTokens = Extract<Kept, { readonly _tag: "Tokens" }>

const isStale = ({ tokens, refreshedAt }: KeptTokens, now: number): boolean => {
  const { expiresAtMs } = claimsOf(tokens.accessToken)
  if (expiresAtMs !== undefined) return expiresAtMs - earlyMs <= now
  const since = Date.parse(refreshedAt)
  return !(now - since < maxAgeMs)
}

export interface Fresh {
  /** What is kept, its tokens refreshed where they run out. Fails when that fails; `force` refreshes at once. */
  readonly read: (options?: {
    readonly force?: boolean
  }) => Effect.Effect<Kept | undefined, AuthFailed | MalformedLogin>
}

export const make = Effect.fnUntraced(function* (
  file: AuthFile,
  issuer: OAuth.Issuer | undefined,
): Effect.fn.Return<Fresh, never, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const one = yield* Semaphore.make(1)

  const renew = Effect.fnUntraced(function* (
    issuer: OAuth.Issuer,
    before: Tokens,
  ): Effect.fn.Return<Kept, AuthFailed> {
    const tokens = yield* Effect.provideService(
      OAuth.refresh(issuer, before),
      HttpClient.HttpClient,
      client,
    )
    const refreshedAt = new Date(yield* Clock.currentTimeMillis).toISOString()
    const kept: Kept = { _tag: "Tokens", tokens, refreshedAt }
    yield* file.write(kept)
    return kept
  }, Effect.uninterruptible)

  return {
    // Read again under the permit: another one may have refreshed them meanwhile, here or in another process.
    read: (options) =>
      one.withPermit(
        Effect.gen(function* () {
          const kept = yield* file.read
          if (kept?._tag !== "Tokens" || issuer === undefined) return kept
          const stale = options?.force === true || isStale(kept, yield* Clock.currentTimeMillis)
          return stale ? yield* renew(issuer, kept.tokens) : kept
        }),
      ),
  }
})
