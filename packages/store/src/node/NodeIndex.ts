/**
 * The index in a `node:sqlite` file that processes share. In WAL mode, so that readers wait for nobody; without waiting for
 * the disk, since what a power cut takes is made anew from the files. Opened when it is first asked.
 */
import type { ListQuery } from "@colloquy/core/ConversationStore"
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { rmSync } from "node:fs"
import { dirname } from "node:path"
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite"
import { DamagedRow, indexedMeta, indexedPath } from "../catalog/IndexedMeta.ts"
import { IndexFault, type IndexRow, RolloutIndex } from "../RolloutIndex.ts"
import { makeFolders } from "./MakeFolders.ts"
import { closeQuietly, isDamage, sqlite } from "./Sqlite.ts"

/** Raised when the tables change: an index of another version is made anew. */
const version = 1

/** What another process may hold a write for; asking waits so long, with everything else in this process. */
const busyMs = 500

const schema = `
CREATE TABLE IF NOT EXISTS conversations (
  id TEXT PRIMARY KEY, folder TEXT NOT NULL, name TEXT NOT NULL,
  created REAL NOT NULL, updated REAL NOT NULL, cwd TEXT NOT NULL, provider TEXT,
  archived INTEGER NOT NULL, preview TEXT, folded TEXT, meta TEXT NOT NULL,
  bytes INTEGER NOT NULL, modified REAL NOT NULL, identity TEXT NOT NULL,
  seq INTEGER, submission TEXT, generation INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS newest ON conversations (archived, created DESC, id DESC);
CREATE INDEX IF NOT EXISTS in_folder ON conversations (folder);
CREATE TABLE IF NOT EXISTS folders (folder TEXT PRIMARY KEY, modified REAL NOT NULL) WITHOUT ROWID;
PRAGMA user_version = ${version};
`

/** What a row is made of; the rest is there to be searched. */
const columns = `folder, name, updated, archived, preview, meta, bytes, modified, identity, seq, submission, generation`

const insertRow = `INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const indexedId = (id: SQLOutputValue | undefined): ConversationId => {
  const parsed = parseConversationId(String(id))
  if ("problem" in parsed) throw new DamagedRow("a UUID in `id`")
  return parsed.id
}

type Values = Array<SQLInputValue>
type Found = Record<string, SQLOutputValue>

const valuesOf = (row: IndexRow): Values => {
  const { checked, meta, path, preview } = row
  const cut = path.lastIndexOf("/")
  return [
    meta.id,
    path.slice(0, cut),
    path.slice(cut + 1),
    meta.createdAtMs,
    row.updatedAtMs,
    meta.cwd,
    meta.provider ?? null,
    row.archived ? 1 : 0,
    preview ?? null,
    preview?.toLowerCase() ?? null,
    JSON.stringify(meta),
    row.version.bytes,
    row.version.modifiedMs,
    row.version.identity,
    checked?.numbering.seq ?? null,
    checked?.numbering.id ?? null,
    checked?.generation ?? null,
  ]
}

const rowOf = (found: Found): IndexRow => {
  const { archived, bytes, folder, generation, identity, meta, modified, name } = found
  const { preview, seq, submission, updated } = found
  const told = indexedMeta(String(meta))
  return {
    meta: told,
    path: indexedPath(String(folder), String(name), told.id),
    updatedAtMs: Number(updated),
    archived: archived === 1,
    ...(preview === null ? {} : { preview: String(preview) }),
    version: {
      bytes: Number(bytes),
      modifiedMs: Number(modified),
      identity: String(identity),
    },
    ...(seq === null
      ? {}
      : {
          checked: {
            numbering: { seq: Number(seq), id: String(submission) },
            generation: Number(generation),
          },
        }),
  }
}

const selectOf = (query: ListQuery): { readonly text: string; readonly values: Values } => {
  const conditions = ["archived = ?"]
  const values: Values = [query.archived === true ? 1 : 0]
  const add = (condition: string, ...more: Values) => {
    conditions.push(condition)
    values.push(...more)
  }
  const { after, cwd, provider, spoken, text } = query
  if (after !== undefined) add("(created, id) < (?, ?)", after.createdAtMs, after.id)
  if (cwd !== undefined) add("cwd = ?", cwd)
  if (provider !== undefined) add("provider = ?", provider)
  if (spoken === true) add("preview IS NOT NULL")
  if (text !== undefined) add("instr(coalesce(folded, ''), ?) > 0", text.toLowerCase())
  return {
    text: `SELECT ${columns} FROM conversations WHERE ${conditions.join(" AND ")} ORDER BY created DESC, id DESC LIMIT ?`,
    values: [...values, query.limit + 1],
  }
}

class Database {
  private readonly path: string
  private open: DatabaseSync | undefined

  constructor(path: string) {
    this.path = path
  }

  use<A>(run: (database: DatabaseSync) => A): Effect.Effect<A, IndexFault> {
    return Effect.flatMap(sqlite, (module) =>
      Effect.try({
        try: () => run((this.open ??= this.connect(module.DatabaseSync))),
        catch: (error) =>
          new IndexFault({
            message: `${this.path}: ${error instanceof Error ? error.message : "it failed"}`,
            damaged: error instanceof DamagedRow || isDamage(error),
          }),
      }),
    )
  }

  close(): void {
    if (this.open !== undefined) closeQuietly(this.open)
    this.open = undefined
  }

  remove(): void {
    this.close()
    for (const ending of ["", "-wal", "-shm"]) rmSync(`${this.path}${ending}`, { force: true })
  }

  private connect(Sqlite: typeof DatabaseSync): DatabaseSync {
    makeFolders(dirname(this.path), 0o700)
    const database = new Sqlite(this.path, { timeout: busyMs })
    try {
      const found = database.prepare("PRAGMA user_version").get()?.["user_version"]
      if (found === version) return database
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
      if (found !== 0) {
        database.exec("DROP TABLE IF EXISTS conversations; DROP TABLE IF EXISTS folders;")
      }
      database.exec(`BEGIN IMMEDIATE; ${schema} COMMIT;`)
      return database
    } catch (error) {
      closeQuietly(database)
      throw error
    }
  }
}

const inTransaction = (database: DatabaseSync, run: () => void): void => {
  database.exec("BEGIN IMMEDIATE")
  try {
    run()
    database.exec("COMMIT")
  } catch (error) {
    database.exec("ROLLBACK")
    throw error
  }
}

/** @param path of the database; the folder is made when there is none */
export const layer = (path: string): Layer.Layer<RolloutIndex> =>
  Layer.effect(
    RolloutIndex,
    Effect.gen(function* () {
      const database = yield* Effect.acquireRelease(
        Effect.sync(() => new Database(path)),
        (open) => Effect.sync(() => open.close()),
      )
      return serviceOf(database)
    }),
  )

const serviceOf = (database: Database): RolloutIndex["Service"] => ({
  get: (id) =>
    database.use((open) => {
      const found = open.prepare(`SELECT ${columns} FROM conversations WHERE id = ?`).get(id)
      return found === undefined ? undefined : rowOf(found)
    }),
  put: (rows) =>
    database.use((open) => {
      const statement = open.prepare(insertRow)
      if (rows.length === 1 && rows[0] !== undefined) statement.run(...valuesOf(rows[0]))
      else {
        inTransaction(open, () => {
          for (const row of rows) statement.run(...valuesOf(row))
        })
      }
    }),
  remove: (ids) =>
    database.use((open) => {
      const statement = open.prepare("DELETE FROM conversations WHERE id = ?")
      inTransaction(open, () => {
        for (const id of ids) statement.run(id)
      })
    }),
  page: (query) =>
    database.use((open) => {
      const { text, values } = selectOf(query)
      return open
        .prepare(text)
        .all(...values)
        .map(rowOf)
    }),
  unspoken: (max) =>
    database.use((open) =>
      open
        .prepare(
          `SELECT ${columns} FROM conversations WHERE preview IS NULL ORDER BY created DESC, id DESC LIMIT ?`,
        )
        .all(max)
        .map(rowOf),
    ),
  inFolder: (folder) =>
    database.use(
      (open) =>
        new Map(
          open
            .prepare("SELECT name, id FROM conversations WHERE folder = ?")
            .all(folder)
            .map(({ id, name }) => [String(name), indexedId(id)] as const),
        ),
    ),
  folders: database.use(
    (open) =>
      new Map(
        open
          .prepare("SELECT folder, modified FROM folders")
          .all()
          .map(({ folder, modified }) => [String(folder), Number(modified)] as const),
      ),
  ),
  putFolder: (folder, modifiedMs) =>
    database.use((open) => {
      open.prepare("INSERT OR REPLACE INTO folders VALUES (?, ?)").run(folder, modifiedMs)
    }),
  removeFolder: (folder) =>
    database.use((open) => {
      open.prepare("DELETE FROM folders WHERE folder = ?").run(folder)
    }),
  reset: Effect.flatMap(
    Effect.try({
      try: () => database.remove(),
      catch: () => new IndexFault({ message: "it cannot be removed", damaged: false }),
    }),
    () => database.use(() => undefined),
  ),
})
