/**
 * Who the person is, kept in `auth.json` (§3.10): the `Auth` port of the app-server, and the keys of requests. Where that
 * file has no login, the one that the original made is used (`OriginalLogin`).
 */
import { ModelError, type ModelProvider } from "@colloquy/core/ModelClient"
import type { FindKey, StoredKey } from "@colloquy/models/HttpModel"
import { Auth, AuthFailed, NoSuchLogin } from "@colloquy/server/app/ports/AuthPort"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as AuthFile from "./AuthFile.ts"
import { claimsOf } from "./Claims.ts"
import { leftOut } from "./LeftOut.ts"
import * as Logins from "./Logins.ts"
import type { Issuer } from "./OAuth.ts"
import { make as makeOriginal, type OriginalLoginOptions } from "./OriginalLogin.ts"
import * as Tokens from "./Tokens.ts"

/** The variable of the built-in provider, and of every other that says `requires_openai_auth`. */
const openaiKey = "OPENAI_API_KEY"

export interface AuthOptions {
  /** Of `auth.json`. */
  readonly directory: string
  /** Used for the built-in provider where `auth.json` has no login. */
  readonly original?: OriginalLoginOptions
  /** Without one nobody can log in by browser, and tokens are used as they are. */
  readonly issuer?: Issuer
  /** Default: any that is free. */
  readonly callbackPort?: number
  /** Where the tokens of a login are good for with the built-in provider; default: its own address. */
  readonly tokenBaseUrl?: string
  /** The provider where nothing else is said. */
  readonly provider: ModelProvider
}

export interface LiveAuth {
  readonly auth: Auth["Service"]
  readonly findKey: FindKey
}

const isOpenai = ({ envKey }: ModelProvider): boolean => envKey === openaiKey

const noIssuer = new AuthFailed({
  message: "no issuer is configured: set `login.issuer` and `login.client_id`",
})

const noLogins: Logins.Logins = {
  begin: Effect.fail(noIssuer),
  cancel: (loginId) => Effect.fail(new NoSuchLogin({ loginId })),
  end: Effect.void,
}

const keyOf = (kept: AuthFile.Kept, tokenBaseUrl: string | undefined): StoredKey =>
  kept._tag === "ApiKey"
    ? { key: kept.key }
    : {
        key: kept.tokens.accessToken,
        ...(tokenBaseUrl === undefined ? {} : { baseUrl: tokenBaseUrl }),
        ...(kept.tokens.accountId === undefined
          ? {}
          : { headers: { "chatgpt-account-id": kept.tokens.accountId } }),
      }

const keyError = ({ message }: { readonly message: string }) =>
  new ModelError({ reason: "Key", message, retryable: false })

/** Id of the built-in provider: the only one that gets the login of another program, since others have hosts of their own. */
const builtinId = "openai"

/** The login of the original, for the providers that get it. */
const makeOriginalLookup = (options: OriginalLoginOptions | undefined) => {
  const original = options === undefined ? undefined : makeOriginal(options)
  const usable = ({ id }: ModelProvider) => (id === builtinId ? original : undefined)
  return {
    path: original?.path,
    /** Fails also for tokens that have expired. */
    read: (provider: ModelProvider) => usable(provider)?.read ?? Effect.undefined,
    /** Fails where the original has a login that is not used; else the error of a missing key says enough. */
    explain: Effect.fnUntraced(function* (
      provider: ModelProvider,
    ): Effect.fn.Return<undefined, ModelError> {
      const left = usable(provider)
      if (left === undefined || provider.keyOptional === true) return
      if (!(yield* left.isLeftOut)) return
      return yield* keyError({
        message: `Missing environment variable: \`${openaiKey}\`; ${leftOut(left.path)}.`,
      })
    }),
  }
}

/** Logins under way end with the scope. */
export const make = Effect.fnUntraced(function* (
  options: AuthOptions,
): Effect.fn.Return<LiveAuth, never, Scope.Scope | HttpClient.HttpClient> {
  const { issuer, provider } = options
  const file = AuthFile.make(options.directory)
  const fresh = yield* Tokens.make(file, issuer)
  const original = makeOriginalLookup(options.original)
  const logins =
    issuer === undefined
      ? noLogins
      : yield* Logins.make({ issuer, callbackPort: options.callbackPort ?? 0, file })

  const noLogin = ({ message }: { readonly message: string }) =>
    Effect.as(Effect.logWarning(message), undefined)
  /** Only reads: tokens that have expired are none. */
  const ofOriginal = original
    .read(provider)
    .pipe(Effect.catchTags({ LoginExpired: noLogin, MalformedLogin: noLogin }))
  const ofFile = Effect.catchTag(file.read, "MalformedLogin", noLogin)
  const orOriginal = (found: AuthFile.Kept | undefined) =>
    found === undefined ? ofOriginal : Effect.succeed(found)

  const kept = (force: boolean) =>
    fresh.read({ force }).pipe(
      // A refresh that failed does not mean that there is no login.
      Effect.catch(({ message }) => Effect.andThen(Effect.logWarning(message), ofFile)),
      Effect.flatMap(orOriginal),
    )

  const auth = Auth.of({
    loginApiKey: (key) => Effect.andThen(logins.end, file.write({ _tag: "ApiKey", key })),
    loginChatGpt: logins.begin,
    cancelLogin: logins.cancel,
    logout: Effect.gen(function* () {
      yield* logins.end
      const isOwn = Result.match(yield* Effect.result(file.read), {
        onFailure: () => true,
        onSuccess: (found) => found !== undefined,
      })
      yield* file.remove
      if (!isOwn && (yield* ofOriginal) !== undefined) {
        return yield* new AuthFailed({
          message: `the login is that of codex in ${original.path}, which Colloquy never changes: use \`codex logout\`, or set \`login.from_codex\` to false`,
        })
      }
    }),
    status: Effect.fnUntraced(function* ({ refresh }) {
      if (!isOpenai(provider)) return { required: false }
      const found = yield* kept(refresh)
      if (found === undefined) return { required: true }
      return found._tag === "ApiKey"
        ? { required: true, method: "apikey", token: found.key }
        : { required: true, method: "chatgpt", token: found.tokens.accessToken }
    }),
    email: Effect.map(Effect.flatMap(ofFile, orOriginal), (found) =>
      found?._tag === "Tokens" ? claimsOf(found.tokens.idToken).email : undefined,
    ),
  })

  return {
    auth,
    findKey: Effect.fnUntraced(function* (asking) {
      if (!isOpenai(asking)) return undefined
      const own = yield* Effect.mapError(fresh.read(), keyError)
      const found = own ?? (yield* Effect.mapError(original.read(asking), keyError))
      if (found === undefined) return yield* original.explain(asking)
      return keyOf(found, asking.id === builtinId ? options.tokenBaseUrl : undefined)
    }),
  }
})
