/**
 * Port: the person's login at the model's provider. Stores and refreshes the credentials, and returns them only from the
 * members below. Secrets are `Redacted`, and no error message contains one. Never sends anything to a client: the dialect
 * decides which clients are notified (packages/docs/wire/app-server.md).
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"

/** How the person logged in: with an API key, or with a ChatGPT account in the browser. */
export type AuthMethod = "apikey" | "chatgpt"

/** The action failed; `message` is for the person and contains no secret. */
export class AuthFailed extends Data.TaggedError("AuthFailed")<{ readonly message: string }> {}

/** No login with that id is in progress: it never existed, or it has ended. */
export class NoSuchLogin extends Data.TaggedError("NoSuchLogin")<{ readonly loginId: string }> {}

/** A login in the browser that is in progress. */
export interface Login {
  /** A UUID. */
  readonly loginId: string
  /** The page that the person has to open. */
  readonly authUrl: string
  /**
   * Resolves when the login has succeeded and its credentials are stored. Fails with `Login timed out` after ten minutes,
   * with `Login server error: …`, and with `Login was not completed` when it was cancelled or replaced. Several callers
   * may wait; interrupting one does not end the login.
   */
  readonly completed: Effect.Effect<void, AuthFailed>
}

/** Whether the person is logged in. */
export interface AuthStatus {
  /** False when the configured provider needs no login; the other members are absent then. */
  readonly required: boolean
  /** Absent, like `token`, when there is no token or it is empty. */
  readonly method?: AuthMethod
  readonly token?: Redacted.Redacted
}

/** The login of the person at the model's provider. */
export class Auth extends Context.Service<
  Auth,
  {
    /** Stores the key in place of earlier credentials; ends a login in progress. */
    readonly loginApiKey: (key: Redacted.Redacted) => Effect.Effect<void, AuthFailed>
    /** Starts a login in the browser and ends an earlier one in progress. Opens no browser. */
    readonly loginChatGpt: Effect.Effect<Login, AuthFailed>
    /** Ends the login in progress; its `completed` fails. */
    readonly cancelLogin: (loginId: string) => Effect.Effect<void, NoSuchLogin>
    /** Deletes the credentials and ends a login in progress. Succeeds also without a login. */
    readonly logout: Effect.Effect<void, AuthFailed>
    /**
     * The current login. With `refresh` a new token is requested first; when that fails, the old one is returned. Fails
     * when the credentials cannot be read, which is not the same as having none.
     */
    readonly status: (options: {
      readonly refresh: boolean
    }) => Effect.Effect<AuthStatus, AuthFailed>
    /** The address claimed by the stored token, unverified; undefined without one. Fails like `status`. */
    readonly email: Effect.Effect<string | undefined, AuthFailed>
  }
>()("@colloquy/server/app/Auth") {
  /** For a server that stores no credentials: there is no login and none is required. */
  static readonly none = Auth.of({
    loginApiKey: () => Effect.fail(new AuthFailed({ message: "storing API keys is disabled" })),
    loginChatGpt: Effect.suspend(() =>
      Effect.fail(new AuthFailed({ message: "login is disabled" })),
    ),
    cancelLogin: (loginId) => Effect.fail(new NoSuchLogin({ loginId })),
    logout: Effect.void,
    status: () => Effect.succeed({ required: false }),
    email: Effect.undefined,
  })

  /** `none` as a layer. */
  static readonly layerNone = Layer.succeed(this, this.none)
}
