/**
 * Loads the conversations at their first use, because the response to `initialize` does not need them and the client waits
 * for it.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationsOptions } from "@colloquy/core/manager/Conversations"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { IdGenerator } from "@colloquy/core/IdGenerator"
import type { ModelClient } from "@colloquy/core/ModelClient"
import type { ConversationStore, Owner } from "@colloquy/core/ConversationStore"
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { limitProcessMemory } from "../machine/ProcessMemory.ts"
import * as LazyService from "./LazyService.ts"

/** What a manager needs. */
export type Needs = ModelClient | ToolRuntime | IdGenerator | ConversationStore | SettingsResolver

/** The listeners for changes of the list of conversations. Nothing changes before the manager is loaded. */
const makeWatchers = () => {
  const listeners = new Set<(owner: Owner) => void>()
  return {
    changed: (owner: Owner) => {
      for (const listener of listeners) listener(owner)
    },
    watch: (listener: (owner: Owner) => void) =>
      Effect.asVoid(
        Effect.acquireRelease(
          Effect.sync(() => listeners.add(listener)),
          () => Effect.sync(() => listeners.delete(listener)),
        ),
      ),
  }
}

/** Provides the manager; it is shut down with the layer if it was loaded. */
export const layer = (
  options: ConversationsOptions,
): Layer.Layer<ConversationManager, never, Needs> =>
  Layer.suspend(() => {
    const watchers = makeWatchers()
    return LazyService.layer(
      ConversationManager,
      async (): Promise<Layer.Layer<ConversationManager, never, Needs>> => {
        const { layerWith } = await import("@colloquy/core/manager/Conversations")
        limitProcessMemory()
        const watched = Layer.effect(
          ConversationManager,
          Effect.tap(ConversationManager, (manager) => manager.watch(watchers.changed)),
        )
        return Layer.provide(watched, layerWith(options))
      },
      {
        create: "effect",
        createOnSubmit: "effect",
        get: "effect",
        refer: "effect",
        open: "effect",
        follow: "effect",
        stateOf: "effect",
        list: "effect",
        metadata: "effect",
        history: "effect",
        remove: "effect",
        archive: "effect",
        unarchive: "effect",
        rename: "effect",
        fork: "effect",
        watch: () => watchers.watch,
        shutdown: "value",
        isClosed: "value",
      },
    )
  })
