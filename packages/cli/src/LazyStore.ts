/**
 * The store of conversations, loaded when the first one is made or asked for: a client waits for the answer to `initialize`,
 * and needs none for it (effect4-notes §12). Nothing is read or made on the disk before.
 */
import { ConversationStore } from "@colloquy/core/store/ConversationStore"
import type { NodeStoreOptions } from "@colloquy/store/NodeStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export const layer = (options: NodeStoreOptions): Layer.Layer<ConversationStore> =>
  Layer.effect(
    ConversationStore,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const store = yield* Effect.cached(
        Effect.promise(() => import("@colloquy/store/NodeStore")).pipe(
          Effect.flatMap((module) => Layer.buildWithScope(module.layer(options), scope)),
          Effect.map((services) => Context.get(services, ConversationStore)),
          // Loaded once, whoever gives up waiting for it.
          Effect.uninterruptible,
        ),
      )
      return {
        create: (meta, records) => Effect.flatMap(store, (loaded) => loaded.create(meta, records)),
        placeOf: (meta) =>
          Effect.flatMap(store, (loaded) => loaded.placeOf?.(meta) ?? Effect.succeed(undefined)),
        open: (where) => Effect.flatMap(store, (loaded) => loaded.open(where)),
        read: (id, page) => Effect.flatMap(store, (loaded) => loaded.read(id, page)),
        readBackward: (id, page) =>
          Effect.flatMap(store, (loaded) => loaded.readBackward(id, page)),
        positionOf: (id, seq) => Effect.flatMap(store, (loaded) => loaded.positionOf(id, seq)),
        list: (query) => Effect.flatMap(store, (loaded) => loaded.list(query)),
        metadata: (where) => Effect.flatMap(store, (loaded) => loaded.metadata(where)),
        archive: (id) => Effect.flatMap(store, (loaded) => loaded.archive(id)),
        unarchive: (id) => Effect.flatMap(store, (loaded) => loaded.unarchive(id)),
        delete: (id) => Effect.flatMap(store, (loaded) => loaded.delete(id)),
      }
    }),
  )
