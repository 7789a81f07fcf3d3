/**
 * Loads the conversations at their first use, because the response to `initialize` does not need them and the client waits
 * for it.
 */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationsOptions } from "@colloquy/core/manager/Conversations"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { IdGenerator } from "@colloquy/core/IdGenerator"
import type { ModelClient } from "@colloquy/core/ModelClient"
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import type { ToolRuntime } from "@colloquy/core/ToolRuntime"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"

type Needs = ModelClient | ToolRuntime | IdGenerator | ConversationStore | SettingsResolver

/** Provides the manager; it is shut down with the layer if it was loaded. */
export const layer = (
  options: ConversationsOptions,
): Layer.Layer<ConversationManager, never, Needs> =>
  Layer.effect(
    ConversationManager,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const services = yield* Effect.context<Needs>()
      const watchers = new Set<() => void>()
      const changed = () => {
        for (const watcher of watchers) watcher()
      }
      const manager = yield* Effect.cached(
        Effect.promise(() => import("@colloquy/core/manager/Conversations")).pipe(
          Effect.flatMap((module) => Layer.buildWithScope(module.layerWith(options), scope)),
          Effect.map((made) => Context.get(made, ConversationManager)),
          Effect.tap((loaded) => Scope.provide(loaded.watch(changed), scope)),
          Effect.provideContext(services),
          // Loaded once, even if the first caller is interrupted.
          Effect.uninterruptible,
        ),
      )
      return {
        create: (...args) => Effect.flatMap(manager, (loaded) => loaded.create(...args)),
        get: (...args) => Effect.flatMap(manager, (loaded) => loaded.get(...args)),
        open: (...args) => Effect.flatMap(manager, (loaded) => loaded.open(...args)),
        list: (...args) => Effect.flatMap(manager, (loaded) => loaded.list(...args)),
        metadata: (...args) => Effect.flatMap(manager, (loaded) => loaded.metadata(...args)),
        remove: (...args) => Effect.flatMap(manager, (loaded) => loaded.remove(...args)),
        archive: (...args) => Effect.flatMap(manager, (loaded) => loaded.archive(...args)),
        unarchive: (...args) => Effect.flatMap(manager, (loaded) => loaded.unarchive(...args)),
        fork: (...args) => Effect.flatMap(manager, (loaded) => loaded.fork(...args)),
        // Nothing changes before the manager is loaded.
        watch: (listener) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => watchers.add(listener)),
              () => Effect.sync(() => watchers.delete(listener)),
            ),
          ),
        shutdown: Effect.flatMap(manager, (loaded) => loaded.shutdown),
        isClosed: Effect.flatMap(manager, (loaded) => loaded.isClosed),
      }
    }),
  )
