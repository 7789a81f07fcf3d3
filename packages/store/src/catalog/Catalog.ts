/**
 * Keeps the index in step with the files, whoever changed them: folders that changed are read again, files whose size or
 * time is another are looked at again when they are listed. An index that fails is made anew from the files, and where
 * that does not help one in memory takes its place: it is a cache, no list fails for it.
 */
import type { ListQuery } from "@colloquy/core/ConversationStore"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { isAbsent, isScarcity, orUndefined } from "../internal/FileErrors.ts"
import { FileFault, type FileStat, type Files } from "../Files.ts"
import { isoOf } from "../internal/IsoTime.ts"
import * as MemoryIndex from "../MemoryIndex.ts"
import { readIndexRow } from "../rollout/IndexRowReader.ts"
import type { Leases } from "../Leases.ts"
import type { IndexFault, IndexRow, RolloutIndex } from "../RolloutIndex.ts"
import { archiveFolder, idInName, sessionsFolder } from "../rollout/RolloutName.ts"

/** A folder that changed a moment ago may change again within the same tick of its clock. */
const racyMs = 2000

/** `sessions/YYYY/MM/DD`. */
const maxDepth = 3

/** An index that is damaged again and again is given up. */
const maxResets = 2

/** A page is made so often at most for files that change meanwhile. */
const maxRounds = 3

/** Rows looked at again because nothing was said in them when they were last looked at. */
const maxUnspokenRows = 1000

/** Where the file of an id that holds its time lies most likely: local time is within a day of it. */
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

export class Catalog {
  private readonly files: Files["Service"]
  private readonly leases: Leases["Service"]
  private readonly home: string
  private index: RolloutIndex["Service"]
  /** How often everything in the index was forgotten. */
  private resets = 0
  /** Files that could not be read, by the ids in their names: whoever opens one is told why. */
  private readonly unreadable = new Map<ConversationId, string>()
  private readonly refreshPermit = Semaphore.makeUnsafe(1)

  constructor(
    files: Files["Service"],
    leases: Leases["Service"],
    index: RolloutIndex["Service"],
    home: string,
  ) {
    this.files = files
    this.leases = leases
    this.index = index
    this.home = home
  }

  /** What the index knows, without looking. */
  get(id: ConversationId): Effect.Effect<IndexRow | undefined> {
    return this.withIndex((index) => index.get(id))
  }

  put(rows: ReadonlyArray<IndexRow>): Effect.Effect<void> {
    return rows.length === 0 ? Effect.void : this.withIndex((index) => index.put(rows))
  }

  remove(id: ConversationId): Effect.Effect<void> {
    return this.withIndex((index) => index.remove([id]))
  }

  /** The row of a conversation whose file is there now. */
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
    yield* this.refresh
    const found = yield* this.get(id)
    if (found !== undefined && found.path !== known?.path) return found
    const path = this.unreadable.get(id)
    return path === undefined ? undefined : { path, archived: isArchived(path) }
  })

  /** One row more than the limit when there are more. `isLive`: written by this process, which knows better than the file. */
  readonly page = Effect.fnUntraced(function* (
    this: Catalog,
    query: ListQuery,
    isLive: (id: ConversationId) => boolean,
  ): Effect.fn.Return<ReadonlyArray<IndexRow>, FileFault> {
    for (let round = 1; ; round++) {
      const resets = this.resets
      yield* this.refresh
      if (query.spoken === true || query.text !== undefined) {
        const unspoken = yield* this.withIndex((index) => index.unspoken(maxUnspokenRows))
        yield* this.reload(unspoken.filter(({ meta }) => !isLive(meta.id)))
      }
      const rows = yield* this.withIndex((index) => index.page(query))
      // Those that went meanwhile leave room for others.
      const changed = yield* this.reload(rows.filter(({ meta }) => !isLive(meta.id)))
      // A file that somebody writes all the time is never the one that was looked at.
      if ((!changed || round > maxRounds) && resets === this.resets) return rows
    }
  })

  /** Every folder that changed. One at a time: whoever comes meanwhile waits and finds nothing to do. */
  readonly refresh: Effect.Effect<void, FileFault> = Effect.suspend(() =>
    this.refreshPermit.withPermit(
      Effect.gen({ self: this }, function* () {
        for (;;) {
          const resets = this.resets
          const folders = yield* this.withIndex((index) => index.folders)
          yield* this.visit(sessionsFolder, 0, folders)
          yield* this.visit(archiveFolder, maxDepth, folders)
          if (resets === this.resets) return
        }
      }),
    ),
  )

  private readonly visit: (
    folder: string,
    depth: number,
    folders: ReadonlyMap<string, number>,
  ) => Effect.Effect<void, FileFault> = Effect.fnUntraced(function* (
    this: Catalog,
    folder: string,
    depth: number,
    folders: ReadonlyMap<string, number>,
  ): Effect.fn.Return<void, FileFault> {
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
      )
      const there = entries.flatMap(({ kind, name }) =>
        kind === "directory" ? [`${folder}/${name}`] : [],
      )
      below = [...new Set([...known, ...there])]
    }
    if (depth < maxDepth) {
      for (const next of below) yield* this.visit(next, depth + 1, folders)
    }
    // Not before those below it: what could not be visited now would not be visited again while this one stays as it is.
    if (isChanged) yield* this.recordFolder(folder, isFolder ? stat.modifiedMs : undefined)
  })

  /** Of the two folders that everything lies in, what a link leads to: people keep them on another disk. */
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
  ) {
    if (modifiedMs === undefined)
      return yield* this.withIndex((index) => index.removeFolder(folder))
    const age = (yield* Clock.currentTimeMillis) - modifiedMs
    const isUnsettled =
      (age >= 0 && age < racyMs) ||
      [...this.unreadable.values()].some((path) => path.startsWith(`${folder}/`))
    yield* this.withIndex((index) => index.putFolder(folder, isUnsettled ? -1 : modifiedMs))
  })

  /** The files of a folder as they are now. */
  private readonly readFolder = Effect.fnUntraced(function* (
    this: Catalog,
    folder: string,
    names: ReadonlyArray<string>,
  ): Effect.fn.Return<void, FileFault> {
    const known = yield* this.withIndex((index) => index.inFolder(folder))
    const there = new Set(names)
    const gone = [...known].flatMap(([name, id]) => (there.has(name) ? [] : [id]))
    if (gone.length > 0) yield* this.withIndex((index) => index.remove(gone))
    let rows: Array<IndexRow> = []
    for (const name of names) {
      if (known.has(name) || idInName(name) === undefined) continue
      const row = yield* this.readFile(`${folder}/${name}`)
      if (row !== undefined) rows.push(row)
      if (rows.length < 200) continue
      yield* this.put(rows)
      rows = []
      yield* Effect.yieldNow
    }
    yield* this.put(rows)
  })

  /** A file as it is now; undefined for one that is gone, or is none of ours. */
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
        // Nothing is wrong with the file: the machine is short of something, for this file and for every other.
        if (isScarcity(fault)) return Effect.fail(fault)
        if (id !== undefined && !isAbsent(fault)) this.unreadable.set(id, path)
        return Effect.undefined
      }),
    )
  }

  /** Nobody was told of a conversation without a beginning. It stays while it may get one, and where it is not ours. */
  private discardEmptyFile(id: ConversationId, path: string): Effect.Effect<void, FileFault> {
    const file = `${this.home}/${path}`
    return this.leases.take(id).pipe(
      Effect.flatMap(({ inherited }) =>
        inherited ? this.files.stat(file) : Effect.succeed(undefined),
      ),
      Effect.flatMap((stat) => (stat?.bytes === 0 ? this.files.remove(file) : Effect.void)),
      Effect.scoped,
      Effect.uninterruptible,
      // Being made: its folder is looked at again until it is known what became of it.
      Effect.catchTag("LeaseHeld", () =>
        Effect.fail(new FileFault({ operation: "lease", path: file, code: "EBUSY" })),
      ),
    )
  }

  /** Whether any of the rows was of other contents than the file has. */
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
      // What cannot be read now is there: the list shows what was last known of it.
      else if (stat === undefined || !this.unreadable.has(row.meta.id)) gone.push(row.meta.id)
    }
    if (gone.length > 0) yield* this.withIndex((index) => index.remove(gone))
    yield* this.put(fresh)
    return gone.length + fresh.length > 0
  })

  /** Of an index that fails everything is forgotten and made anew; one that cannot be helped is replaced by one in memory. */
  private withIndex<A>(
    use: (index: RolloutIndex["Service"]) => Effect.Effect<A, IndexFault>,
  ): Effect.Effect<A> {
    return Effect.suspend(() => use(this.index)).pipe(
      Effect.catch((fault) => {
        this.resets++
        if (!fault.damaged || this.resets > maxResets) return Effect.fail(fault)
        return Effect.logWarning(`the index of conversations is made anew: ${fault.message}`).pipe(
          Effect.andThen(Effect.suspend(() => this.index.reset)),
          Effect.andThen(Effect.suspend(() => use(this.index))),
        )
      }),
      Effect.catch((fault) => {
        this.index = MemoryIndex.make()
        const told = `the index of conversations cannot be kept, this process makes its own: ${fault.message}`
        return Effect.andThen(
          Effect.logWarning(told),
          // One in memory does not fail.
          Effect.orDie(Effect.suspend(() => use(this.index))),
        )
      }),
    )
  }
}
