/**
 * Keeps the index in step with the rollout files, whichever process changed them. Folders whose
 * modification time changed are read again; files whose size or modification time changed are read
 * again when they are listed. When the contents of the index are lost, they are rebuilt from all
 * files. The index is a cache: no list fails because of it, and every list is complete.
 */
import type { ListQuery } from "@colloquy/core/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { isAbsent, isScarcity, orUndefined } from "../internal/FileErrors.ts"
import { FileFault, type FileStat, type Files } from "../Files.ts"
import { isoOf } from "../internal/IsoTime.ts"
import { CatalogIndex, type IndexOperation, IndexReplaced } from "./CatalogIndex.ts"
import { Names } from "./Names.ts"
import { readIndexRow } from "../rollout/IndexRowReader.ts"
import type { Leases } from "../Leases.ts"
import type { IndexRow, RolloutIndex } from "../RolloutIndex.ts"
import { archiveFolder, idInName, sessionsFolder } from "../rollout/RolloutName.ts"

/**
 * A folder that was changed this recently may change again within the resolution of the file
 * system's clock, so its time is not trusted.
 */
const racyMs = 2000

/** Depth of `sessions/YYYY/MM/DD`. */
const maxDepth = 3

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

const isArchived = (path: string): boolean => path.startsWith(`${archiveFolder}/`)

const sameVersion = (row: IndexRow, stat: IndexRow["version"]): boolean =>
  row.version.bytes === stat.bytes &&
  row.version.modifiedMs === stat.modifiedMs &&
  row.version.identity === stat.identity

/** One reading of the folders, with one generation of the index. */
interface Pass {
  /** The folders that need not be read when they have this modification time. */
  readonly folders: ReadonlyMap<string, number>
  /** Runs an operation on the index. Fails when the index lost what this pass put into it. */
  readonly index: <A>(operation: IndexOperation<A>) => Effect.Effect<A, IndexReplaced>
}

type PassEffect = Effect.Effect<void, FileFault | IndexReplaced>

/** The index of the conversations below a state directory, kept up to date. */
export class Catalog {
  private readonly files: Files["Service"]
  private readonly leases: Leases["Service"]
  private readonly home: string
  private readonly index: CatalogIndex
  /**
   * Generation of the index whose folder records are trusted. Records of a later one may be of rows
   * that were lost with the earlier contents, until all folders have been read.
   */
  private trusted: number
  /**
   * Paths of files that could not be read, by the id in their names. `find` returns them, so that
   * opening one fails with the reason.
   */
  private readonly unreadable = new Map<ConversationId, string>()
  /** The names of the conversations. */
  readonly names: Names
  private readonly refreshPermit = Semaphore.makeUnsafe(1)

  constructor(
    files: Files["Service"],
    leases: Leases["Service"],
    index: RolloutIndex["Service"],
    home: string,
  ) {
    this.files = files
    this.leases = leases
    this.index = new CatalogIndex(index)
    this.trusted = this.index.generation
    this.home = home
    this.names = new Names(files, home, this.index)
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
   * the likely folders, then in all changed folders. Undefined when there is no such file.
   */
  readonly find = Effect.fnUntraced(function* (
    this: Catalog,
    id: ConversationId,
  ): Effect.fn.Return<Pick<IndexRow, "path" | "archived"> | undefined, FileFault> {
    const known = yield* this.get(id)
    const isThere =
      known !== undefined &&
      (yield* orUndefined(this.files.stat(`${this.home}/${known.path}`))) !== undefined
    if (isThere) return known
    for (const folder of likelyFolders(id)) {
      const entries = yield* orUndefined(this.files.list(`${this.home}/${folder}`))
      const name = entries?.find((entry) => entry.kind === "file" && idInName(entry.name) === id)
      const row = name === undefined ? undefined : yield* this.readFile(`${folder}/${name.name}`)
      if (row === undefined) continue
      yield* this.put([row])
      return row
    }
    const found = yield* this.refreshed(this.get(id))
    if (found !== undefined && found.path !== known?.path) return found
    const path = this.unreadable.get(id)
    return path === undefined ? undefined : { path, archived: isArchived(path) }
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
      yield* this.refresh
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
      if ((!changed || round > maxRounds) && generation === this.index.generation) return rows
    }
  })

  /**
   * Reads every folder that changed. Runs one at a time: a caller that arrives meanwhile waits and
   * then finds nothing to do.
   */
  readonly refresh: Effect.Effect<void, FileFault> = Effect.suspend(() =>
    this.refreshPermit.withPermit(
      Effect.gen({ self: this }, function* () {
        for (;;) {
          const isDone = yield* Effect.as(this.readFolders, true).pipe(
            Effect.catchTag("IndexReplaced", () => Effect.succeed(false)),
          )
          if (isDone) return
        }
      }),
    ),
  )

  /** Refreshes the index and reads from it, again if its contents are lost in between. */
  private readonly refreshed = Effect.fnUntraced(function* <A>(
    this: Catalog,
    read: Effect.Effect<A>,
  ): Effect.fn.Return<A, FileFault> {
    for (;;) {
      const { generation } = this.index
      yield* this.refresh
      const result = yield* read
      if (generation === this.index.generation) return result
    }
  })

  private readonly readFolders: PassEffect = Effect.gen({ self: this }, function* () {
    const { generation } = this.index
    const index: Pass["index"] = (operation) => this.index.within(generation, operation)
    const known = yield* index((all) => all.folders)
    const folders =
      generation === this.trusted ? known : new Map([...known.keys()].map((each) => [each, -1]))
    const pass = { folders, index }
    yield* this.visit(sessionsFolder, 0, pass)
    yield* this.visit(archiveFolder, maxDepth, pass)
    this.trusted = generation
  })

  private readonly visit: (folder: string, depth: number, pass: Pass) => PassEffect =
    Effect.fnUntraced(function* (
      this: Catalog,
      folder: string,
      depth: number,
      pass: Pass,
    ): Effect.fn.Return<void, FileFault | IndexReplaced> {
      const { folders } = pass
      const stat = yield* this.folderStat(folder)
      const isFolder = stat?.kind === "directory"
      const known = [...folders.keys()].filter(
        (other) => other.startsWith(`${folder}/`) && !other.slice(folder.length + 1).includes("/"),
      )
      let below: ReadonlyArray<string> = known
      const isChanged = !isFolder || folders.get(folder) !== stat.modifiedMs
      if (isChanged) {
        const entries = isFolder
          ? ((yield* orUndefined(this.files.list(`${this.home}/${folder}`))) ?? [])
          : []
        yield* this.readFolder(
          folder,
          entries.flatMap(({ kind, name }) => (kind === "file" ? [name] : [])),
          pass,
        )
        const folderPaths = entries.flatMap(({ kind, name }) =>
          kind === "directory" ? [`${folder}/${name}`] : [],
        )
        below = [...new Set([...known, ...folderPaths])]
      }
      if (depth < maxDepth) {
        for (const next of below) yield* this.visit(next, depth + 1, pass)
      }
      // Recorded after the folders below it: if visiting one of them fails, this folder must be
      // visited again.
      if (isChanged) yield* this.recordFolder(folder, isFolder ? stat.modifiedMs : undefined, pass)
    })

  /**
   * Like `stat`, but follows a link at the two top folders, because people keep them on another
   * disk.
   */
  private folderStat(folder: string): Effect.Effect<FileStat | undefined, FileFault> {
    const path = `${this.home}/${folder}`
    const isRoot = folder === sessionsFolder || folder === archiveFolder
    return Effect.flatMap(orUndefined(this.files.stat(path)), (stat) =>
      isRoot && stat?.kind === "other"
        ? orUndefined(Effect.flatMap(this.files.realPath(path), (real) => this.files.stat(real)))
        : Effect.succeed(stat),
    )
  }

  private readonly recordFolder = Effect.fnUntraced(function* (
    this: Catalog,
    folder: string,
    modifiedMs: number | undefined,
    { index }: Pass,
  ) {
    if (modifiedMs === undefined) return yield* index((all) => all.removeFolder(folder))
    const age = (yield* Clock.currentTimeMillis) - modifiedMs
    const isUnsettled =
      (age >= 0 && age < racyMs) ||
      [...this.unreadable.values()].some((path) => path.startsWith(`${folder}/`))
    yield* index((all) => all.putFolder(folder, isUnsettled ? -1 : modifiedMs))
  })

  /** Updates the rows of the files directly in a folder. */
  private readonly readFolder = Effect.fnUntraced(function* (
    this: Catalog,
    folder: string,
    names: ReadonlyArray<string>,
    { index }: Pass,
  ): Effect.fn.Return<void, FileFault | IndexReplaced> {
    const known = yield* index((all) => all.inFolder(folder))
    const present = new Set(names)
    const gone = [...known].flatMap(([name, id]) => (present.has(name) ? [] : [id]))
    if (gone.length > 0) yield* index((all) => all.remove(gone))
    const put = (rows: ReadonlyArray<IndexRow>) => index((all) => all.put(rows))
    let rows: Array<IndexRow> = []
    for (const name of names) {
      if (known.has(name) || idInName(name) === undefined) continue
      const row = yield* this.readFile(`${folder}/${name}`)
      if (row !== undefined) rows.push(row)
      if (rows.length < 200) continue
      yield* put(rows)
      rows = []
      yield* Effect.yieldNow
    }
    if (rows.length > 0) yield* put(rows)
  })

  /** Reads a row from a file; undefined when the file is gone or is not a rollout. */
  private readFile(path: string): Effect.Effect<IndexRow | undefined, FileFault> {
    const name = path.slice(path.lastIndexOf("/") + 1)
    const archived = isArchived(path)
    const id = idInName(name)
    return Effect.scoped(
      Effect.flatMap(this.files.open(`${this.home}/${path}`, "read"), (handle) =>
        Effect.flatMap(handle.stat, (stat) =>
          stat.bytes === 0 && id !== undefined
            ? Effect.as(this.discardEmptyFile(id, path), undefined)
            : readIndexRow(handle, stat, { path, archived }),
        ),
      ),
    ).pipe(
      Effect.map((row) => (row?.meta.id === id ? row : undefined)),
      Effect.tap(() => Effect.sync(() => id !== undefined && this.unreadable.delete(id))),
      Effect.catch((fault) => {
        // Not the file's fault: the machine is short of a resource, which affects every other file
        // as well.
        if (isScarcity(fault)) return Effect.fail(fault)
        if (id !== undefined && !isAbsent(fault)) this.unreadable.set(id, path)
        return Effect.undefined
      }),
    )
  }

  /**
   * Removes an empty file that a process left behind when it ended while creating a conversation;
   * no client was given its id. The file stays while a process may still be writing it, and when no
   * lease shows that this program created it.
   */
  private discardEmptyFile(id: ConversationId, path: string): Effect.Effect<void, FileFault> {
    const file = `${this.home}/${path}`
    return this.leases.take(id).pipe(
      Effect.flatMap(({ inherited }) =>
        inherited ? this.files.stat(file) : Effect.succeed(undefined),
      ),
      Effect.flatMap((stat) => (stat?.bytes === 0 ? this.files.remove(file) : Effect.void)),
      Effect.scoped,
      Effect.uninterruptible,
      // The file is being created: fail, so that the folder is read again later.
      Effect.catchTag("LeaseHeld", () =>
        Effect.fail(new FileFault({ operation: "lease", path: file, code: "EBUSY" })),
      ),
    )
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
    for (const row of rows) {
      const stat = yield* orUndefined(this.files.stat(`${this.home}/${row.path}`))
      if (stat !== undefined && sameVersion(row, stat)) continue
      const now = stat === undefined ? undefined : yield* this.readFile(row.path)
      if (now !== undefined) fresh.push(now)
      // A file that cannot be read now still exists: the list shows its last known row.
      else if (stat === undefined || !this.unreadable.has(row.meta.id)) gone.push(row.meta.id)
    }
    if (gone.length > 0) yield* this.index.use((index) => index.remove(gone))
    yield* this.put(fresh)
    return gone.length + fresh.length > 0
  })
}
