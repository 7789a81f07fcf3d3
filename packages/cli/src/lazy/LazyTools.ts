/**
 * Loads the tools at the first turn, because the response to `initialize` does not need them and the client waits for it.
 * Before that nothing is probed or started.
 */
import { type DirectToolServers, ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LazyService from "./LazyService.ts"
import { SharedPrograms } from "./SharedPrograms.ts"

const unread = () => Effect.succeed({ problem: "the tools cannot read images" })

const free = () => Effect.succeed(false)

/** Provides the tools; they are released with the layer. */
export const layer = (options: ToolsOptions): Layer.Layer<ToolRuntime, never, SharedPrograms> =>
  Layer.unwrap(
    Effect.map(SharedPrograms, (programs) =>
      LazyService.layer(
        ToolRuntime,
        async () => {
          const module = await import("../machine/MachineTools.ts")
          return Layer.provide(module.layer(options), programs.layer)
        },
        {
          open: "effect",
          listMcpTools: "effect",
          readImage: (tools) => (path, settings) =>
            Effect.flatMap(tools, ({ readImage = unread }) => readImage(path, settings)),
          toolServers: (tools) => {
            const use = <A, E>(run: (servers: DirectToolServers) => Effect.Effect<A, E>) =>
              Effect.flatMap(tools, ({ toolServers }) =>
                toolServers === undefined
                  ? Effect.die("the tools of this program have tool servers")
                  : run(toolServers),
              )
            return {
              call: (settings, call) => use((servers) => servers.call(settings, call)),
              read: (settings, of) => use((servers) => servers.read(settings, of)),
              describe: (settings, toolsOnly) =>
                use((servers) => servers.describe(settings, toolsOnly)),
            }
          },
          isTaken: (tools) => (name) =>
            Effect.flatMap(tools, ({ isTaken = free }) => isTaken(name)),
        },
      ),
    ),
  )
