/**
 * Port: who the person is to the model's provider. Keeps and refreshes what was logged in with; tells nobody but those
 * who ask by name. What is secret is `Redacted`, and no message of an error holds any of it.
 *
 * The dialect decides who is told what (§3.10); the port never sends anything to a client.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"

export type AuthMethod = "apikey" | "chatgpt"

/** It could not be done; `message` is for the person who asked, without any secret. */
export class AuthFailed extends Data.TaggedError("AuthFailed")<{ readonly message: string }> {}

/** No login of that id is under way: it never was, or it is over. */
export class NoSuchLogin extends Data.TaggedError("NoSuchLogin")<{ readonly loginId: string }> {}

/** A login in the browser that has begun. */
export interface Login {
  /** A UUID. */
  readonly loginId: string
  /** Where the person has to go. */
  readonly authUrl: string
  /**
   * Waits for the end of the attempt, for everybody who runs it; fails when it was not successful: `Login timed out`
   * after ten minutes, `Login server error: …`, `Login was not completed` when it was cancelled or replaced. On success
   * what was logged in with is kept already. Interrupting it does not end the attempt.
   */
  readonly completed: Effect.Effect<void, AuthFailed>
}

export interface AuthStatus {
  /** False where the provider in effect takes no login: then nothing else is there. */
  readonly required: boolean
  /** Of a token that is there and not empty. */
  readonly method?: AuthMethod
  readonly token?: Redacted.Redacted
}

export class Auth extends Context.Service<
  Auth,
  {
    /** Keeps the key in place of whatever was there; ends a login under way. */
    readonly loginApiKey: (key: Redacted.Redacted) => Effect.Effect<void, AuthFailed>
    /** Begins a login in the browser; one that is under way is ended. Opens no browser. */
    readonly loginChatGpt: Effect.Effect<Login, AuthFailed>
    /** Ends that login; its `completed` fails. */
    readonly cancelLogin: (loginId: string) => Effect.Effect<void, NoSuchLogin>
    /** Forgets what was logged in with, and ends a login under way. Done twice it is done once. */
    readonly logout: Effect.Effect<void, AuthFailed>
    /**
     * `refresh` asks for a new token first; where that fails the old one is given. Fails when it cannot be read whether
     * there is a login: that is not the absence of one.
     */
    readonly status: (options: {
      readonly refresh: boolean
    }) => Effect.Effect<AuthStatus, AuthFailed>
    /** As the stored token claims, unchecked; undefined without one. Fails as `status`. */
    readonly email: Effect.Effect<string | undefined, AuthFailed>
  }
>()("@colloquy/server/app/Auth") {
  /** Of a server that keeps nothing: there is no login, and none is needed. */
  static readonly none = Auth.of({
    loginApiKey: () => Effect.fail(new AuthFailed({ message: "this server keeps no keys" })),
    loginChatGpt: Effect.suspend(() =>
      Effect.fail(new AuthFailed({ message: "this server has no login" })),
    ),
    cancelLogin: (loginId) => Effect.fail(new NoSuchLogin({ loginId })),
    logout: Effect.void,
    status: () => Effect.succeed({ required: false }),
    email: Effect.undefined,
  })

  static readonly layerNone = Layer.succeed(this, this.none)
}
