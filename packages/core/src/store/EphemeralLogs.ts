/**
 * Keeps the logs of ephemeral conversations in memory, beside the store of all others: nothing of them is stored, no list has
 * them, and they end with the process. Everything else goes to the store.
 */
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { ConversationStore, LogAddress } from "../ConversationStore.ts"
import { MemoryStore } from "./MemoryStore.ts"

type Store = ConversationStore["Service"]

/** The store, with the logs whose metadata says that they are ephemeral kept apart. */
export const withEphemeralLogs = (store: Store): Store => {
  const memory = new MemoryStore()
  const ids = new Set<ConversationId>()
  const of = (id: ConversationId): Store => (ids.has(id) ? memory : store)
  const at = (where: LogAddress): Store => ("id" in where ? of(where.id) : store)
  const { placeOf } = store
  return {
    create: (meta, records) => {
      if (meta.ephemeral !== true) return store.create(meta, records)
      return Effect.tap(memory.create(meta, records), () =>
        Effect.sync(() => void ids.add(meta.id)),
      )
    },
    ...(placeOf === undefined
      ? {}
      : {
          placeOf: (meta) =>
            meta.ephemeral === true ? Effect.succeed(undefined) : placeOf.call(store, meta),
        }),
    open: (where) => at(where).open(where),
    read: (id, page) => of(id).read(id, page),
    readBackward: (id, page) => of(id).readBackward(id, page),
    positionOf: (id, seq) => of(id).positionOf(id, seq),
    list: (query) => store.list(query),
    metadata: (where) => at(where).metadata(where),
    archive: (id, revision) => of(id).archive(id, revision),
    unarchive: (id, revision) => of(id).unarchive(id, revision),
    rename: (id, name) => of(id).rename(id, name),
    delete: (id, revision) =>
      Effect.tap(of(id).delete(id, revision), () => Effect.sync(() => void ids.delete(id))),
  }
}
