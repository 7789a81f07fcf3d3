/**
 * The conversation store over rollout files, with an index for lists and leases for writers.
 * `RolloutOpener` creates and opens files, `RolloutWriter` appends, `RolloutPages` reads, `Leases`
 * decides who may write, and `Catalog` lists; together they keep L10, L11 and L16. The format of
 * the files is described in `packages/docs/wire/rollout.md`.
 */
import {
  type ConversationMeta,
  ConversationStore,
  type ConversationSummary,
  type ListPage,
  type ListQuery,
  type LogWriter,
  type OpenedLog,
  type LogAddress,
} from "@colloquy/core/ConversationStore"
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { LogRecord } from "@colloquy/core/LogRecord"
import type { LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Catalog } from "./catalog/Catalog.ts"
import { type FileFault, Files } from "./Files.ts"
import { Leases } from "./Leases.ts"
import { ActiveRollouts } from "./rollout/ActiveRollouts.ts"
import { maxLineBytes } from "./rollout/LineReader.ts"
import { RolloutLocator } from "./rollout/RolloutLocator.ts"
import { readOwnHeader } from "./rollout/RolloutRecovery.ts"
import { readIndexRow } from "./rollout/IndexRowReader.ts"
import { type IndexRow, RolloutIndex } from "./RolloutIndex.ts"
import { archiveFolder, folderOfName, parentFolder } from "./rollout/RolloutName.ts"
import { alreadyExists, RolloutOpener, type RolloutDirectory } from "./rollout/RolloutOpener.ts"
import { RolloutPages } from "./rollout/RolloutPages.ts"
import type { WriterLimits } from "./rollout/RolloutWriter.ts"
import { mapFileFaults } from "./internal/StoreErrorMapping.ts"

type Service = ConversationStore["Service"]

/**
 * LogAddress the store keeps its files, and the largest log that it accepts. Limits that are absent have
 * defaults.
 */
export interface RolloutStoreOptions extends Partial<WriterLimits>, RolloutDirectory {}

/**
 * A file with a million events takes a second to read; a person's longest conversations have some
 * ten thousand.
 */
const defaultMaxEvents = 1_000_000

/** More than a person would want to keep of one conversation, and still readable in pages. */
const defaultMaxBytes = 2 * 1024 ** 3

class RolloutStore implements Service {
  private readonly files: Files["Service"]
  private readonly leases: Leases["Service"]
  private readonly catalog: Catalog
  private readonly locator: RolloutLocator
  private readonly home: string
  private readonly active: ActiveRollouts
  private readonly opener: RolloutOpener
  private readonly pages: RolloutPages

  constructor(
    files: Files["Service"],
    leases: Leases["Service"],
    index: RolloutIndex["Service"],
    options: RolloutStoreOptions,
  ) {
    this.files = files
    this.leases = leases
    this.home = options.home
    const limits = {
      maxEvents: options.maxEvents ?? defaultMaxEvents,
      maxBytes: options.maxBytes ?? defaultMaxBytes,
      maxLineBytes: Math.min(options.maxLineBytes ?? maxLineBytes, maxLineBytes),
    }
    this.catalog = new Catalog(files, leases, index, options.home)
    this.locator = new RolloutLocator(files, this.catalog, options.home)
    this.active = new ActiveRollouts(this.catalog)
    this.pages = new RolloutPages(files, this.locator, options.home, this.active.all)
    const { catalog, active, locator } = this
    this.opener = new RolloutOpener({
      files,
      leases,
      catalog,
      locator,
      active,
      place: options,
      limits,
    })
  }

  readonly create = Effect.fn("RolloutStore.create")(
    (
      meta: ConversationMeta,
      records: ReadonlyArray<LogRecord>,
    ): Effect.Effect<LogWriter, StoreError, Scope.Scope> =>
      this.opener.create(meta, records).pipe(
        mapFileFaults("create"),
        Effect.catchTag("LeaseHeld", () => Effect.fail(alreadyExists(meta.id))),
      ),
  )

  placeOf({ createdAtMs, id }: ConversationMeta): Effect.Effect<string> {
    return Effect.sync(() => this.pathOf({ path: this.opener.relativePath(id, createdAtMs) }))
  }

  readonly open = Effect.fn("RolloutStore.open")(
    (
      where: LogAddress,
    ): Effect.Effect<OpenedLog, StoreError | NoSuchConversation | LeaseHeld, Scope.Scope> =>
      this.opener.open(where).pipe(
        Effect.flatMap((opened) =>
          Effect.map(this.withName(opened.summary), (summary) => ({ ...opened, summary })),
        ),
        mapFileFaults("open"),
      ),
  )

  readonly read: Service["read"] = (id, page) => this.pages.read(id, page)

  readonly readBackward: Service["readBackward"] = (id, page) => this.pages.readBackward(id, page)

  readonly positionOf: Service["positionOf"] = (id, seq) => this.pages.positionOf(id, seq)

  readonly list = Effect.fn("RolloutStore.list")(function* (
    this: RolloutStore,
    query: ListQuery,
  ): Effect.fn.Return<ListPage, StoreError | FileFault> {
    yield* this.active.flush
    const rows = yield* this.catalog.page(query, (id) => this.active.all.has(id))
    const items = rows.slice(0, query.limit).map((row) => this.summaryOf(row))
    const last = items.at(-1)?.meta
    return last === undefined || rows.length <= query.limit
      ? { items }
      : { items, next: { createdAtMs: last.createdAtMs, id: last.id } }
  }, mapFileFaults("list"))

  readonly metadata = Effect.fn("RolloutStore.metadata")(
    function* (
      this: RolloutStore,
      where: LogAddress,
    ): Effect.fn.Return<
      ConversationSummary,
      StoreError | NoSuchConversation | FileFault,
      Scope.Scope
    > {
      const known = "id" in where ? this.active.all.get(where.id) : undefined
      if (known !== undefined) return yield* this.withName(known.summary(this.home))
      const located = yield* this.locator.find("metadata", where)
      const handle = yield* this.files.open(this.pathOf(located), "read")
      const { meta } = yield* readOwnHeader(handle, located)
      const row = yield* readIndexRow(handle, yield* handle.stat, located)
      return row === undefined
        ? yield* new NoSuchConversation({ id: located.id })
        : yield* this.withName({ ...this.summaryOf(row), meta })
    },
    Effect.scoped,
    mapFileFaults("metadata"),
  )

  readonly archive = Effect.fn("RolloutStore.archive")((id: ConversationId) =>
    this.move("archive", id, (name) => `${archiveFolder}/${name}`, true),
  )

  readonly unarchive = Effect.fn("RolloutStore.unarchive")((id: ConversationId) =>
    this.move("unarchive", id, (name) => `${folderOfName(name)}/${name}`, false),
  )

  readonly rename = Effect.fn("RolloutStore.rename")(
    function* (
      this: RolloutStore,
      id: ConversationId,
      name: string,
    ): Effect.fn.Return<void, StoreError | NoSuchConversation | FileFault> {
      yield* this.locator.find("rename", { id })
      yield* this.catalog.names.append(id, name)
    },
    Effect.uninterruptible,
    mapFileFaults("rename"),
  )

  readonly delete = Effect.fn("RolloutStore.delete")(
    function* (
      this: RolloutStore,
      id: ConversationId,
    ): Effect.fn.Return<
      void,
      StoreError | NoSuchConversation | LeaseHeld | FileFault,
      Scope.Scope
    > {
      const located = yield* this.locator.find("delete", { id })
      yield* this.leases.take(id)
      yield* this.files.remove(this.pathOf(located))
      yield* this.files.syncDirectory(parentFolder(this.pathOf(located)))
      yield* this.catalog.remove(id)
      this.pages.forget(id)
    },
    Effect.scoped,
    Effect.uninterruptible,
    mapFileFaults("delete"),
  )

  private pathOf({ path }: { readonly path: string }): string {
    return `${this.home}/${path}`
  }

  private summaryOf(row: IndexRow): ConversationSummary {
    const { archived, meta, name, preview, updatedAtMs } = row
    const active = this.active.all.get(meta.id)?.summary(this.home)
    if (active !== undefined) return { ...active, ...defined({ name }) }
    return {
      meta,
      updatedAtMs,
      archived,
      path: this.pathOf(row),
      ...defined({ preview, name }),
    }
  }

  private withName(summary: ConversationSummary): Effect.Effect<ConversationSummary, FileFault> {
    return Effect.map(this.catalog.names.of(summary.meta.id), (name) => ({
      ...summary,
      ...defined({ name }),
    }))
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
      yield* this.files.makeDirectory(parentFolder(target))
      yield* this.files.rename(from, target)
      yield* this.files.syncDirectory(parentFolder(target))
      yield* this.files.syncDirectory(parentFolder(from))
      const row = yield* this.catalog.get(id)
      if (row !== undefined) yield* this.catalog.put([{ ...row, path, archived }])
    }).pipe(Effect.scoped, Effect.uninterruptible, mapFileFaults(operation))
  }
}

/** Layer of the store over a file system, leases and an index. */
export const layer = (
  options: RolloutStoreOptions,
): Layer.Layer<ConversationStore, never, Files | Leases | RolloutIndex> =>
  Layer.effect(
    ConversationStore,
    Effect.gen(function* () {
      return new RolloutStore(yield* Files, yield* Leases, yield* RolloutIndex, options)
    }),
  )
