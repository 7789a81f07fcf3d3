/**
 * The user's login, stored in `auth.json`: the `Auth` port of the app-server, and the keys of requests to providers. If that
 * file has no login, the one that the original stored is used (`OriginalLogin`).
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
import { excludedLogin } from "./ExcludedLogin.ts"
import * as Logins from "./Logins.ts"
import type { Issuer } from "./OAuth.ts"
import { make as makeOriginal, type OriginalLoginOptions } from "./OriginalLogin.ts"
import * as Tokens from "./Tokens.ts"

/** The key variable of the built-in provider, and of every other one that sets `requires_openai_auth`. */
const openaiKey = "OPENAI_API_KEY"

/** What the login needs. */
export interface AuthOptions {
  /** Directory of `auth.json`. */
  readonly directory: string
  /** The original's login, used for the built-in provider if `auth.json` has none. */
  readonly original?: OriginalLoginOptions
  /** The OAuth issuer. Without one, logins in the browser fail and tokens are never refreshed. */
  readonly issuer?: Issuer
  /** Port on 127.0.0.1 for the browser's callback. Default: 0, any free one. */
  readonly callbackPort?: number
  /** Base URL for requests of the built-in provider that use the tokens of a login. Default: its own base URL. */
  readonly tokenBaseUrl?: string
  /** The configured provider, whose login `status` reports. */
  readonly provider: ModelProvider
}

/** The login as the app-server and as the models use it. */
export interface LiveAuth {
  /** The port of the app-server. */
  readonly auth: Auth["Service"]
  /** The key for a request to a provider whose key variable is not set. */
  readonly findKey: FindKey
}

const isOpenai = ({ envKey }: ModelProvider): boolean => envKey === openaiKey

const noIssuer = new AuthFailed({
  message: "no issuer is configured: set `login.issuer` and `login.client_id`",
})

const noLogins: Logins.Logins = {
  start: Effect.fail(noIssuer),
  cancel: (loginId) => Effect.fail(new NoSuchLogin({ loginId })),
  end: Effect.void,
}

const keyOf = (kept: AuthFile.StoredCredentials, tokenBaseUrl: string | undefined): StoredKey =>
  kept._tag === "ApiKey"
    ? { key: kept.key }
    : {
        key: kept.tokens.accessToken,
        ...(tokenBaseUrl === undefined ? {} : { baseUrl: tokenBaseUrl }),
        ...(kept.tokens.accountId === undefined
          ? {}
          : { headers: { "chatgpt-account-id": kept.tokens.accountId } }),
      }

/** Logs the problem and continues without a login. */
const withoutLogin = ({ message }: { readonly message: string }) =>
  Effect.as(Effect.logWarning(message), undefined)

const keyError = ({ message }: { readonly message: string }) =>
  new ModelError({ reason: "Key", message, retryable: false })

/** Id of the built-in provider. Only it gets the login of another program, since other providers have other hosts. */
const builtinId = "openai"

/** Access to the original's login, restricted to the provider that may use it. */
const makeOriginalLookup = (options: OriginalLoginOptions | undefined) => {
  const original = options === undefined ? undefined : makeOriginal(options)
  const usable = ({ id }: ModelProvider) => (id === builtinId ? original : undefined)
  return {
    path: original?.path,
    /** The login, if any. Also fails for tokens that have expired. */
    read: (provider: ModelProvider) => usable(provider)?.read ?? Effect.undefined,
    /** Fails if the original has a login that the configuration excludes; otherwise the error about the missing key suffices. */
    explain: Effect.fnUntraced(function* (
      provider: ModelProvider,
    ): Effect.fn.Return<undefined, ModelError> {
      const left = usable(provider)
      if (left === undefined || provider.keyOptional === true) return
      if (!(yield* left.isExcluded)) return
      return yield* keyError({
        message: `Missing environment variable: \`${openaiKey}\`; ${excludedLogin(left.path)}.`,
      })
    }),
  }
}

type OriginalLookup = ReturnType<typeof makeOriginalLookup>

class UserAuth {
  private readonly options: AuthOptions
  private readonly file: AuthFile.AuthFile
  private readonly fresh: Tokens.FreshTokens
  private readonly original: OriginalLookup
  private readonly logins: Logins.Logins

  constructor(
    options: AuthOptions,
    file: AuthFile.AuthFile,
    fresh: Tokens.FreshTokens,
    logins: Logins.Logins,
  ) {
    this.options = options
    this.file = file
    this.fresh = fresh
    this.original = makeOriginalLookup(options.original)
    this.logins = logins
  }

  port(): Auth["Service"] {
    const { file, logins } = this
    return Auth.of({
      loginApiKey: (key) => Effect.andThen(logins.end, file.write({ _tag: "ApiKey", key })),
      loginChatGpt: logins.start,
      cancelLogin: logins.cancel,
      logout: Effect.suspend(() => this.logout()),
      status: ({ refresh }) => this.status(refresh),
      email: Effect.map(
        Effect.suspend(() => this.withoutRefresh()),
        (found) => (found?._tag === "Tokens" ? claimsOf(found.tokens.idToken).email : undefined),
      ),
    })
  }

  /** The key for a provider that takes an OpenAI key; undefined for any other one, or without a login. */
  readonly findKey: FindKey = (provider) => {
    if (!isOpenai(provider)) return Effect.undefined
    return Effect.gen({ self: this }, function* () {
      const own = yield* Effect.mapError(this.fresh.read(), keyError)
      const found = own ?? (yield* Effect.mapError(this.original.read(provider), keyError))
      if (found === undefined) return yield* this.original.explain(provider)
      return keyOf(found, provider.id === builtinId ? this.options.tokenBaseUrl : undefined)
    })
  }

  /** The original's login. It is only read, never refreshed: expired tokens count as no login. */
  private ofOriginal() {
    return this.original
      .read(this.options.provider)
      .pipe(Effect.catchTags({ LoginExpired: withoutLogin, MalformedLogin: withoutLogin }))
  }

  private ofFile() {
    return Effect.catchTag(this.file.read, "MalformedLogin", withoutLogin)
  }

  private orOriginal(found: AuthFile.StoredCredentials | undefined) {
    return found === undefined ? this.ofOriginal() : Effect.succeed(found)
  }

  private withoutRefresh() {
    return Effect.flatMap(this.ofFile(), (found) => this.orOriginal(found))
  }

  private refreshed(force: boolean) {
    return this.fresh.read({ force }).pipe(
      // A refresh that failed does not mean that there is no login.
      Effect.catch(({ message }) => Effect.andThen(Effect.logWarning(message), this.ofFile())),
      Effect.flatMap((found) => this.orOriginal(found)),
    )
  }

  private readonly logout = Effect.fnUntraced(function* (
    this: UserAuth,
  ): Effect.fn.Return<void, AuthFailed> {
    yield* this.logins.end
    const isOwn = Result.match(yield* Effect.result(this.file.read), {
      onFailure: () => true,
      onSuccess: (found) => found !== undefined,
    })
    yield* this.file.remove
    if (!isOwn && (yield* this.ofOriginal()) !== undefined) {
      return yield* new AuthFailed({
        message: `the login is the one of codex in ${this.original.path}, which Colloquy never changes: use \`codex logout\`, or set \`login.from_codex\` to false`,
      })
    }
  })

  private readonly status = Effect.fnUntraced(function* (this: UserAuth, refresh: boolean) {
    if (!isOpenai(this.options.provider)) return { required: false }
    const found = yield* this.refreshed(refresh)
    if (found === undefined) return { required: true }
    return found._tag === "ApiKey"
      ? { required: true, method: "apikey" as const, token: found.key }
      : { required: true, method: "chatgpt" as const, token: found.tokens.accessToken }
  })
}

/** Creates the login. A login in the browser that is in progress ends with the scope. */
export const make = Effect.fnUntraced(function* (
  options: AuthOptions,
): Effect.fn.Return<LiveAuth, never, Scope.Scope | HttpClient.HttpClient> {
  const { callbackPort = 0, issuer } = options
  const file = AuthFile.make(options.directory)
  const fresh = yield* Tokens.make(file, issuer)
  const logins =
    issuer === undefined ? noLogins : yield* Logins.make({ issuer, callbackPort, file })
  const user = new UserAuth(options, file, fresh, logins)
  return { auth: user.port(), findKey: user.findKey }
})
