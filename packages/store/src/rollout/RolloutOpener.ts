/**
 * Gives a conversation its writer. `create` makes the file as a whole or not at all (L10). `open`
 * takes the lease, repairs the file and continues behind the previous writer (L11, L16). A failure
 * leaves neither a file nor a lease behind.
 */
import type {
  ConversationMeta,
  LogWriter,
  OpenedLog,
  LogAddress,
} from "@colloquy/core/ConversationStore"
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { LogRecord } from "@colloquy/core/LogRecord"
import { type LeaseHeld, StoreError, StoreLimit } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Catalog } from "../catalog/Catalog.ts"
import type { FileFault, FileHandle, Files } from "../Files.ts"
import { isAbsent } from "../internal/FileErrors.ts"
import type { Lease, Leases } from "../Leases.ts"
import { ActiveRollout } from "./ActiveRollout.ts"
import type { ActiveRollouts } from "./ActiveRollouts.ts"
import type { RolloutLocator } from "./RolloutLocator.ts"
import { Waypoints } from "./Waypoints.ts"
import { recoverRollout } from "./RolloutRecovery.ts"
import { readIndexRow } from "./IndexRowReader.ts"
import { encodeLines, headerLines, initialNumbering } from "./LineEncoder.ts"
import { longestLine } from "./LongestLine.ts"
import { parentFolder, rolloutName } from "./RolloutName.ts"
import { RolloutWriter, type WriterLimits } from "./RolloutWriter.ts"
import { writeAll } from "./WriteAll.ts"

/** Where rollout files are kept. */
export interface RolloutDirectory {
  /** The state directory, absolute. It contains `sessions` and `archived_sessions`. */
  readonly home: string
  /** Offset of local time from UTC at a moment, in milliseconds: file names contain local time. */
  readonly offsetMsAt: (atMs: number) => number
}

/** What `RolloutOpener` works with. */
export interface RolloutOpenerOptions {
  readonly files: Files["Service"]
  readonly leases: Leases["Service"]
  readonly catalog: Catalog
  readonly locator: RolloutLocator
  readonly active: ActiveRollouts
  readonly place: RolloutDirectory
  readonly limits: WriterLimits
}

/**
 * Runs an effect whose resources are released immediately when it fails, and with the surrounding
 * scope when it succeeds.
 */
const transferredToScope = <A, E, R>(
  effect: Effect.Effect<A, E, R | Scope.Scope>,
): Effect.Effect<A, E, Exclude<R, Scope.Scope> | Scope.Scope> =>
  Effect.gen(function* () {
    const outer = yield* Effect.scope
    const inner = yield* Scope.make()
    return yield* effect.pipe(
      Scope.provide(inner),
      Effect.onExit((exit) =>
        Exit.isSuccess(exit) ? closedWith(outer, inner) : Scope.close(inner, exit),
      ),
    )
  })

/** By itself, because its closure lives as long as the conversation: one of the caller would keep the first records alive. */
const closedWith = (outer: Scope.Scope, inner: Scope.Closeable): Effect.Effect<void> =>
  Scope.addFinalizerExit(outer, (end) => Scope.close(inner, end))

/** The error for an id that is taken. */
export const alreadyExists = (id: ConversationId): StoreError =>
  new StoreError({
    operation: "create",
    reason: "Exists",
    message: `conversation ${id} exists already`,
  })

/** A conversation whose file has no records yet. */
const newActive = (meta: ConversationMeta, path: string, handle: FileHandle): ActiveRollout => {
  const { instructions: _instructions, ...listed } = meta
  const header = {
    meta,
    lineFormat: "colloquy",
    records: [],
    numbering: initialNumbering,
  } as const
  return new ActiveRollout(
    meta,
    { meta: listed, path, archived: false, updatedAtMs: meta.createdAtMs },
    { handle, header, waypoints: new Waypoints() },
  )
}

/** Creates and opens rollout files for writing. */
export class RolloutOpener {
  private readonly files: Files["Service"]
  private readonly leases: Leases["Service"]
  private readonly catalog: Catalog
  private readonly locator: RolloutLocator
  private readonly active: ActiveRollouts
  private readonly place: RolloutDirectory
  private readonly limits: WriterLimits
  /** Folder of the latest new file: new files of one day are in one folder. */
  private preparedFolder: string | undefined
  private readonly folderPermit = Semaphore.makeUnsafe(1)

  constructor(parts: RolloutOpenerOptions) {
    this.files = parts.files
    this.leases = parts.leases
    this.catalog = parts.catalog
    this.locator = parts.locator
    this.active = parts.active
    this.place = parts.place
    this.limits = parts.limits
  }

  /** Path of the file of a new conversation, relative to the state directory. */
  relativePath(id: ConversationId, createdAtMs: number): string {
    const localMs = createdAtMs + this.place.offsetMsAt(createdAtMs)
    const { folder, file } = rolloutName(id, localMs)
    return `${folder}/${file}`
  }

  /**
   * Creates the file with its first records, synced, and returns its writer. The lease is held
   * until the scope closes.
   */
  create(
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
  ): Effect.Effect<LogWriter, StoreError | LeaseHeld | FileFault, Scope.Scope> {
    return Effect.uninterruptible(transferredToScope(this.createFile(meta, records)))
  }

  /** Opens an existing file for writing. The lease is held until the scope closes. */
  open(
    where: LogAddress,
  ): Effect.Effect<
    OpenedLog,
    StoreError | NoSuchConversation | LeaseHeld | FileFault,
    Scope.Scope
  > {
    return transferredToScope(this.openFile(where))
  }

  private pathOf({ path }: { readonly path: string }): string {
    return `${this.place.home}/${path}`
  }

  private readonly createFile = Effect.fnUntraced(function* (
    this: RolloutOpener,
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
  ) {
    const { id } = meta
    const lease = yield* this.leases.take(id)
    if ((yield* this.catalog.get(id)) !== undefined) return yield* alreadyExists(id)
    const place = this.relativePath(id, meta.createdAtMs)
    const path = this.pathOf({ path: place })
    const handle = yield* this.createIn(parentFolder(path), path)
    return yield* this.writeFirstRecords(meta, records, { path: place, handle, lease }).pipe(
      Effect.onError(() =>
        // The caller gets an error, so the file must not become a conversation, even when it cannot
        // be removed:
        // a file without a first line is none.
        Effect.ignore(handle.truncate(0)).pipe(
          Effect.andThen(this.files.remove(path)),
          Effect.andThen(this.files.syncDirectory(parentFolder(path))),
          Effect.catch((fault) =>
            Effect.logWarning(
              `could not remove the file of a conversation that was not created: ${fault.message}`,
            ),
          ),
        ),
      ),
    )
  })

  /** Creates the file, and its folder unless this process has made it before. */
  private createIn(
    folder: string,
    path: string,
  ): Effect.Effect<FileHandle, FileFault, Scope.Scope> {
    const create = this.files.create(path)
    const prepared = Effect.andThen(this.prepare(folder), create)
    return this.preparedFolder === folder
      ? // Another program may have removed it.
        Effect.catchIf(create, isAbsent, () => prepared)
      : prepared
  }

  /** Completes when the folder is on the disk, also when another conversation is making it. */
  private prepare(folder: string): Effect.Effect<void, FileFault> {
    return this.folderPermit.withPermit(
      Effect.tap(this.files.makeDirectory(folder), () =>
        Effect.sync(() => {
          this.preparedFolder = folder
        }),
      ),
    )
  }

  /** The bytes of a new file. Fails when a line is longer than readers accept. */
  private firstLines(
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
  ): Effect.Effect<
    { readonly bytes: Uint8Array; readonly state: ReturnType<typeof encodeLines>["state"] },
    StoreError
  > {
    const { state, text } = encodeLines({ ...initialNumbering, unnumbered: 0 }, records)
    const bytes = new TextEncoder().encode(headerLines(meta) + text)
    const { maxLineBytes } = this.limits
    if (longestLine(bytes, maxLineBytes) <= maxLineBytes) return Effect.succeed({ bytes, state })
    const { message } = new StoreLimit({ id: meta.id, limit: "bytes", max: maxLineBytes })
    return Effect.fail(new StoreError({ operation: "create", reason: "Other", message }))
  }

  private readonly writeFirstRecords = Effect.fnUntraced(function* (
    this: RolloutOpener,
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
    at: {
      readonly path: string
      readonly handle: FileHandle
      readonly lease: Lease
    },
  ) {
    const { handle, lease, path } = at
    const { state, bytes } = yield* this.firstLines(meta, records)
    yield* writeAll(handle, 0, bytes)
    yield* handle.syncCreated
    const { identity } = yield* handle.stat
    const active = newActive(meta, path, handle)
    const target = { id: meta.id, path: this.pathOf(at), identity }
    const writer = new RolloutWriter(
      this.files,
      { ...target, handle, lease, generation: 1 },
      this.limits,
      { bytes: bytes.length, state, marked: true },
      (appended) => active.recordAppended(appended),
    )
    active.recordAppended(records)
    // No response waits for the index: it is updated before the next list, which finds a new file in
    // its folder if this process ends before.
    active.isDirty = true
    yield* this.active.add(meta.id, active, writer)
    return writer
  })

  private readonly openFile = Effect.fnUntraced(function* (this: RolloutOpener, where: LogAddress) {
    const located = yield* this.locator.find("open", where)
    const { id } = located
    const lease = yield* this.leases.take(id)
    const handle = yield* this.files.open(this.pathOf(located), "write")
    const row = yield* this.catalog.get(id)
    const opened = yield* recoverRollout(handle, located, row)
    const fresh =
      row !== undefined && opened.repairs.length === 0 && row.version.bytes === opened.version.bytes
        ? row
        : yield* readIndexRow(handle, yield* handle.stat, located)
    const { meta } = opened.header
    const known = {
      meta: fresh?.meta ?? meta,
      updatedAtMs: fresh?.updatedAtMs ?? meta.createdAtMs,
      ...(fresh?.preview === undefined ? {} : { preview: fresh.preview }),
      path: located.path,
      archived: located.archived,
    }
    const active = new ActiveRollout(meta, known, { ...opened, handle })
    const generation = Math.max(1, opened.checked.generation, lease.lastGeneration) + 1
    yield* lease.recordGeneration(generation)
    const { identity, bytes } = opened.version
    const writer = new RolloutWriter(
      this.files,
      { id, path: this.pathOf(located), identity, handle, lease, generation },
      this.limits,
      { bytes, state: { ...opened.checked.numbering, unnumbered: 0 }, marked: false },
      (appended) => active.recordAppended(appended),
    )
    yield* this.active.add(id, active, writer)
    return { writer, summary: active.summary(this.place.home), repairs: opened.repairs }
  })
}
