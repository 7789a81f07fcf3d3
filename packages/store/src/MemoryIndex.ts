/**
 * An index in the memory of one process. Used in tests, and by `Catalog` when no other index can be
 * kept.
 */
import type { ListQuery, ListPosition } from "@colloquy/core/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type IndexRow, RolloutIndex } from "./RolloutIndex.ts"

type Service = RolloutIndex["Service"]

const newestFirst = (a: ListPosition, b: ListPosition): number => {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs
  if (a.id === b.id) return 0
  return a.id < b.id ? 1 : -1
}

const hasText = (text: string, ...within: ReadonlyArray<string>): boolean =>
  within.some((one) => one.toLowerCase().includes(text.toLowerCase()))

const fits = (query: ListQuery, { archived, meta, name = "", preview }: IndexRow): boolean =>
  archived === (query.archived ?? false) &&
  (query.after === undefined || newestFirst(query.after, meta) < 0) &&
  (query.cwd === undefined || query.cwd === meta.cwd) &&
  (query.provider === undefined || query.provider === meta.provider) &&
  (query.withPreview !== true || preview !== undefined) &&
  (query.owner === undefined || query.owner === (meta.owner ?? null)) &&
  (query.text === undefined || hasText(query.text, preview ?? "", name))

class MemoryIndex implements Service {
  private readonly rows = new Map<ConversationId, IndexRow>()
  private readonly names = new Map<ConversationId, string>()
  private namesEnd = 0
  private readonly damagedFiles = new Set<string>()
  private readonly readFolders = new Map<string, number>()

  readonly get: Service["get"] = (id) => Effect.sync(() => this.named(this.rows.get(id)))

  readonly put: Service["put"] = (rows) =>
    Effect.sync(() => {
      for (const row of rows) this.rows.set(row.meta.id, row)
    })

  readonly remove: Service["remove"] = (ids) =>
    Effect.sync(() => {
      for (const id of ids) this.rows.delete(id)
    })

  readonly page: Service["page"] = (query) =>
    Effect.sync(() => this.sorted((row) => fits(query, row), query.limit + 1))

  readonly withoutPreview: Service["withoutPreview"] = (max) =>
    Effect.sync(() => this.sorted(({ preview }) => preview === undefined, max))

  readonly inFolder: Service["inFolder"] = (folder) =>
    Effect.sync(
      () =>
        new Map(
          [...this.rows.values()].flatMap(({ meta, path }) =>
            path.slice(0, path.lastIndexOf("/")) === folder
              ? [[path.slice(folder.length + 1), meta.id] as const]
              : [],
          ),
        ),
    )

  readonly folders: Service["folders"] = Effect.sync(() => new Map(this.readFolders))

  readonly putFolder: Service["putFolder"] = (folder, modifiedMs) =>
    Effect.sync(() => {
      this.readFolders.set(folder, modifiedMs)
    })

  readonly nameOf: Service["nameOf"] = (id) => Effect.sync(() => this.names.get(id))

  readonly putNames: Service["putNames"] = (names, from, to) =>
    Effect.sync(() => {
      if (from === 0) this.names.clear()
      else if (from !== this.namesEnd) return
      for (const { id, name } of names) this.names.set(id, name)
      this.namesEnd = to
    })

  readonly namesRead: Service["namesRead"] = Effect.sync(() => this.namesEnd)

  readonly damaged: Service["damaged"] = Effect.sync(() => [...this.damagedFiles])

  readonly putDamaged: Service["putDamaged"] = (paths) =>
    Effect.sync(() => {
      for (const path of paths) this.damagedFiles.add(path)
    })

  readonly removeDamaged: Service["removeDamaged"] = (paths) =>
    Effect.sync(() => {
      for (const path of paths) this.damagedFiles.delete(path)
    })

  readonly removeFolder: Service["removeFolder"] = (folder) =>
    Effect.sync(() => {
      this.readFolders.delete(folder)
    })

  readonly reset: Service["reset"] = Effect.sync(() => {
    this.rows.clear()
    this.names.clear()
    this.namesEnd = 0
    this.damagedFiles.clear()
    this.readFolders.clear()
  })

  private named<Row extends IndexRow | undefined>(row: Row): Row {
    const name = row === undefined ? undefined : this.names.get(row.meta.id)
    return name === undefined ? row : { ...row, name }
  }

  private sorted(fit: (row: IndexRow) => boolean, max: number): ReadonlyArray<IndexRow> {
    return [...this.rows.values()]
      .map((row) => this.named(row))
      .filter(fit)
      .toSorted((a, b) => newestFirst(a.meta, b.meta))
      .slice(0, max)
  }
}

/** Creates an empty index. It never fails. */
export const make = (): Service => new MemoryIndex()

/** Layer with an empty index. */
export const layer = Layer.sync(RolloutIndex, make)
