/**
 * Reads the folders of rollout files whose modification time changed into the index: puts the rows of new files, removes
 * those of files that are gone, and records damaged files. A folder whose rows may have been lost with the contents of
 * the index is read again. Reads no file that is in the index already, and never follows a link below the top folders.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { DirectoryEntry, FileFault, FileStat, Files } from "../Files.ts"
import { orUndefined } from "../internal/FileErrors.ts"
import { archiveFolder, idInName, parentFolder, sessionsFolder } from "../rollout/RolloutName.ts"
import type { IndexRow } from "../RolloutIndex.ts"
import type { CatalogIndex, IndexOperation, IndexReplaced } from "./CatalogIndex.ts"
import type { FileRows } from "./FileRows.ts"

/**
 * A folder that was changed this recently may change again within the resolution of the file
 * system's clock, so its time is not trusted.
 */
const racyMs = 2000

/** Depth of `sessions/YYYY/MM/DD`. */
const maxDepth = 3

/** One reading of the folders, with one generation of the index. */
interface Pass {
  /** The folders that need not be read when they have this modification time. */
  readonly folders: ReadonlyMap<string, number>
  /** The damaged files that were recorded before. */
  readonly damaged: ReadonlyArray<string>
  /** Runs an operation on the index. Fails when the index lost what this pass put into it. */
  readonly index: <A>(operation: IndexOperation<A>) => Effect.Effect<A, IndexReplaced>
}

type PassEffect = Effect.Effect<void, FileFault | IndexReplaced>

/** See the header. */
export class FolderReader {
  private readonly files: Files["Service"]
  private readonly home: string
  private readonly index: CatalogIndex
  private readonly rows: FileRows
  /**
   * Generation of the index whose folder records are trusted. Records of a later one may be of rows
   * that were lost with the earlier contents, until all folders have been read.
   */
  private trusted: number
  private readonly permit = Semaphore.makeUnsafe(1)

  /** @param home the state directory */
  constructor(files: Files["Service"], home: string, index: CatalogIndex, rows: FileRows) {
    this.files = files
    this.home = home
    this.index = index
    this.rows = rows
    this.trusted = index.generation
  }

  /**
   * Reads every folder that changed. Runs one at a time: a caller that arrives meanwhile waits and
   * then finds nothing to do.
   */
  readonly refresh: Effect.Effect<void, FileFault> = Effect.suspend(() =>
    this.permit.withPermit(
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
  readonly refreshed = Effect.fnUntraced(function* <A>(
    this: FolderReader,
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
    const damaged = yield* index((all) => all.damaged)
    const folders =
      generation === this.trusted ? known : new Map([...known.keys()].map((each) => [each, -1]))
    const pass = { folders, damaged, index }
    yield* this.visit(sessionsFolder, 0, pass)
    yield* this.visit(archiveFolder, maxDepth, pass)
    this.trusted = generation
  })

  private readonly visit: (folder: string, depth: number, pass: Pass) => PassEffect =
    Effect.fnUntraced(function* (
      this: FolderReader,
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
          entries.filter(({ kind, name }) => kind !== "directory" && idInName(name) !== undefined),
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
    this: FolderReader,
    folder: string,
    modifiedMs: number | undefined,
    { index }: Pass,
  ) {
    if (modifiedMs === undefined) return yield* index((all) => all.removeFolder(folder))
    const age = (yield* Clock.currentTimeMillis) - modifiedMs
    const isUnsettled = (age >= 0 && age < racyMs) || this.rows.hasRefused(folder)
    yield* index((all) => all.putFolder(folder, isUnsettled ? -1 : modifiedMs))
  })

  /** Updates the rows of the rollout files directly in a folder. */
  private readonly readFolder = Effect.fnUntraced(function* (
    this: FolderReader,
    folder: string,
    entries: ReadonlyArray<DirectoryEntry>,
    pass: Pass,
  ): Effect.fn.Return<void, FileFault | IndexReplaced> {
    const { index } = pass
    const known = yield* index((all) => all.inFolder(folder))
    const present = new Set(entries.flatMap(({ kind, name }) => (kind === "file" ? [name] : [])))
    this.rows.forgetAbsent(folder, present)
    const gone = [...known].flatMap(([name, id]) => (present.has(name) ? [] : [id]))
    if (gone.length > 0) yield* index((all) => all.remove(gone))
    const put = (rows: ReadonlyArray<IndexRow>) => index((all) => all.put(rows))
    const damaged: Array<string> = []
    let rows: Array<IndexRow> = []
    for (const { kind, name } of entries) {
      if (kind === "file" && known.has(name)) continue
      const path = `${folder}/${name}`
      // A link is never followed.
      const row = kind === "file" ? yield* this.rows.read(path) : "damaged"
      if (row === "damaged") damaged.push(path)
      else if (row !== undefined) rows.push(row)
      if (rows.length < 200) continue
      yield* put(rows)
      rows = []
      yield* Effect.yieldNow
    }
    if (rows.length > 0) yield* put(rows)
    yield* this.recordDamaged(folder, damaged, pass)
  })

  private readonly recordDamaged = Effect.fnUntraced(function* (
    this: FolderReader,
    folder: string,
    paths: ReadonlyArray<string>,
    { damaged, index }: Pass,
  ) {
    const before = new Set(damaged.filter((path) => parentFolder(path) === folder))
    const now = new Set(paths)
    const added = paths.filter((path) => !before.has(path))
    const removed = [...before].filter((path) => !now.has(path))
    if (added.length > 0) yield* index((all) => all.putDamaged(added))
    if (removed.length > 0) yield* index((all) => all.removeDamaged(removed))
  })
}
