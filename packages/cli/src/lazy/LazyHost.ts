/** Loads each port of app-server v2 that belongs to no thread at its first use, as `LazyPorts` does those of v1. */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import { CommandPort } from "@colloquy/server/thread/host/ports/CommandPort"
import { ConfigPort } from "@colloquy/server/thread/host/ports/ConfigPort"
import { FilePort } from "@colloquy/server/thread/host/ports/FilePort"
import { SkillPort } from "@colloquy/server/thread/host/ports/SkillPort"
import { ToolServerPort } from "@colloquy/server/thread/host/ports/ToolServerPort"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ConfigCheck from "../config/ConfigCheck.ts"
import type * as Environment from "../machine/Environment.ts"
import { machineOptions } from "../machine/MachineOptions.ts"
import type * as Startup from "../server/Startup.ts"
import * as LazyService from "./LazyService.ts"
import { SharedPrograms } from "./SharedPrograms.ts"

const files = LazyService.layer(
  FilePort,
  async () => (await import("../machine/ClientHost.ts")).files,
  {
    read: "effect",
    write: "effect",
    describe: "effect",
    list: "effect",
    createDirectory: "effect",
    copy: "effect",
    remove: "effect",
    watch: "effect",
  },
)

const commands = (startup: Startup.Startup, environment: Environment.Environment) =>
  Layer.unwrap(
    Effect.map(SharedPrograms, (programs) =>
      LazyService.layer(
        CommandPort,
        async () => {
          const { commands } = await import("../machine/ClientHost.ts")
          return Layer.provide(
            commands(machineOptions(environment, startup.source)),
            programs.layer,
          )
        },
        { run: "effect" },
      ),
    ),
  )

const config = (startup: Startup.Startup, environment: Environment.Environment) =>
  LazyService.layer(
    ConfigPort,
    async () => {
      const { layer } = await import("../config/ConfigLayers.ts")
      return layer(environment.stateDirectory, startup.live, startup)
    },
    { read: "value", write: "effect" },
  )

const skills = ({ hiddenDirectories, stateDirectory }: Environment.Environment) =>
  LazyService.layer(
    SkillPort,
    async () => {
      const { skills } = await import("../machine/MachineDocs.ts")
      return skills({ stateDirectory, hiddenPaths: hiddenDirectories })
    },
    { list: "effect", folders: "effect" },
  )

/** Those of the turns, so that none is started twice. */
const toolServers = Layer.effectContext(
  Effect.map(ToolRuntime, ({ toolServers: servers }) =>
    servers === undefined ? Context.empty() : Context.make(ToolServerPort, servers),
  ),
)

/** Provides the ports. */
export const layer = (
  startup: Startup.Startup,
  environment: Environment.Environment,
): Layer.Layer<never, never, SharedPrograms | ToolRuntime> =>
  Layer.mergeAll(
    files,
    commands(startup, environment),
    config(startup, environment),
    ConfigCheck.layer(startup.live, startup.overrides),
    skills(environment),
    toolServers,
  )
