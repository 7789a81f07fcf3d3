/** A stand-in for the account service. It stores nothing beyond the test and completes logins on demand. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Auth, AuthFailed, type AuthStatus, NoSuchLogin } from "../../src/app/ports/AuthPort.ts"

export const loginId = "11111111-1111-4111-8111-111111111111"

export interface Account {
  readonly auth: Auth["Service"]
  readonly key: () => string | undefined
  readonly end: (error?: string) => void
}

export const account = (
  options: {
    readonly failing?: string
    readonly status?: AuthStatus
    readonly email?: string
  } = {},
): Account => {
  const { failing } = options
  let key: string | undefined
  let login: Deferred.Deferred<void, AuthFailed> | undefined
  const failed =
    failing === undefined ? Effect.void : Effect.fail(new AuthFailed({ message: failing }))
  const end = (error?: string) => {
    if (login === undefined) return
    Deferred.doneUnsafe(
      login,
      error === undefined ? Effect.void : Effect.fail(new AuthFailed({ message: error })),
    )
    login = undefined
  }
  return {
    key: () => key,
    end,
    auth: Auth.of({
      loginApiKey: (given) =>
        Effect.map(failed, () => {
          key = Redacted.value(given)
        }),
      loginChatGpt: Effect.map(failed, () => {
        const completed = Deferred.makeUnsafe<void, AuthFailed>()
        login = completed
        return {
          loginId,
          authUrl: "http://issuer.test/login",
          completed: Deferred.await(completed),
        }
      }),
      cancelLogin: (id) =>
        Effect.suspend(() => {
          if (login === undefined || id !== loginId) {
            return Effect.fail(new NoSuchLogin({ loginId: id }))
          }
          end("Login was not completed")
          return Effect.void
        }),
      logout: Effect.map(failed, () => {
        key = undefined
      }),
      status: ({ refresh }) =>
        Effect.succeed(
          options.status ?? {
            required: true,
            ...(key === undefined
              ? {}
              : { method: "apikey", token: Redacted.make(refresh ? `fresh ${key}` : key) }),
          },
        ),
      email: Effect.succeed(options.email),
    }),
  }
}
