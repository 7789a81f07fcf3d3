/** Who the person is to providers, loaded when somebody asks for it: a client waits for `initialize`, and needs none. */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { ServerOptions } from "../args/ServerOptions.ts"
import type { AuthOptions, LiveAuth } from "../auth/Auth.ts"

export interface LazyAuthOptions {
  readonly stateDirectory: string
  /** Of the original's `auth.json`, where it is another directory. */
  readonly originalDirectory?: string
  readonly login: ServerOptions["login"]
  /** Where the tokens of a login are good for, where `login` does not say it. */
  readonly tokenBaseUrl?: string
  /** Where nothing else is said. */
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
  }).pipe(Effect.provideService(Scope.Scope, scope), Effect.uninterruptible)

export class MachineAuth extends Context.Service<
  MachineAuth,
  {
    /** Made at the first use, whoever gives up waiting for it; what it holds open ends with the layer. */
    readonly get: Effect.Effect<LiveAuth>
  }
>()("colloquy/MachineAuth") {
  static readonly layer = (options: LazyAuthOptions): Layer.Layer<MachineAuth> =>
    Layer.effect(
      this,
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        return { get: yield* Effect.cached(load(options, scope)) }
      }),
    )
}
