/**
 * Conversations in one SQLite file, with the SQLite of Node. Every append is one transaction, synced before it resolves.
 * A conversation has one writer: its row names the process that may append, and a generation that grows with each writer.
 */
import { DatabaseSync, type SQLInputValue } from "node:sqlite"
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import {
  type ConversationMeta,
  ConversationStore,
  type ConversationSummary,
  type LogAddress,
  type LogWriter,
} from "@colloquy/core/ConversationStore"
import { LogRecord } from "@colloquy/core/LogRecord"
import { previewOf } from "@colloquy/core/store/Preview"
import { LeaseHeld, LeaseLost, StoreError } from "@colloquy/core/StoreErrors"
import { Effect, Layer, Schema, type Scope } from "effect"

type Service = ConversationStore["Service"]

const tables = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS conversations (
    id TEXT PRIMARY KEY, createdAtMs INTEGER, updatedAtMs INTEGER, cwd TEXT, provider TEXT, owner TEXT, meta TEXT,
    preview TEXT, folded TEXT, name TEXT, archived INTEGER DEFAULT 0, generation INTEGER DEFAULT 0, pid INTEGER
  );
  CREATE TABLE IF NOT EXISTS records (
    id TEXT, position INTEGER, seq INTEGER, record TEXT, PRIMARY KEY (id, position)
  ) WITHOUT ROWID;`

interface Row {
  readonly id: string
  readonly meta: string
  readonly updatedAtMs: number
  readonly preview: string | null
  readonly name: string | null
  readonly archived: number
  readonly generation: number
  /** The process whose writer is open. */
  readonly pid: number | null
}

const summaryOf = ({ archived, meta, name, preview, updatedAtMs }: Row): ConversationSummary => ({
  meta: JSON.parse(meta) as ConversationMeta,
  updatedAtMs,
  archived: archived === 1,
  ...(preview === null ? {} : { preview }),
  ...(name === null ? {} : { name }),
})

const decodeRecord = Schema.decodeUnknownSync(Schema.fromJsonString(LogRecord))

/** The writer of a process that has ended, however it did, no longer counts. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const make = (db: DatabaseSync): Service => {
  // The tables say what a row has; SQLite does not.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  const all = <A>(sql: string, ...values: ReadonlyArray<SQLInputValue>) =>
    db.prepare(sql).all(...values) as ReadonlyArray<unknown> as ReadonlyArray<A>
  const run = (sql: string, ...values: ReadonlyArray<SQLInputValue>) =>
    db.prepare(sql).run(...values)

  /** One transaction. What it throws is a `StoreError`; neither that nor a typed failure leaves anything behind. */
  const transaction = <A, E>(
    operation: StoreError["operation"],
    body: () => Effect.Effect<A, E>,
  ): Effect.Effect<A, E | StoreError> =>
    Effect.suspend((): Effect.Effect<A, E | StoreError> => {
      try {
        db.exec("BEGIN IMMEDIATE")
        const result = body()
        db.exec("COMMIT")
        return result
      } catch (cause) {
        if (db.isOpen && db.isTransaction) db.exec("ROLLBACK")
        const message = cause instanceof Error ? cause.message : String(cause)
        const reason = message.includes("full") ? "Full" : "Other"
        return Effect.fail(new StoreError({ operation, reason, message }))
      }
    })

  const found = <A, E>(
    operation: StoreError["operation"],
    where: LogAddress,
    use: (row: Row) => Effect.Effect<A, E>,
  ) =>
    transaction(operation, (): Effect.Effect<A, E | NoSuchConversation> => {
      const id = "id" in where ? where.id : where.path
      const [row] = all<Row>("SELECT * FROM conversations WHERE id = ?", id)
      return row === undefined ? Effect.fail(new NoSuchConversation({ id })) : use(row)
    })

  /** The conversation, unless a writer is open. */
  const unleased = <A>(
    operation: StoreError["operation"],
    where: LogAddress,
    use: (row: Row) => A,
  ) =>
    found(operation, where, (row) =>
      row.pid !== null && isAlive(row.pid)
        ? Effect.fail(new LeaseHeld({ id: row.id, holder: { pid: row.pid } }))
        : Effect.succeed(use(row)),
    )

  const insert = (id: string, records: ReadonlyArray<LogRecord>) => {
    const [at] = all<{ n: number }>("SELECT count(*) AS n FROM records WHERE id = ?", id)
    for (const [i, record] of records.entries()) {
      const event = record._tag === "Event" ? record.event : undefined
      const position = (at?.n ?? 0) + i
      const text = JSON.stringify(record)
      run("INSERT INTO records VALUES (?, ?, ?, ?)", id, position, event?.seq ?? null, text)
      const preview = event && previewOf(event.msg)
      run(
        `UPDATE conversations SET updatedAtMs = ?, preview = coalesce(preview, ?), folded = coalesce(folded, ?)
         WHERE id = ?`,
        record.atMs,
        preview ?? null,
        preview?.toLowerCase() ?? null,
        id,
      )
    }
  }

  /** Takes the lease, within a transaction. */
  const lease = (id: string) =>
    all<Row>(
      "UPDATE conversations SET generation = generation + 1, pid = ? WHERE id = ? RETURNING *",
      process.pid,
      id,
    )[0]?.generation ?? 0

  const writer = (id: string, generation: number): LogWriter => ({
    generation,
    append: (records) =>
      transaction("append", () => {
        const [row] = all<Row>("SELECT * FROM conversations WHERE id = ?", id)
        if (row?.generation !== generation || row.pid !== process.pid) {
          return Effect.fail(new LeaseLost({ id, generation }))
        }
        insert(id, records)
        return Effect.void
      }),
  })

  /** Takes the lease until the scope closes. */
  const scoped = <A extends { readonly id: string; readonly generation: number }, E>(
    take: Effect.Effect<A, E>,
  ): Effect.Effect<A, E, Scope.Scope> =>
    Effect.acquireRelease(take, ({ generation, id }) =>
      Effect.sync(() => {
        // A writer may outlive the layer, which has released its lease then.
        if (!db.isOpen) return
        run("UPDATE conversations SET pid = NULL WHERE id = ? AND generation = ?", id, generation)
      }),
    )

  const page = (id: string, from: number, to: number) =>
    all<{ record: string }>(
      "SELECT record FROM records WHERE id = ? AND position >= ? AND position < ? ORDER BY position",
      id,
      from,
      to,
    ).map(({ record }) => decodeRecord(record))

  const length = (id: string) =>
    all<{ n: number }>("SELECT count(*) AS n FROM records WHERE id = ?", id)[0]?.n ?? 0

  return {
    create: (meta, records) =>
      scoped(
        transaction("create", () => {
          const { createdAtMs, cwd, id, owner, provider } = meta
          const made = run(
            `INSERT INTO conversations (id, createdAtMs, updatedAtMs, cwd, provider, owner, meta)
             VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
            id,
            createdAtMs,
            createdAtMs,
            cwd,
            provider ?? null,
            owner ?? null,
            JSON.stringify(meta),
          )
          if (made.changes === 0) {
            const message = `conversation ${id} exists already`
            return Effect.fail(new StoreError({ operation: "create", reason: "Exists", message }))
          }
          insert(id, records)
          return Effect.succeed({ id, generation: lease(id) })
        }),
      ).pipe(Effect.map(({ generation, id }) => writer(id, generation))),

    open: (where) =>
      scoped(
        unleased("open", where, (row) => ({ id: row.id, generation: lease(row.id), row })),
      ).pipe(
        Effect.map(({ generation, id, row }) => ({
          writer: writer(id, generation),
          summary: summaryOf(row),
          repairs: [],
        })),
      ),

    read: (id, { from = 0, max }) =>
      found("read", { id }, () => {
        const next = from + max
        const records = page(id, from, next)
        return Effect.succeed({ records, ...(next < length(id) ? { next } : {}) })
      }),

    readBackward: (id, { before, max }) =>
      found("read", { id }, () => {
        const end = before ?? length(id)
        const next = Math.max(0, end - max)
        return Effect.succeed({ records: page(id, next, end), ...(next > 0 ? { next } : {}) })
      }),

    positionOf: (id, seq) =>
      found("read", { id }, () => {
        const select = "SELECT position FROM records WHERE id = ? AND seq = ?"
        return Effect.succeed(all<{ position: number }>(select, id, seq)[0]?.position)
      }),

    list: (query) =>
      transaction("list", () => {
        const { after, archived = false, cwd, limit, owner, provider, text, withPreview } = query
        const rows = all<Row>(
          `SELECT * FROM conversations WHERE archived = :archived
             AND (:at IS NULL OR (createdAtMs, id) < (:at, :id))
             AND (:cwd IS NULL OR cwd = :cwd)
             AND (:provider IS NULL OR provider = :provider)
             AND (:anyOwner OR owner IS :owner)
             AND (NOT :withPreview OR preview IS NOT NULL)
             AND (:text IS NULL OR instr(folded, :text) > 0 OR instr(lower(name), :text) > 0)
           ORDER BY createdAtMs DESC, id DESC LIMIT :more`,
          {
            archived: Number(archived),
            at: after?.createdAtMs ?? null,
            id: after?.id ?? null,
            cwd: cwd ?? null,
            provider: provider ?? null,
            anyOwner: Number(owner === undefined),
            owner: owner ?? null,
            withPreview: Number(withPreview ?? false),
            text: text?.toLowerCase() ?? null,
            more: limit + 1,
          } as never,
        )
        const items = rows.slice(0, limit).map(summaryOf)
        const last = items.at(-1)?.meta
        return Effect.succeed(
          last === undefined || rows.length <= limit
            ? { items }
            : { items, next: { createdAtMs: last.createdAtMs, id: last.id } },
        )
      }),

    metadata: (where) => found("metadata", where, (row) => Effect.succeed(summaryOf(row))),

    archive: (id) =>
      unleased("archive", { id }, () => {
        run("UPDATE conversations SET archived = 1 WHERE id = ?", id)
      }),

    unarchive: (id) =>
      unleased("unarchive", { id }, () => {
        run("UPDATE conversations SET archived = 0 WHERE id = ?", id)
      }),

    rename: (id, name) =>
      found("rename", { id }, () => {
        run("UPDATE conversations SET name = ? WHERE id = ?", name, id)
        return Effect.void
      }),

    delete: (id) =>
      unleased("delete", { id }, () => {
        run("DELETE FROM records WHERE id = ?", id)
        run("DELETE FROM conversations WHERE id = ?", id)
      }),
  }
}

/** The conversations in this file, which is created if there is none. */
export const layer = (file: string): Layer.Layer<ConversationStore, StoreError> =>
  Layer.effect(
    ConversationStore,
    Effect.map(
      Effect.acquireRelease(
        Effect.try({
          try: () => {
            const db = new DatabaseSync(file)
            db.exec(tables)
            return db
          },
          catch: (cause) =>
            new StoreError({
              operation: "open",
              reason: "Other",
              message: `${file}: ${String(cause)}`,
            }),
        }),
        (db) =>
          Effect.sync(() => {
            db.prepare("UPDATE conversations SET pid = NULL WHERE pid = ?").run(process.pid)
            db.close()
          }),
      ),
      make,
    ),
  )
