/** Adds AGENTS.md files and skills to the settings of new conversations. The code that reads them is loaded with the first conversation. */
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type * as Layer from "effect/Layer"
import * as LazyService from "./LazyService.ts"

/** Provides the settings with the AGENTS.md files; takes those without. */
export const layer = (options: {
  readonly stateDirectory: string
  readonly hiddenPaths: ReadonlyArray<string>
}): Layer.Layer<SettingsResolver, never, SettingsResolver> =>
  LazyService.layer(
    SettingsResolver,
    async () => (await import("../machine/MachineDocs.ts")).layer(options),
    { resolve: "effect" },
  )
