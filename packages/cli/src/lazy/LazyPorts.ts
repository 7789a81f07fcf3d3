/**
 * Loads each port of the app-server at its first use, because the response to `initialize` needs none of them and the client
 * waits for it.
 */
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { MachineAuth } from "./LazyAuth.ts"
import { SharedPrograms } from "./SharedPrograms.ts"
import type * as Environment from "../machine/Environment.ts"
import { machineOptions } from "../machine/MachineOptions.ts"
import type * as Startup from "../server/Startup.ts"

const auth: Layer.Layer<Auth, never, MachineAuth> = Layer.effect(
  Auth,
  Effect.map(MachineAuth, ({ get }) => {
    const loaded = Effect.map(get, (live) => live.auth)
    return Auth.of({
      loginApiKey: (key) => Effect.flatMap(loaded, (one) => one.loginApiKey(key)),
      loginChatGpt: Effect.flatMap(loaded, (one) => one.loginChatGpt),
      cancelLogin: (loginId) => Effect.flatMap(loaded, (one) => one.cancelLogin(loginId)),
      logout: Effect.flatMap(loaded, (one) => one.logout),
      status: (options) => Effect.flatMap(loaded, (one) => one.status(options)),
      email: Effect.flatMap(loaded, (one) => one.email),
    })
  }),
)

/** Builds a service at its first use, once, even if that caller is interrupted. It is released with the layer. */
const late = <I, S>(key: Context.Key<I, S>, load: () => Promise<Layer.Layer<I>>) =>
  Effect.flatMap(Effect.scope, (scope) =>
    Effect.cached(
      Effect.promise(load).pipe(
        Effect.flatMap((layer) => Layer.buildWithScope(layer, scope)),
        Effect.map((services) => Context.get(services, key)),
        Effect.uninterruptible,
      ),
    ),
  )

const host = (startup: Startup.Startup, environment: Environment.Environment) =>
  Layer.effect(
    HostPort,
    Effect.map(
      Effect.flatMap(SharedPrograms, (programs) =>
        late(HostPort, async () => {
          const { layer } = await import("../machine/MachineHost.ts")
          return Layer.provide(layer(machineOptions(environment, startup.source)), programs.layer)
        }),
      ),
      (loaded) =>
        HostPort.of({
          gitDiffToRemote: (settings) =>
            Effect.flatMap(loaded, (one) => one.gitDiffToRemote(settings)),
          searchFiles: (query) => Effect.flatMap(loaded, (one) => one.searchFiles(query)),
          runCommand: (command) => Effect.flatMap(loaded, (one) => one.runCommand(command)),
        }),
    ),
  )

const config = (startup: Startup.Startup, environment: Environment.Environment) =>
  Layer.effect(
    UserConfig,
    Effect.map(
      late(UserConfig, async () => {
        const { layer } = await import("../config/UserConfigFile.ts")
        return layer(environment.stateDirectory, startup.live)
      }),
      (loaded) =>
        UserConfig.of({
          saved: Effect.flatMap(loaded, (one) => one.saved),
          setDefaultModel: (choice) => Effect.flatMap(loaded, (one) => one.setDefaultModel(choice)),
        }),
    ),
  )

/** Provides the ports. */
export const layer = (
  startup: Startup.Startup,
  environment: Environment.Environment,
): Layer.Layer<Auth | HostPort | UserConfig, never, MachineAuth | SharedPrograms> =>
  Layer.mergeAll(auth, host(startup, environment), config(startup, environment))
