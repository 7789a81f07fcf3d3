/**
 * Keeps the index in step with the rollout files, whichever process changed them. Folders whose
 * modification time changed are read again; files whose size or modification time changed are read
 * again when they are listed. When the contents of the index are lost, they are rebuilt from all
 * files. The index is a cache: no list fails because of it, and every list is complete.
 */
import type { ListQuery } from "@colloquy/core/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import { orUndefined } from "../internal/FileErrors.ts"
import type { FileFault, FileStat, Files } from "../Files.ts"
import { isoOf } from "../internal/IsoTime.ts"
import { CatalogIndex } from "./CatalogIndex.ts"
import { Names } from "./Names.ts"
import { FileRows, isArchived } from "./FileRows.ts"
import { FolderReader } from "./FolderReader.ts"
import type { Leases } from "../Leases.ts"
import type { IndexRow, RolloutIndex } from "../RolloutIndex.ts"
import { idInName, sessionsFolder } from "../rollout/RolloutName.ts"

/** A page is computed again at most this often when files change while it is computed. */
const maxRounds = 3

/**
 * Number of rows without a preview that a search reads again, because a message may have been sent
 * since.
 */
const maxRowsWithoutPreview = 1000

/**
 * The folders in which the file of a UUIDv7, which contains its creation time, most likely lies:
 * folder names are local dates, which differ from the UTC date by at most one day.
 */
const likelyFolders = (id: ConversationId): ReadonlyArray<string> => {
  if (id[14] !== "7") return []
  const ms = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
  return [0, -1, 1].map((days) => {
    const day = isoOf(ms + days * 86_400_000).slice(0, 10)
    return `${sessionsFolder}/${day.replaceAll("-", "/")}`
  })
}

const sameVersion = (row: IndexRow, stat: IndexRow["version"]): boolean =>
  row.version.bytes === stat.bytes &&
  row.version.modifiedMs === stat.modifiedMs &&
  row.version.identity === stat.identity

/** Where the file of a conversation is. */
export interface FoundFile extends Pick<IndexRow, "path" | "archived"> {
  /** True when the file was no rollout of the conversation; it may be something else than a file. */
  readonly damaged?: boolean
}

/** The index of the conversations below a state directory, kept up to date. */
export class Catalog {
  private readonly files: Files["Service"]
  private readonly home: string
  private readonly index: CatalogIndex
  private readonly rows: FileRows
  private readonly folders: FolderReader
  /** The last warning about files that cannot be read, so that each is logged once. */
  private warned: string | undefined
  /** The names of the conversations. */
  readonly names: Names

  constructor(
    files: Files["Service"],
    leases: Leases["Service"],
    index: RolloutIndex["Service"],
    home: string,
  ) {
    this.files = files
    this.rows = new FileRows(files, leases, home)
    this.index = new CatalogIndex(index)
    this.home = home
    this.names = new Names(files, home, this.index)
    this.folders = new FolderReader(files, home, this.index, this.rows)
  }

  /** The row in the index, without looking at the files. */
  get(id: ConversationId): Effect.Effect<IndexRow | undefined> {
    return this.index.use((index) => index.get(id))
  }

  /** Inserts rows, replacing those with the same id. */
  put(rows: ReadonlyArray<IndexRow>): Effect.Effect<void> {
    return rows.length === 0 ? Effect.void : this.index.use((index) => index.put(rows))
  }

  /** Removes the row of a conversation. */
  remove(id: ConversationId): Effect.Effect<void> {
    return this.index.use((index) => index.remove([id]))
  }

  /**
   * Finds the file of a conversation, and checks that it exists now. Looks in the index, then in
   * the likely folders, then in all changed folders. Undefined when there is no such file. A file
   * that is damaged or cannot be read is found by the id in its name, so that opening it fails with
   * the reason.
   */
  readonly find = Effect.fnUntraced(function* (
    this: Catalog,
    id: ConversationId,
  ): Effect.fn.Return<FoundFile | undefined, FileFault> {
    const known = yield* this.get(id)
    if (known !== undefined) {
      const stat = yield* orUndefined(this.files.stat(`${this.home}/${known.path}`))
      if (stat?.kind === "file") return known
    }
    let damaged: string | undefined
    for (const folder of likelyFolders(id)) {
      const entries = yield* orUndefined(this.files.list(`${this.home}/${folder}`))
      const entry = entries?.find((each) => each.kind !== "directory" && idInName(each.name) === id)
      if (entry === undefined) continue
      const path = `${folder}/${entry.name}`
      const row = entry.kind === "file" ? yield* this.rows.read(path) : "damaged"
      if (row === "damaged") damaged ??= path
      if (row === undefined || row === "damaged") continue
      yield* this.put([row])
      return row
    }
    const damagedFiles = this.index.use((index) => index.damaged)
    const [found, recorded] = yield* this.folders.refreshed(
      Effect.all([this.get(id), damagedFiles]),
    )
    if (found !== undefined && found.path !== known?.path) return found
    damaged ??= recorded.find((path) => path.endsWith(`-${id}.jsonl`))
    const path = this.rows.refusedPath(id) ?? damaged
    return path === undefined
      ? undefined
      : { path, archived: isArchived(path), damaged: path === damaged }
  })

  /**
   * The rows that match a query, newest first: one row more than the limit when there are more.
   * `isActive` is true for conversations that this process writes; their rows are not compared with
   * the files, because the process has newer information than they have.
   */
  readonly page = Effect.fnUntraced(function* (
    this: Catalog,
    query: ListQuery,
    isActive: (id: ConversationId) => boolean,
  ): Effect.fn.Return<ReadonlyArray<IndexRow>, FileFault> {
    for (let round = 1; ; round++) {
      const { generation } = this.index
      yield* this.folders.refresh
      yield* this.names.refresh
      if (query.withPreview === true || query.text !== undefined) {
        const withoutPreview = yield* this.index.use((index) =>
          index.withoutPreview(maxRowsWithoutPreview),
        )
        yield* this.reload(withoutPreview.filter(({ meta }) => !isActive(meta.id)))
      }
      const rows = yield* this.index.use((index) => index.page(query))
      // Removed rows make room for others, so the page is computed again.
      const changed = yield* this.reload(rows.filter(({ meta }) => !isActive(meta.id)))
      // The number of rounds is limited, because a file that is written all the time changes in
      // every round.
      if ((!changed || round > maxRounds) && generation === this.index.generation) {
        yield* this.warnOfUnreadable
        return rows
      }
    }
  })

  /** Logs how many files lists leave out, when that has changed. */
  private readonly warnOfUnreadable: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    const damaged = yield* this.index.use((index) => index.damaged)
    const paths = [...new Set([...damaged, ...this.rows.unreadable])].toSorted()
    const [first] = paths
    const warning =
      first === undefined
        ? undefined
        : `lists leave out conversations whose files cannot be read: ${paths.length}, the first is ${first}`
    if (warning === this.warned) return
    this.warned = warning
    if (warning !== undefined) yield* Effect.logWarning(warning)
  })

  /** The row of a file that changed. A link is never followed. */
  private rowNow(
    { path }: IndexRow,
    stat: FileStat | undefined,
  ): Effect.Effect<IndexRow | "damaged" | undefined, FileFault> {
    if (stat === undefined) return Effect.undefined
    return stat.kind === "file" ? this.rows.read(path) : Effect.succeed("damaged")
  }

  /**
   * Reads the files of rows again whose contents changed. Returns true when any row changed or was
   * removed.
   */
  private readonly reload = Effect.fnUntraced(function* (
    this: Catalog,
    rows: ReadonlyArray<IndexRow>,
  ): Effect.fn.Return<boolean, FileFault> {
    const fresh: Array<IndexRow> = []
    const gone: Array<ConversationId> = []
    const damaged: Array<string> = []
    for (const row of rows) {
      const stat = yield* orUndefined(this.files.stat(`${this.home}/${row.path}`))
      if (stat !== undefined && sameVersion(row, stat)) continue
      const now = yield* this.rowNow(row, stat)
      if (now === "damaged") damaged.push(row.path)
      if (now !== undefined && now !== "damaged") fresh.push(now)
      // A file that cannot be read now still exists: the list shows its last known row.
      else if (stat === undefined || this.rows.refusedPath(row.meta.id) === undefined) {
        gone.push(row.meta.id)
      }
    }
    if (damaged.length > 0) yield* this.index.use((index) => index.putDamaged(damaged))
    if (gone.length > 0) yield* this.index.use((index) => index.remove(gone))
    yield* this.put(fresh)
    return gone.length + fresh.length > 0
  })
}
