/** The store in memory with a path for each conversation, like a store of files. */
import {
  ConversationStore,
  type ConversationSummary,
  type LogAddress,
} from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { outsideSessions, type StoreError } from "@colloquy/core/StoreErrors"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const sessions = "/state/sessions/"

export const pathOf = (id: string) => `${sessions}rollout-${id}.jsonl`

const withPath = (summary: ConversationSummary): ConversationSummary => ({
  ...summary,
  path: summary.archived
    ? pathOf(summary.meta.id).replace(sessions, "/state/archived_sessions/")
    : pathOf(summary.meta.id),
})

export const layer = Layer.effect(
  ConversationStore,
  Effect.gen(function* () {
    const memory = yield* ConversationStore
    const whereOf = (where: LogAddress): Effect.Effect<LogAddress, StoreError> => {
      if ("id" in where) return Effect.succeed(where)
      const id = /\/rollout-([0-9a-f-]{36})\.jsonl$/.exec(where.path)?.[1]
      return id !== undefined && where.path === pathOf(id)
        ? Effect.succeed({ id: ConversationId.make(id) })
        : Effect.fail(outsideSessions("metadata", sessions.replace(/\/$/, "")))
    }
    return ConversationStore.of({
      create: (...args) => memory.create(...args),
      placeOf: ({ id }) => Effect.succeed(pathOf(id)),
      read: (...args) => memory.read(...args),
      readBackward: (...args) => memory.readBackward(...args),
      positionOf: (...args) => memory.positionOf(...args),
      archive: (id) => memory.archive(id),
      unarchive: (id) => memory.unarchive(id),
      rename: (id, name) => memory.rename(id, name),
      delete: (id) => memory.delete(id),
      list: (query) =>
        Effect.map(memory.list(query), (page) => ({ ...page, items: page.items.map(withPath) })),
      metadata: (where) =>
        Effect.map(
          Effect.flatMap(whereOf(where), (known) => memory.metadata(known)),
          withPath,
        ),
      open: (where) =>
        Effect.map(
          Effect.flatMap(whereOf(where), (known) => memory.open(known)),
          (opened) => ({ ...opened, summary: withPath(opened.summary) }),
        ),
    })
  }),
).pipe(Layer.provide(MemoryStore.layer))
