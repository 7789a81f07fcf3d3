/**
 * Loads the tools at the first turn, because the response to `initialize` does not need them and the client waits for it.
 * Before that nothing is probed or started.
 */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SharedPrograms } from "./SharedPrograms.ts"

const unread = () => Effect.succeed({ problem: "the tools cannot read images" })

/** Provides the tools; they are released with the layer. */
export const layer = (options: ToolsOptions): Layer.Layer<ToolRuntime, never, SharedPrograms> =>
  Layer.effect(
    ToolRuntime,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const programs = yield* SharedPrograms
      const tools = yield* Effect.cached(
        Effect.promise(() => import("../machine/MachineTools.ts")).pipe(
          Effect.flatMap((module) =>
            Layer.buildWithScope(Layer.provide(module.layer(options), programs.layer), scope),
          ),
          Effect.map((services) => Context.get(services, ToolRuntime)),
          // Loaded once, even if the first caller is interrupted.
          Effect.uninterruptible,
        ),
      )
      return {
        open: (context) => Effect.flatMap(tools, (loaded) => loaded.open(context)),
        listMcpTools: (settings) =>
          Effect.flatMap(tools, (loaded) => loaded.listMcpTools(settings)),
        readImage: (path, settings) =>
          Effect.flatMap(tools, ({ readImage = unread }) => readImage(path, settings)),
      }
    }),
  )
