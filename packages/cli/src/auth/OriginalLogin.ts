/**
 * The login that the original stored in its own directory (`$CODEX_HOME`, else `~/.codex`), used if Colloquy has none.
 *
 * The file is only read. Its tokens are never refreshed: the issuer replaces the refresh token at each use, which would
 * leave the original with an invalid one. No error quotes the file.
 */
import { AuthFailed } from "@colloquy/server/app/ports/AuthPort"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as AuthFile from "./AuthFile.ts"
import { claimsOf } from "./Claims.ts"

/** Where the original's login is, and whether to use it. */
export interface OriginalLoginOptions {
  /** Directory of the original's `auth.json`. */
  readonly directory: string
  /** The setting `login.from_codex`. */
  readonly isUsed: boolean
}

/** The tokens are no longer valid; `message` says how to get new ones. */
class LoginExpired extends Data.TaggedError("LoginExpired")<{ readonly message: string }> {}

/** Read access to the original's login. */
export interface OriginalLogin {
  /** Path of the original's `auth.json`. */
  readonly path: string
  /** The login; undefined if there is none or the setting excludes it. Fails for expired tokens. */
  readonly read: Effect.Effect<
    AuthFile.StoredCredentials | undefined,
    AuthFailed | AuthFile.MalformedLogin | LoginExpired
  >
  /** True if the original has a login that the setting excludes. */
  readonly isExcluded: Effect.Effect<boolean>
}

const expired = (path: string, atMs: number) =>
  new LoginExpired({
    message: `the login of codex in ${path} expired at ${new Date(atMs).toISOString()}: renew it with \`codex login\`, or set OPENAI_API_KEY; Colloquy never changes that file`,
  })

/** Creates the access. Reads nothing yet. */
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
    isExcluded: isUsed
      ? Effect.succeed(false)
      : Effect.match(file.read, {
          // A file that cannot be read exists.
          onFailure: () => true,
          onSuccess: (kept) => kept !== undefined,
        }),
  }
}
