/**
 * The store in memory: a log per conversation, for the lifetime of the layer. Keeps only the records and a few references
 * per conversation, because most conversations are idle. Records are shared with the caller, not copied.
 */
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { NoSuchConversation } from "../ConversationErrors.ts"
import {
  type ConversationMeta,
  ConversationStore,
  type ConversationSummary,
  type ListPage,
  type ListQuery,
  type LogWriter,
  type OpenedLog,
  type ListPosition,
  type Position,
  type RecordPage,
  type LogAddress,
  type Revision,
} from "../ConversationStore.ts"
import type { LogRecord } from "../LogRecord.ts"
import { previewOf } from "./Preview.ts"
import { LeaseHeld, LeaseLost, StoreError } from "../StoreErrors.ts"

/** The log of one conversation. */
class MemoryLog {
  readonly meta: ConversationMeta
  /** The same for no two logs of a store. */
  private readonly number: number
  readonly records: Array<LogRecord>
  preview: string | undefined
  name: string | undefined
  archived = false
  /** Generation of the writer that holds the lease, or held it last; larger where it was archived or unarchived since. */
  generation = 0
  /** True while a writer holds the lease. */
  held = false

  constructor(meta: ConversationMeta, records: ReadonlyArray<LogRecord>, number: number) {
    this.meta = meta
    this.number = number
    // A copied array has no spare capacity.
    this.records = records.slice()
    for (const record of records) this.updatePreview(record)
  }

  get revision(): Revision {
    return `${this.number}.${this.generation}`
  }

  setArchived(archived: boolean): void {
    this.archived = archived
    this.generation++
  }

  append(records: ReadonlyArray<LogRecord>): void {
    for (const record of records) {
      this.records.push(record)
      this.updatePreview(record)
    }
  }

  summary(): ConversationSummary {
    return {
      meta: this.meta,
      updatedAtMs: this.records.at(-1)?.atMs ?? this.meta.createdAtMs,
      archived: this.archived,
      ...defined({ preview: this.preview, name: this.name }),
    }
  }

  private updatePreview(record: LogRecord): void {
    if (this.preview === undefined && record._tag === "Event") {
      this.preview = previewOf(record.event.msg)
    }
  }
}

/** One holder of the lease of a log. */
class Writer implements LogWriter {
  readonly generation: number
  private readonly log: MemoryLog

  constructor(log: MemoryLog) {
    this.log = log
    this.generation = ++log.generation
    log.held = true
  }

  append(records: ReadonlyArray<LogRecord>): Effect.Effect<void, LeaseLost> {
    return Effect.suspend(() => {
      const { generation, log } = this
      if (!this.isLast) return Effect.fail(new LeaseLost({ id: log.meta.id, generation }))
      log.append(records)
      return Effect.void
    })
  }

  get release(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.isLast) this.log.held = false
    })
  }

  private get isLast(): boolean {
    return this.log.generation === this.generation && this.log.held
  }
}

/** Fails for a log that has another revision than the given one. */
const unchanged =
  (revision: Revision | undefined) =>
  (log: MemoryLog): Effect.Effect<void, LeaseHeld> =>
    revision === undefined || revision === log.revision
      ? Effect.void
      : Effect.fail(new LeaseHeld({ id: log.meta.id, holder: {} }))

/** Order of lists. */
const newestFirst = (a: ListPosition, b: ListPosition): number => {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs
  if (a.id === b.id) return 0
  return a.id < b.id ? 1 : -1
}

/** True when a list with this query contains the conversation. */
const fits = (
  query: ListQuery,
  { archived, meta, name = "", preview }: ConversationSummary,
): boolean =>
  archived === (query.archived ?? false) &&
  (query.after === undefined || newestFirst(query.after, meta) < 0) &&
  (query.cwd === undefined || query.cwd === meta.cwd) &&
  (query.provider === undefined || query.provider === meta.provider) &&
  (query.withPreview !== true || preview !== undefined) &&
  (query.owner === undefined || query.owner === (meta.owner ?? null)) &&
  (query.text === undefined || hasText(query.text, preview ?? "", name))

const hasText = (text: string, ...within: ReadonlyArray<string>): boolean =>
  within.some((one) => one.toLowerCase().includes(text.toLowerCase()))

type Service = ConversationStore["Service"]

/** The store in memory. The members are those of `ConversationStore`. */
export class MemoryStore implements Service {
  /** A store that is empty at first and lives as long as the layer. */
  static readonly layer = Layer.sync(ConversationStore, () => new MemoryStore())

  private readonly logs = new Map<ConversationId, MemoryLog>()
  private created = 0

  create(
    meta: ConversationMeta,
    records: ReadonlyArray<LogRecord>,
  ): Effect.Effect<LogWriter, StoreError, Scope.Scope> {
    return Effect.suspend(() => {
      if (this.logs.has(meta.id)) {
        const message = `conversation ${meta.id} exists already`
        return Effect.fail(new StoreError({ operation: "create", reason: "Exists", message }))
      }
      return this.lease(() => {
        const log = new MemoryLog(meta, records, ++this.created)
        this.logs.set(meta.id, log)
        return log
      })
    })
  }

  open(where: LogAddress): Effect.Effect<OpenedLog, NoSuchConversation | LeaseHeld, Scope.Scope> {
    return Effect.flatMap(this.unleased(where), (log) =>
      Effect.map(
        this.lease(() => log),
        (writer) => ({ writer, summary: log.summary(), repairs: [] }),
      ),
    )
  }

  read(
    id: ConversationId,
    { from = 0, max }: { readonly from?: Position; readonly max: number },
  ): Effect.Effect<RecordPage, NoSuchConversation> {
    return Effect.map(this.find({ id }), ({ records }) => {
      const next = from + max
      return {
        records: records.slice(from, next),
        ...(next < records.length ? { next } : {}),
      }
    })
  }

  readBackward(
    id: ConversationId,
    { before, max }: { readonly before?: Position; readonly max: number },
  ): Effect.Effect<RecordPage, NoSuchConversation> {
    return Effect.map(this.find({ id }), ({ records }) => {
      const end = before ?? records.length
      const next = Math.max(0, end - max)
      return { records: records.slice(next, end), ...(next > 0 ? { next } : {}) }
    })
  }

  positionOf(
    id: ConversationId,
    seq: number,
  ): Effect.Effect<Position | undefined, NoSuchConversation> {
    return Effect.map(this.find({ id }), ({ records }) => {
      // At least `seq` records precede event `seq`.
      for (let position = Math.max(0, seq); position < records.length; position++) {
        const record = records[position]
        if (record?._tag === "Event" && record.event.seq === seq) return position
      }
      return undefined
    })
  }

  list(query: ListQuery): Effect.Effect<ListPage> {
    return Effect.sync(() => {
      const fitting = [...this.logs.values()]
        .map((log) => log.summary())
        .filter((summary) => fits(query, summary))
        .toSorted((a, b) => newestFirst(a.meta, b.meta))
      const items = fitting.slice(0, query.limit)
      const last = items.at(-1)?.meta
      return last === undefined || items.length === fitting.length
        ? { items }
        : { items, next: { createdAtMs: last.createdAtMs, id: last.id } }
    })
  }

  metadata(where: LogAddress): Effect.Effect<ConversationSummary, NoSuchConversation> {
    return Effect.map(this.find(where), (log) => ({ ...log.summary(), revision: log.revision }))
  }

  archive(
    id: ConversationId,
    revision?: Revision,
  ): Effect.Effect<void, NoSuchConversation | LeaseHeld> {
    return this.setArchived(id, true, revision)
  }

  unarchive(
    id: ConversationId,
    revision?: Revision,
  ): Effect.Effect<void, NoSuchConversation | LeaseHeld> {
    return this.setArchived(id, false, revision)
  }

  rename(id: ConversationId, name: string): Effect.Effect<void, NoSuchConversation> {
    return Effect.map(this.find({ id }), (log) => {
      log.name = name
    })
  }

  delete(
    id: ConversationId,
    revision?: Revision,
  ): Effect.Effect<void, NoSuchConversation | LeaseHeld> {
    return Effect.map(Effect.flatMap(this.unleased({ id }), unchanged(revision)), () => {
      this.logs.delete(id)
    })
  }

  private setArchived(
    id: ConversationId,
    archived: boolean,
    revision: Revision | undefined,
  ): Effect.Effect<void, NoSuchConversation | LeaseHeld> {
    return Effect.flatMap(this.unleased({ id }), (log) =>
      log.archived === archived
        ? Effect.void
        : Effect.map(unchanged(revision)(log), () => log.setArchived(archived)),
    )
  }

  private find(where: LogAddress): Effect.Effect<MemoryLog, NoSuchConversation> {
    return Effect.suspend(() => {
      const log = "id" in where ? this.logs.get(where.id) : undefined
      return log === undefined
        ? Effect.fail(new NoSuchConversation({ id: "id" in where ? where.id : where.path }))
        : Effect.succeed(log)
    })
  }

  /** The log, unless a writer holds its lease. */
  private unleased(where: LogAddress): Effect.Effect<MemoryLog, NoSuchConversation | LeaseHeld> {
    return Effect.filterOrFail(
      this.find(where),
      ({ held }) => !held,
      ({ meta }) => new LeaseHeld({ id: meta.id, holder: {} }),
    )
  }

  /** Not `acquireRelease`: its finalizer would keep the context of the caller alive as long as the lease. */
  private lease(of: () => MemoryLog): Effect.Effect<LogWriter, never, Scope.Scope> {
    return Effect.uninterruptible(
      Effect.flatMap(Effect.scope, (scope) => {
        const writer = new Writer(of())
        return Effect.as(Scope.addFinalizer(scope, writer.release), writer)
      }),
    )
  }
}
