/**
 * The login that the original made in its own directory (`$CODEX_HOME`, else `~/.codex`), used where Colloquy has none.
 *
 * The file is only ever read. Its tokens are never refreshed: the issuer replaces the refresh token with each use, and the
 * original would be left with one that is no longer valid. No error quotes the file.
 */
import { AuthFailed } from "@colloquy/server/app/ports/AuthPort"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as AuthFile from "./AuthFile.ts"
import { claimsOf } from "./Claims.ts"

export interface OriginalLoginOptions {
  /** Directory of the original's `auth.json`. */
  readonly directory: string
  /** The setting `login.from_codex`. */
  readonly isUsed: boolean
}

/** The tokens are no longer valid; `message` says how to get new ones. */
class LoginExpired extends Data.TaggedError("LoginExpired")<{ readonly message: string }> {}

export interface OriginalLogin {
  readonly path: string
  /** Undefined where the original has no login, or the setting says not to use it. */
  readonly read: Effect.Effect<
    AuthFile.Kept | undefined,
    AuthFailed | AuthFile.MalformedLogin | LoginExpired
  >
  /** True where the original has a login that the setting says not to use. */
  readonly isLeftOut: Effect.Effect<boolean>
}

const expired = (path: string, atMs: number) =>
  new LoginExpired({
    message: `the login of codex in ${path} expired at ${new Date(atMs).toISOString()}: renew it with \`codex login\`, or set OPENAI_API_KEY; Colloquy never changes that file`,
  })

export const make = ({ directory, isUsed }: OriginalLoginOptions): OriginalLogin => {
  const file = AuthFile.make(directory)
  const { path } = file
  const valid = Effect.gen(function* () {
    const kept = yield* file.read
    if (kept?._tag !== "Tokens") return kept
    const { expiresAtMs } = claimsOf(kept.tokens.accessToken)
    if (expiresAtMs !== undefined && expiresAtMs <= (yield* Clock.currentTimeMillis)) {
      return yield* expired(path, expiresAtMs)
    }
    return kept
  })
  return {
    path,
    read: isUsed ? valid : Effect.undefined,
    isLeftOut: isUsed
      ? Effect.succeed(false)
      : Effect.match(file.read, {
          // A file that cannot be read is there, too.
          onFailure: () => true,
          onSuccess: (kept) => kept !== undefined,
        }),
  }
}
