/**
 * The tools, loaded when the first turn opens them: a client waits for the answer to `initialize`, and needs none for
 * it. Nothing is probed or started before.
 */
import { ToolRuntime } from "@colloquy/core/ToolRuntime"
import type { ToolsOptions } from "@colloquy/tools/Tools"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const unread = () => Effect.succeed({ problem: "these tools read no images" })

export const layer = (options: ToolsOptions): Layer.Layer<ToolRuntime> =>
  Layer.effect(
    ToolRuntime,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const tools = yield* Effect.cached(
        Effect.promise(() => import("../machine/MachineTools.ts")).pipe(
          Effect.flatMap((module) => Layer.buildWithScope(module.layer(options), scope)),
          Effect.map((services) => Context.get(services, ToolRuntime)),
          // Loaded once, whoever gives up waiting for it.
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
