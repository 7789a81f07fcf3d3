/**
 * The store in memory: a log per conversation, as long as the process lives. Keeps no more per conversation than its
 * records and a few references: most conversations lie idle.
 */
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
} from "../ConversationStore.ts"
import type { LogRecord } from "../LogRecord.ts"
import { previewOf } from "./Preview.ts"
import { LeaseHeld, LeaseLost, StoreError } from "../StoreErrors.ts"

/** The log of one conversation. */
class Kept {
  readonly meta: ConversationMeta
  readonly records: Array<LogRecord>
  preview: string | undefined
  archived = false
  /** Of the writer that has the lease, or had it last. */
  generation = 0
  held = false

  constructor(meta: ConversationMeta, records: ReadonlyArray<LogRecord>) {
    this.meta = meta
    // A copy is as long as its contents and no longer.
    this.records = records.slice()
    for (const record of records) this.look(record)
  }

  append(records: ReadonlyArray<LogRecord>): void {
    for (const record of records) {
      this.records.push(record)
      this.look(record)
    }
  }

  summary(): ConversationSummary {
    return {
      meta: this.meta,
      updatedAtMs: this.records.at(-1)?.atMs ?? this.meta.createdAtMs,
      archived: this.archived,
      ...(this.preview === undefined ? {} : { preview: this.preview }),
    }
  }

  private look(record: LogRecord): void {
    if (this.preview === undefined && record._tag === "Event") {
      this.preview = previewOf(record.event.msg)
    }
  }
}

class Writer implements LogWriter {
  readonly generation: number
  private readonly kept: Kept

  constructor(kept: Kept) {
    this.kept = kept
    this.generation = ++kept.generation
    kept.held = true
  }

  append(records: ReadonlyArray<LogRecord>): Effect.Effect<void, LeaseLost> {
    return Effect.suspend(() => {
      const { generation, kept } = this
      if (!this.isLast) return Effect.fail(new LeaseLost({ id: kept.meta.id, generation }))
      kept.append(records)
      return Effect.void
    })
  }

  get release(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.isLast) this.kept.held = false
    })
  }

  private get isLast(): boolean {
    return this.kept.generation === this.generation && this.kept.held
  }
}

const newestFirst = (a: ListPosition, b: ListPosition): number => {
  if (a.createdAtMs !== b.createdAtMs) return b.createdAtMs - a.createdAtMs
  if (a.id === b.id) return 0
  return a.id < b.id ? 1 : -1
}

const fits = (query: ListQuery, { archived, meta, preview }: ConversationSummary): boolean =>
  archived === (query.archived ?? false) &&
  (query.after === undefined || newestFirst(query.after, meta) < 0) &&
  (query.cwd === undefined || query.cwd === meta.cwd) &&
  (query.provider === undefined || query.provider === meta.provider) &&
  (query.spoken !== true || preview !== undefined) &&
  (query.owner === undefined || query.owner === (meta.owner ?? null)) &&
  (query.text === undefined || (preview ?? "").toLowerCase().includes(query.text.toLowerCase()))

type Service = ConversationStore["Service"]

export class MemoryStore implements Service {
  /** A store that is empty at first and lives as long as the layer. */
  static readonly layer = Layer.sync(ConversationStore, () => new MemoryStore())

  private readonly logs = new Map<ConversationId, Kept>()

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
        const kept = new Kept(meta, records)
        this.logs.set(meta.id, kept)
        return kept
      })
    })
  }

  open(where: LogAddress): Effect.Effect<OpenedLog, NoSuchConversation | LeaseHeld, Scope.Scope> {
    return Effect.flatMap(this.free(where), (kept) =>
      Effect.map(
        this.lease(() => kept),
        (writer) => ({ writer, summary: kept.summary(), repairs: [] }),
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
      // No event stands before the place of its number.
      for (let place = Math.max(0, seq); place < records.length; place++) {
        const record = records[place]
        if (record?._tag === "Event" && record.event.seq === seq) return place
      }
      return undefined
    })
  }

  list(query: ListQuery): Effect.Effect<ListPage> {
    return Effect.sync(() => {
      const fitting = [...this.logs.values()]
        .map((kept) => kept.summary())
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
    return Effect.map(this.find(where), (kept) => kept.summary())
  }

  archive(id: ConversationId): Effect.Effect<void, NoSuchConversation | LeaseHeld> {
    return Effect.map(this.free({ id }), (kept) => {
      kept.archived = true
    })
  }

  unarchive(id: ConversationId): Effect.Effect<void, NoSuchConversation | LeaseHeld> {
    return Effect.map(this.free({ id }), (kept) => {
      kept.archived = false
    })
  }

  delete(id: ConversationId): Effect.Effect<void, NoSuchConversation | LeaseHeld> {
    return Effect.map(this.free({ id }), () => {
      this.logs.delete(id)
    })
  }

  private find(where: LogAddress): Effect.Effect<Kept, NoSuchConversation> {
    return Effect.suspend(() => {
      const kept = "id" in where ? this.logs.get(where.id) : undefined
      return kept === undefined
        ? Effect.fail(new NoSuchConversation({ id: "id" in where ? where.id : where.path }))
        : Effect.succeed(kept)
    })
  }

  /** One that nobody writes. */
  private free(where: LogAddress): Effect.Effect<Kept, NoSuchConversation | LeaseHeld> {
    return Effect.filterOrFail(
      this.find(where),
      ({ held }) => !held,
      ({ meta }) => new LeaseHeld({ id: meta.id, holder: {} }),
    )
  }

  /** Not `acquireRelease`: its finalizer would hold the context of whoever asked as long as the lease lasts. */
  private lease(of: () => Kept): Effect.Effect<LogWriter, never, Scope.Scope> {
    return Effect.uninterruptible(
      Effect.flatMap(Effect.scope, (scope) => {
        const writer = new Writer(of())
        return Effect.as(Scope.addFinalizer(scope, writer.release), writer)
      }),
    )
  }
}
