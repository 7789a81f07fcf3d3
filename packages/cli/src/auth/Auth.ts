/** Who the person is, kept in `auth.json` (§3.10): the `Auth` port of the app-server, and the keys of requests. */
import { ModelError, type ModelProvider } from "@colloquy/core/ModelClient"
import type { FindKey, StoredKey } from "@colloquy/models/HttpModel"
import { Auth, AuthFailed, NoSuchLogin } from "@colloquy/server/app/AuthPort"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Scope from "effect/Scope"
import * as AuthFile from "./AuthFile.ts"
import { claimsOf } from "./Claims.ts"
import * as Logins from "./Logins.ts"
import type { Issuer } from "./OAuth.ts"
import * as Tokens from "./Tokens.ts"

/** The variable of the built-in provider, and of every other that says `requires_openai_auth`. */
const openaiKey = "OPENAI_API_KEY"

export interface AuthOptions {
  /** Of `auth.json`. */
  readonly directory: string
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

/** Logins under way end with the scope. */
export const make = Effect.fnUntraced(function* (
  options: AuthOptions,
): Effect.fn.Return<LiveAuth, never, Scope.Scope | HttpClient.HttpClient> {
  const { issuer } = options
  const file = AuthFile.make(options.directory)
  const fresh = yield* Tokens.make(file, issuer)
  const logins =
    issuer === undefined
      ? noLogins
      : yield* Logins.make({ issuer, callbackPort: options.callbackPort ?? 0, file })

  const kept = (force: boolean) =>
    fresh.read({ force }).pipe(
      Effect.catch(({ message }) =>
        Effect.andThen(
          Effect.logWarning(message),
          Effect.orElseSucceed(file.read, () => undefined),
        ),
      ),
    )

  const auth = Auth.of({
    loginApiKey: (key) => Effect.andThen(logins.end, file.write({ _tag: "ApiKey", key })),
    loginChatGpt: logins.begin,
    cancelLogin: logins.cancel,
    logout: Effect.andThen(logins.end, file.remove),
    status: Effect.fnUntraced(function* ({ refresh }) {
      if (!isOpenai(options.provider)) return { required: false }
      const found = yield* kept(refresh)
      if (found === undefined) return { required: true }
      return found._tag === "ApiKey"
        ? { required: true, method: "apikey", token: found.key }
        : { required: true, method: "chatgpt", token: found.tokens.accessToken }
    }),
    email: Effect.map(
      Effect.orElseSucceed(file.read, () => undefined),
      (found) => (found?._tag === "Tokens" ? claimsOf(found.tokens.idToken).email : undefined),
    ),
  })

  return {
    auth,
    findKey: (provider) =>
      isOpenai(provider)
        ? fresh.read().pipe(
            Effect.mapBoth({
              onSuccess: (found) =>
                found === undefined
                  ? undefined
                  : keyOf(found, provider.id === "openai" ? options.tokenBaseUrl : undefined),
              onFailure: ({ message }) =>
                new ModelError({ reason: "Key", message, retryable: false }),
            }),
          )
        : Effect.undefined,
  }
})
