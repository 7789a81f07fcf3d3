/** The index of one process, in memory: where no other can be kept, and in tests. */
import type { ListQuery, ListPosition } from "@colloquy/core/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type IndexRow, RolloutIndex } from "./RolloutIndex.ts"

const newestFirst = (a: ListPosition, b: ListPosition): number => {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs
  if (a.id === b.id) return 0
  return a.id < b.id ? 1 : -1
}

const fits = (query: ListQuery, { archived, meta, preview }: IndexRow): boolean =>
  archived === (query.archived ?? false) &&
  (query.after === undefined || newestFirst(query.after, meta) < 0) &&
  (query.cwd === undefined || query.cwd === meta.cwd) &&
  (query.provider === undefined || query.provider === meta.provider) &&
  (query.spoken !== true || preview !== undefined) &&
  (query.text === undefined || (preview ?? "").toLowerCase().includes(query.text.toLowerCase()))

export const make = (): RolloutIndex["Service"] => {
  const rows = new Map<ConversationId, IndexRow>()
  const folders = new Map<string, number>()
  const sorted = (fit: (row: IndexRow) => boolean, max: number) =>
    [...rows.values()]
      .filter(fit)
      .toSorted((a, b) => newestFirst(a.meta, b.meta))
      .slice(0, max)
  return {
    get: (id) => Effect.sync(() => rows.get(id)),
    put: (put) =>
      Effect.sync(() => {
        for (const row of put) rows.set(row.meta.id, row)
      }),
    remove: (ids) =>
      Effect.sync(() => {
        for (const id of ids) rows.delete(id)
      }),
    page: (query) => Effect.sync(() => sorted((row) => fits(query, row), query.limit + 1)),
    unspoken: (max) => Effect.sync(() => sorted(({ preview }) => preview === undefined, max)),
    inFolder: (folder) =>
      Effect.sync(
        () =>
          new Map(
            [...rows.values()].flatMap(({ meta, path }) =>
              path.slice(0, path.lastIndexOf("/")) === folder
                ? [[path.slice(folder.length + 1), meta.id] as const]
                : [],
            ),
          ),
      ),
    folders: Effect.sync(() => new Map(folders)),
    putFolder: (folder, modifiedMs) =>
      Effect.sync(() => {
        folders.set(folder, modifiedMs)
      }),
    removeFolder: (folder) =>
      Effect.sync(() => {
        folders.delete(folder)
      }),
    reset: Effect.sync(() => {
      rows.clear()
      folders.clear()
    }),
  }
}

export const layer = Layer.sync(RolloutIndex, make)
