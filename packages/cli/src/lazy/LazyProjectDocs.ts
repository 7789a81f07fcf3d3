/** Adds AGENTS.md files to the settings of new conversations. The code that reads them is loaded with the first conversation. */
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Provides the settings with the AGENTS.md files; takes those without. */
export const layer = (options: {
  readonly stateDirectory: string
  readonly hiddenPaths: ReadonlyArray<string>
}): Layer.Layer<SettingsResolver, never, SettingsResolver> =>
  Layer.effect(
    SettingsResolver,
    Effect.gen(function* () {
      const plain = yield* SettingsResolver
      const scope = yield* Effect.scope
      const reading = yield* Effect.cached(
        Effect.promise(() => import("../machine/MachineDocs.ts")).pipe(
          Effect.flatMap((module) => Layer.buildWithScope(module.layer(options), scope)),
          Effect.map((services) => Context.get(services, SettingsResolver)),
          Effect.provideService(SettingsResolver, plain),
          Effect.uninterruptible,
        ),
      )
      return {
        resolve: (overrides) => Effect.flatMap(reading, ({ resolve }) => resolve(overrides)),
      }
    }),
  )
