/**
 * The store of conversations, loaded when the first one is made or asked for: a client waits for the answer to `initialize`,
 * and needs none for it (effect4-notes §12). Nothing is read or made on the disk before.
 *
 * Tells a person what can be done about a directory that cannot be written: below this package nobody knows how it was chosen.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import type { NodeStoreOptions } from "@colloquy/store/node/NodeStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The part of `@colloquy/store/node/NodeStore` that is used. */
interface StoreModule {
  readonly layer: (options: NodeStoreOptions) => Layer.Layer<ConversationStore>
}

/** `Gone` too: Node tells ENOENT of a directory that it cannot make on a file system that can only be read. */
const helped: ReadonlySet<StoreError["reason"]> = new Set(["Denied", "Gone"])

const withAdvice = (home: string) => (error: StoreError) =>
  helped.has(error.reason)
    ? new StoreError({
        operation: error.operation,
        reason: error.reason,
        message: `${error.message}: conversations are stored in ${home}; set COLLOQUY_HOME to use another directory, or \`-c conversation_store=memory\` to store nothing on disk`,
      })
    : error

export const layer = (
  options: NodeStoreOptions,
  load: () => Promise<StoreModule> = () => import("@colloquy/store/node/NodeStore"),
): Layer.Layer<ConversationStore> =>
  Layer.effect(
    ConversationStore,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const store = yield* Effect.cached(
        Effect.promise(load).pipe(
          Effect.flatMap((module) => Layer.buildWithScope(module.layer(options), scope)),
          Effect.map((services) => Context.get(services, ConversationStore)),
          // Loaded once, whoever gives up waiting for it.
          Effect.uninterruptible,
        ),
      )
      return {
        create: (meta, records) =>
          Effect.mapError(
            Effect.flatMap(store, (loaded) => loaded.create(meta, records)),
            withAdvice(options.home),
          ),
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
