/**
 * The conversation store over rollout files (§5.3) with an index for lists and leases for writers. Keeps L10, L11 and L16
 * by what it is made of: `RolloutWriter` appends, `OpenRollout` repairs, `Leases` says who writes, `Catalog` lists.
 */
import {
  type ConversationMeta,
  ConversationStore,
  type ConversationSummary,
  type ListPage,
  type ListQuery,
  type LogWriter,
  type OpenedLog,
  type Where,
} from "@colloquy/core/store/ConversationStore"
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { LogRecord } from "@colloquy/core/store/LogRecord"
import { LeaseHeld, StoreError } from "@colloquy/core/store/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Catalog } from "./Catalog.ts"
import { type FileFault, type FileHandle, Files } from "./Files.ts"
import { type Lease, Leases } from "./Leases.ts"
import { LiveRollout } from "./LiveRollout.ts"
import { maxLineBytes } from "./LineReader.ts"
import { Locator } from "./Locate.ts"
import { Waypoints } from "./LogReader.ts"
import { openRollout, ownHeader } from "./OpenRollout.ts"
import { readRow } from "./RolloutHead.ts"
import { type IndexRow, RolloutIndex } from "./RolloutIndex.ts"
import { encode, headerLines } from "./RolloutLines.ts"
import { archiveFolder, directoryOfName, rolloutName } from "./RolloutName.ts"
import { RolloutPages } from "./RolloutPages.ts"
import { RolloutWriter, type WriterLimits } from "./RolloutWriter.ts"
import { withReason } from "./StoreFaults.ts"

type Service = ConversationStore["Service"]
export interface RolloutStoreOptions extends Partial<WriterLimits> {
  /** The state directory, absolute: `sessions` and `archived_sessions` lie in it. */
  readonly home: string
  /** How far local time is ahead of UTC at a moment: files are named in local time. */
  readonly offsetMsAt: (atMs: number) => number
}

/** A file of it takes a second to read; a person's longest conversations have some ten thousands. */
const defaultMaxEvents = 1_000_000

/** As much as a person would want to keep of one conversation, and still read by pages. */
const defaultMaxBytes = 2 * 1024 ** 3

/** What fails gives back at once what it took; what succeeds does so with the scope. */
const owned = <A, E, R>(
  effect: Effect.Effect<A, E, R | Scope.Scope>,
): Effect.Effect<A, E, Exclude<R, Scope.Scope> | Scope.Scope> =>
  Effect.gen(function* () {
    const outer = yield* Effect.scope
    const inner = yield* Scope.make()
    return yield* effect.pipe(
      Scope.provide(inner),
      Effect.onExit((exit) =>
        Exit.isSuccess(exit)
          ? Scope.addFinalizerExit(outer, (end) => Scope.close(inner, end))
          : Scope.close(inner, exit),
      ),
    )
  })

class RolloutStore implements Service {
  private readonly files: Files["Service"]
  private readonly leases: Leases["Service"]
  private readonly catalog: Catalog
  private readonly locator: Locator
  private readonly options: RolloutStoreOptions
  private readonly limits: WriterLimits
  private readonly live = new Map<ConversationId, LiveRollout>()
  private readonly pages: RolloutPages

  constructor(
    files: Files["Service"],
    leases: Leases["Service"],
    index: RolloutIndex["Service"],
    options: RolloutStoreOptions,
  ) {
    this.files = files
    this.leases = leases
    this.options = options
    this.limits = {
      maxEvents: options.maxEvents ?? defaultMaxEvents,
      maxBytes: options.maxBytes ?? defaultMaxBytes,
      maxLineBytes: Math.min(options.maxLineBytes ?? maxLineBytes, maxLineBytes),
    }
    this.catalog = new Catalog(files, leases, index, options.home)
    this.locator = new Locator(files, this.catalog, options.home)
    this.pages = new RolloutPages(files, this.locator, options.home, this.live)
  }

  create(
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
  ): Effect.Effect<LogWriter, StoreError, Scope.Scope> {
    return Effect.uninterruptible(owned(this.createFile(meta, records))).pipe(
      withReason("create"),
      Effect.catchTag("LeaseHeld", () => Effect.fail(exists(meta.id))),
    )
  }

  placeOf({ createdAtMs, id }: ConversationMeta): Effect.Effect<string> {
    return Effect.sync(() => this.pathOf({ path: this.placeIn(id, createdAtMs) }))
  }

  open(
    where: Where,
  ): Effect.Effect<OpenedLog, StoreError | NoSuchConversation | LeaseHeld, Scope.Scope> {
    return owned(this.openFile(where)).pipe(withReason("open"))
  }

  read: Service["read"] = (id, page) => this.pages.read(id, page)

  readBackward: Service["readBackward"] = (id, page) => this.pages.readBackward(id, page)

  positionOf: Service["positionOf"] = (id, seq) => this.pages.positionOf(id, seq)

  list(query: ListQuery): Effect.Effect<ListPage, StoreError> {
    return Effect.gen({ self: this }, function* () {
      yield* this.flush
      const rows = yield* this.catalog.page(query, (id) => this.live.has(id))
      const items = rows.slice(0, query.limit).map((row) => this.summaryOf(row))
      const last = items.at(-1)?.meta
      return last === undefined || rows.length <= query.limit
        ? { items }
        : { items, next: { createdAtMs: last.createdAtMs, id: last.id } }
    }).pipe(withReason("list"))
  }

  metadata(where: Where): Effect.Effect<ConversationSummary, StoreError | NoSuchConversation> {
    return Effect.gen({ self: this }, function* () {
      const known = "id" in where ? this.live.get(where.id) : undefined
      if (known !== undefined) return known.summary(this.options.home)
      const located = yield* this.locator.find("metadata", where)
      const handle = yield* this.files.open(this.pathOf(located), "read")
      const { meta } = yield* ownHeader(handle, located)
      const row = yield* readRow(handle, yield* handle.stat, located)
      return row === undefined
        ? yield* new NoSuchConversation({ id: located.id })
        : { ...this.summaryOf(row), meta }
    }).pipe(Effect.scoped, withReason("metadata"))
  }

  archive: Service["archive"] = (id) =>
    this.move("archive", id, (name) => `${archiveFolder}/${name}`, true)

  unarchive: Service["unarchive"] = (id) =>
    this.move("unarchive", id, (name) => `${directoryOfName(name)}/${name}`, false)

  delete: Service["delete"] = (id) =>
    Effect.gen({ self: this }, function* () {
      const located = yield* this.locator.find("delete", { id })
      yield* this.leases.take(id)
      yield* this.files.remove(this.pathOf(located))
      yield* this.files.syncDirectory(folderOf(this.pathOf(located)))
      yield* this.catalog.remove(id)
      this.pages.forget(id)
    }).pipe(Effect.scoped, Effect.uninterruptible, withReason("delete"))

  private pathOf({ path }: { readonly path: string }): string {
    return `${this.options.home}/${path}`
  }

  private placeIn(id: ConversationId, createdAtMs: number): string {
    const localMs = createdAtMs + this.options.offsetMsAt(createdAtMs)
    const { directory, file } = rolloutName(id, localMs)
    return `${directory}/${file}`
  }

  private summaryOf(row: IndexRow): ConversationSummary {
    const { archived, meta, preview, updatedAtMs } = row
    return (
      this.live.get(meta.id)?.summary(this.options.home) ?? {
        meta,
        updatedAtMs,
        archived,
        path: this.pathOf(row),
        ...(preview === undefined ? {} : { preview }),
      }
    )
  }

  private readonly createFile = Effect.fnUntraced(function* (
    this: RolloutStore,
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
  ) {
    const { id } = meta
    const lease = yield* this.leases.take(id)
    if ((yield* this.catalog.get(id)) !== undefined) return yield* exists(id)
    const place = this.placeIn(id, meta.createdAtMs)
    const path = this.pathOf({ path: place })
    yield* this.files.makeDirectory(folderOf(path))
    const handle = yield* this.files.create(path)
    return yield* this.begin(meta, records, { path: place, handle, lease }).pipe(
      Effect.onError(() =>
        // Nobody was told of it: a file that stays all the same has no whole beginning and is no conversation.
        Effect.ignore(
          Effect.andThen(this.files.remove(path), this.files.syncDirectory(folderOf(path))),
        ),
      ),
    )
  })

  private readonly begin = Effect.fnUntraced(function* (
    this: RolloutStore,
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
    at: {
      readonly path: string
      readonly handle: FileHandle
      readonly lease: Lease
    },
  ) {
    const { handle, lease, path } = at
    const { state, text } = encode({ seq: 0, id: "", unnumbered: 0 }, records)
    const bytes = new TextEncoder().encode(headerLines(meta) + text)
    for (let written = 0; written < bytes.length;) {
      written += yield* handle.write(written, bytes.subarray(written))
    }
    yield* handle.sync
    yield* this.files.syncDirectory(folderOf(this.pathOf(at)))
    const version = yield* handle.stat
    const { instructions: _instructions, ...listed } = meta
    const live = new LiveRollout(
      meta,
      { meta: listed, path, archived: false, updatedAtMs: meta.createdAtMs },
      {
        handle,
        header: { meta, generation: "ours", records: [], numbering: { seq: 0, id: "" } },
        waypoints: new Waypoints(),
      },
    )
    const target = { id: meta.id, path: this.pathOf(at), identity: version.identity }
    const writer = new RolloutWriter(
      this.files,
      { ...target, handle, lease, generation: 1 },
      this.limits,
      { bytes: bytes.length, state, marked: true },
      (appended) => live.appended(appended),
    )
    live.appended(records)
    yield* this.goLive(meta.id, live, writer)
    yield* this.catalog.put([live.row(version, false)])
    live.isDirty = false
    return writer
  })

  private readonly openFile = Effect.fnUntraced(function* (this: RolloutStore, where: Where) {
    const located = yield* this.locator.find("open", where)
    const { id } = located
    const lease = yield* this.leases.take(id)
    const handle = yield* this.files.open(this.pathOf(located), "write")
    const row = yield* this.catalog.get(id)
    const opened = yield* openRollout(handle, located, row)
    const fresh =
      row !== undefined && opened.repairs.length === 0 && row.version.bytes === opened.version.bytes
        ? row
        : yield* readRow(handle, yield* handle.stat, located)
    const { meta } = opened.header
    const known = {
      meta: fresh?.meta ?? meta,
      updatedAtMs: fresh?.updatedAtMs ?? meta.createdAtMs,
      ...(fresh?.preview === undefined ? {} : { preview: fresh.preview }),
      path: located.path,
      archived: located.archived,
    }
    const live = new LiveRollout(meta, known, { ...opened, handle })
    const generation = Math.max(1, opened.checked.generation, lease.lastGeneration) + 1
    yield* lease.tellGeneration(generation)
    const { identity, bytes } = opened.version
    const writer = new RolloutWriter(
      this.files,
      { id, path: this.pathOf(located), identity, handle, lease, generation },
      this.limits,
      { bytes, state: { ...opened.checked.numbering, unnumbered: 0 }, marked: false },
      (appended) => live.appended(appended),
    )
    yield* this.goLive(id, live, writer)
    return { writer, summary: live.summary(this.options.home), repairs: opened.repairs }
  })

  private goLive(
    id: ConversationId,
    live: LiveRollout,
    writer: RolloutWriter,
  ): Effect.Effect<void, never, Scope.Scope> {
    live.attach(writer)
    return Effect.acquireRelease(
      Effect.sync(() => {
        this.live.set(id, live)
      }),
      () =>
        writer.close.pipe(
          Effect.andThen(this.settle(live)),
          Effect.ensuring(
            Effect.sync(() => {
              this.live.delete(id)
            }),
          ),
        ),
    )
  }

  /** What the next opener finds in the index. A file that nobody can look at any more has no row to keep. */
  private settle(live: LiveRollout): Effect.Effect<void> {
    return live.file.handle.stat.pipe(
      Effect.flatMap((version) => this.catalog.put([live.row(version, true)])),
      Effect.ignore,
    )
  }

  /** Lists are made by the index: it is told first of what was said since. */
  private get flush(): Effect.Effect<void, FileFault> {
    return Effect.gen({ self: this }, function* () {
      const rows: Array<IndexRow> = []
      for (const live of this.live.values()) {
        if (!live.isDirty) continue
        rows.push(live.row(yield* live.file.handle.stat, false))
        live.isDirty = false
      }
      yield* this.catalog.put(rows)
    })
  }

  private move(
    operation: "archive" | "unarchive",
    id: ConversationId,
    to: (name: string) => string,
    archived: boolean,
  ): Effect.Effect<void, StoreError | NoSuchConversation | LeaseHeld> {
    return Effect.gen({ self: this }, function* () {
      const located = yield* this.locator.find(operation, { id })
      yield* this.leases.take(id)
      if (located.archived === archived) return
      const path = to(located.path.slice(located.path.lastIndexOf("/") + 1))
      const [from, target] = [this.pathOf(located), this.pathOf({ path })]
      yield* this.files.makeDirectory(folderOf(target))
      yield* this.files.rename(from, target)
      yield* this.files.syncDirectory(folderOf(target))
      yield* this.files.syncDirectory(folderOf(from))
      const row = yield* this.catalog.get(id)
      if (row !== undefined) yield* this.catalog.put([{ ...row, path, archived }])
    }).pipe(Effect.scoped, Effect.uninterruptible, withReason(operation))
  }
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/"))

const exists = (id: ConversationId): StoreError =>
  new StoreError({
    operation: "create",
    reason: "Exists",
    message: `conversation ${id} exists already`,
  })

export const layer = (
  options: RolloutStoreOptions,
): Layer.Layer<ConversationStore, never, Files | Leases | RolloutIndex> =>
  Layer.effect(
    ConversationStore,
    Effect.gen(function* () {
      return new RolloutStore(yield* Files, yield* Leases, yield* RolloutIndex, options)
    }),
  )
