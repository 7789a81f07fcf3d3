/** Loads the login at its first use, because the response to `initialize` does not need it and the client waits for it. */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { ServerOptions } from "../args/ServerOptions.ts"
import type { AuthOptions, LiveAuth } from "../auth/Auth.ts"

/** Where logins are, and the configuration of logins. */
export interface LazyAuthOptions {
  readonly stateDirectory: string
  /** Directory of the original's `auth.json`; absent if it is the state directory. */
  readonly originalDirectory?: string
  readonly login: ServerOptions["login"]
  /** Base URL for requests with the tokens of a login, if `login` does not set it. */
  readonly tokenBaseUrl?: string
  /** The configured provider. */
  readonly provider: ModelProvider
}

const defaultScopes = "openid profile email offline_access"

const authOptions = (options: LazyAuthOptions): AuthOptions => {
  const { login = {}, originalDirectory, provider, stateDirectory } = options
  const { callback_port: callbackPort, client_id: clientId, issuer: url } = login
  const { base_url: tokenBaseUrl = options.tokenBaseUrl, scopes = defaultScopes } = login
  return {
    directory: stateDirectory,
    provider,
    ...(originalDirectory === undefined
      ? {}
      : { original: { directory: originalDirectory, isUsed: login.from_codex ?? true } }),
    ...(url === undefined || clientId === undefined
      ? {}
      : { issuer: { url: url.replace(/\/+$/, ""), clientId, scopes } }),
    ...(callbackPort === undefined ? {} : { callbackPort }),
    ...(tokenBaseUrl === undefined ? {} : { tokenBaseUrl }),
  }
}

const load = (options: LazyAuthOptions, scope: Scope.Scope): Effect.Effect<LiveAuth> =>
  Effect.gen(function* () {
    const [auth, client] = yield* Effect.promise(() =>
      Promise.all([import("../auth/Auth.ts"), import("../auth/AuthClient.ts")]),
    )
    const services = yield* Layer.buildWithScope(client.layer, scope)
    return yield* Effect.provideContext(auth.make(authOptions(options)), services)
  }).pipe(Effect.provideService(Scope.Scope, scope))

/** The login of this machine's user, for the models and for the app-server. */
export class MachineAuth extends Context.Service<
  MachineAuth,
  {
    /** Loads the login at the first use, even if that caller is interrupted. Its resources are released with the layer. */
    readonly get: Effect.Effect<LiveAuth>
  }
>()("colloquy/MachineAuth") {
  static readonly layer = (options: LazyAuthOptions): Layer.Layer<MachineAuth> =>
    Layer.effect(
      this,
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const loaded = yield* Effect.cached(load(options, scope))
        // Loaded once: a cached effect starts anew when its only caller is interrupted.
        return { get: Effect.uninterruptible(loaded) }
      }),
    )
}
