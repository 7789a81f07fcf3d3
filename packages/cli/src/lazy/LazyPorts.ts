/**
 * Loads each port of the app-server at its first use, because the response to `initialize` needs none of them and the client
 * waits for it.
 */
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { Auth } from "@colloquy/server/app/ports/AuthPort"
import { HostPort } from "@colloquy/server/app/ports/HostPort"
import { UserConfig } from "@colloquy/server/app/ports/UserConfigPort"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LazyHost from "./LazyHost.ts"
import * as LazyService from "./LazyService.ts"
import { MachineAuth } from "./LazyAuth.ts"
import { SharedPrograms } from "./SharedPrograms.ts"
import type * as Environment from "../machine/Environment.ts"
import { machineOptions } from "../machine/MachineOptions.ts"
import type * as Startup from "../server/Startup.ts"

const auth: Layer.Layer<Auth, never, MachineAuth> = Layer.effect(
  Auth,
  Effect.map(MachineAuth, ({ get }) =>
    LazyService.forward<Auth["Service"]>(
      Effect.map(get, (live) => live.auth),
      {
        loginApiKey: "effect",
        loginChatGpt: "value",
        cancelLogin: "effect",
        logout: "value",
        status: "effect",
        email: "value",
      },
    ),
  ),
)

const host = (startup: Startup.Startup, environment: Environment.Environment) =>
  Layer.unwrap(
    Effect.map(SharedPrograms, (programs) =>
      LazyService.layer(
        HostPort,
        async () => {
          const { layer } = await import("../machine/MachineHost.ts")
          return Layer.provide(layer(machineOptions(environment, startup.source)), programs.layer)
        },
        { gitDiffToRemote: "effect", searchFiles: "effect", runCommand: "effect" },
      ),
    ),
  )

const config = (startup: Startup.Startup, environment: Environment.Environment) =>
  LazyService.layer(
    UserConfig,
    async () => {
      const { layer } = await import("../config/UserConfigFile.ts")
      return layer(environment.stateDirectory, startup.live)
    },
    { saved: "value", setDefaultModel: "effect" },
  )

/** Provides the ports. */
export const layer = (
  startup: Startup.Startup,
  environment: Environment.Environment,
): Layer.Layer<Auth | HostPort | UserConfig, never, MachineAuth | SharedPrograms | ToolRuntime> =>
  Layer.mergeAll(
    auth,
    host(startup, environment),
    config(startup, environment),
    LazyHost.layer(startup, environment),
  )
