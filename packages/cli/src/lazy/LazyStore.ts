/**
 * Loads the store of conversations at its first use, because the response to `initialize` does not need it and the client
 * waits for it. Before that nothing is read from or written to the disk.
 *
 * Errors about a directory that cannot be written get advice here, since only this package knows how it was chosen.
 */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import type { NodeStoreOptions } from "@colloquy/store/node/NodeStore"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as LazyService from "./LazyService.ts"

/** The part of `@colloquy/store/node/NodeStore` that is used. */
interface StoreModule {
  readonly layer: (options: NodeStoreOptions) => Layer.Layer<ConversationStore>
}

/** Reasons that get advice. `Gone` too: Node reports ENOENT for a directory that it cannot create on a read-only file system. */
const helped: ReadonlySet<StoreError["reason"]> = new Set(["Denied", "Gone"])

const withAdvice = (home: string) => (error: StoreError) =>
  helped.has(error.reason)
    ? new StoreError({
        operation: error.operation,
        reason: error.reason,
        message: `${error.message}: conversations are stored in ${home}; set COLLOQUY_HOME to use another directory, or \`-c conversation_store=memory\` to store nothing on disk`,
      })
    : error

/** @param load loads the store; a test replaces it */
export const layer = (
  options: NodeStoreOptions,
  load: () => Promise<StoreModule> = () => import("@colloquy/store/node/NodeStore"),
): Layer.Layer<ConversationStore> =>
  LazyService.layer(ConversationStore, async () => (await load()).layer(options), {
    create: (store) => (meta, records) =>
      Effect.mapError(
        Effect.flatMap(store, (loaded) => loaded.create(meta, records)),
        withAdvice(options.home),
      ),
    placeOf: (store) => (meta) =>
      Effect.flatMap(store, (loaded) => loaded.placeOf?.(meta) ?? Effect.undefined),
    open: "effect",
    read: "effect",
    readBackward: "effect",
    positionOf: "effect",
    list: "effect",
    metadata: "effect",
    archive: "effect",
    unarchive: "effect",
    rename: "effect",
    delete: "effect",
  })
