/**
 * The index in a `node:sqlite` file that processes share. Uses WAL mode, so that readers never
 * wait. Does not wait for the disk, because rows that a power failure loses are derived from the
 * files again. The database is opened by the first operation, and created by the
 * first one other than `get`.
 */
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { existsSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite"
import { DamagedRow, indexedMeta, indexedPath } from "../catalog/IndexedMeta.ts"
import { IndexFault, type IndexRow, RolloutIndex } from "../RolloutIndex.ts"
import { idInName } from "../rollout/RolloutName.ts"
import { columns, pageQuery, table } from "./PageQuery.ts"
import { makeFolders } from "./MakeFolders.ts"
import { closeQuietly, isDamage, sqlite } from "./Sqlite.ts"

/**
 * Version of the tables. Increased when they change; an index with another version is dropped and
 * rebuilt.
 */
const version = 3

/**
 * How long an operation waits while another process writes. The whole process waits, so it is
 * short.
 */
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
CREATE TABLE IF NOT EXISTS names (id TEXT PRIMARY KEY, name TEXT NOT NULL, folded TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names_read (bytes INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS damaged (folder TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (folder, name)) WITHOUT ROWID;
PRAGMA user_version = ${version};
`

const selectRow = `SELECT ${columns} FROM ${table} WHERE id = ?`

const insertRow = `INSERT OR REPLACE INTO conversations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const indexedId = (id: SQLOutputValue | undefined): ConversationId => {
  const parsed = parseConversationId(String(id))
  if ("problem" in parsed) throw new DamagedRow("a UUID in `id`")
  return parsed.id
}

type Found = Record<string, SQLOutputValue>

const valuesOf = (row: IndexRow): Array<SQLInputValue> => {
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
  const { preview, seq, submission, title, updated } = found
  const decoded = indexedMeta(String(meta))
  return {
    meta: decoded,
    path: indexedPath(String(folder), String(name), decoded.id),
    updatedAtMs: Number(updated),
    archived: archived === 1,
    ...(preview === null ? {} : { preview: String(preview) }),
    ...(title === null ? {} : { name: String(title) }),
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

class Database {
  private readonly path: string
  private open: DatabaseSync | undefined
  /** Compiled statements of the open database, by their texts. */
  private readonly statements = new Map<string, StatementSync>()

  constructor(path: string) {
    this.path = path
  }

  /** Runs an operation on the open database. */
  use<A>(run: (database: DatabaseSync) => A): Effect.Effect<A, IndexFault> {
    return Effect.suspend(() => {
      const { open } = this
      return open === undefined
        ? Effect.flatMap(sqlite, (module) =>
            this.attempt(() => run((this.open ??= this.connect(module.DatabaseSync)))),
          )
        : this.attempt(() => run(open))
    })
  }

  /**
   * Like `use`, but creates no database: undefined when there is none. Creating one waits for the
   * disk, and a new conversation would wait for it.
   */
  useExisting<A>(run: (database: DatabaseSync) => A): Effect.Effect<A | undefined, IndexFault> {
    return Effect.suspend(() =>
      this.open === undefined && !existsSync(this.path) ? Effect.undefined : this.use(run),
    )
  }

  /**
   * A statement of the database that `use` passed, compiled once.
   *
   * @param text one of a fixed number of texts
   */
  statement(database: DatabaseSync, text: string): StatementSync {
    const known = this.statements.get(text)
    if (known !== undefined) return known
    const made = database.prepare(text)
    this.statements.set(text, made)
    return made
  }

  /** Closes the database. The next operation opens it again. */
  close(): void {
    if (this.open !== undefined) closeQuietly(this.open)
    this.open = undefined
    this.statements.clear()
  }

  /** Removes the files of the database. */
  remove(): void {
    this.close()
    for (const ending of ["", "-wal", "-shm"]) rmSync(`${this.path}${ending}`, { force: true })
  }

  private attempt<A>(run: () => A): Effect.Effect<A, IndexFault> {
    return Effect.try({
      try: run,
      catch: (error) =>
        new IndexFault({
          message: `${this.path}: ${error instanceof Error ? error.message : "unknown error"}`,
          damaged: error instanceof DamagedRow || isDamage(error),
        }),
    })
  }

  private connect(Sqlite: typeof DatabaseSync): DatabaseSync {
    makeFolders(dirname(this.path), 0o700)
    const database = new Sqlite(this.path, { timeout: busyMs })
    try {
      // A setting of the connection and not of the file: otherwise each commit waits for the disk.
      database.exec("PRAGMA synchronous = NORMAL")
      const found = database.prepare("PRAGMA user_version").get()?.["user_version"]
      if (found === version) return database
      database.exec("PRAGMA journal_mode = WAL")
      if (found !== 0) {
        database.exec(
          "DROP TABLE IF EXISTS conversations; DROP TABLE IF EXISTS folders; DROP TABLE IF EXISTS names; DROP TABLE IF EXISTS names_read; DROP TABLE IF EXISTS damaged;",
        )
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

const readBytes = (database: DatabaseSync): number =>
  Number(database.prepare("SELECT bytes FROM names_read").get()?.["bytes"] ?? 0)

type Service = RolloutIndex["Service"]

class SqliteIndex implements Service {
  private readonly database: Database

  constructor(database: Database) {
    this.database = database
  }

  readonly get: Service["get"] = (id) =>
    this.database.useExisting((open) => {
      const found = this.database.statement(open, selectRow).get(id)
      return found === undefined ? undefined : rowOf(found)
    })

  readonly put: Service["put"] = (rows) =>
    this.database.use((open) => {
      const statement = this.database.statement(open, insertRow)
      if (rows.length === 1 && rows[0] !== undefined) statement.run(...valuesOf(rows[0]))
      else {
        inTransaction(open, () => {
          for (const row of rows) statement.run(...valuesOf(row))
        })
      }
    })

  readonly remove: Service["remove"] = (ids) =>
    this.database.use((open) => {
      const statement = open.prepare("DELETE FROM conversations WHERE id = ?")
      inTransaction(open, () => {
        for (const id of ids) statement.run(id)
      })
    })

  readonly page: Service["page"] = (query) =>
    this.database.use((open) => {
      const { text, values } = pageQuery(query)
      return open
        .prepare(text)
        .all(...values)
        .map(rowOf)
    })

  readonly withoutPreview: Service["withoutPreview"] = (max) =>
    this.database.use((open) =>
      open
        .prepare(
          `SELECT ${columns} FROM ${table} WHERE preview IS NULL ORDER BY created DESC, id DESC LIMIT ?`,
        )
        .all(max)
        .map(rowOf),
    )

  readonly inFolder: Service["inFolder"] = (folder) =>
    this.database.use(
      (open) =>
        new Map(
          open
            .prepare("SELECT name, id FROM conversations WHERE folder = ?")
            .all(folder)
            .map(({ id, name }) => [String(name), indexedId(id)] as const),
        ),
    )

  readonly folders: Service["folders"] = Effect.suspend(() =>
    this.database.use((open) => {
      const rows = open.prepare("SELECT folder, modified FROM folders").all()
      return new Map(rows.map(({ folder, modified }) => [String(folder), Number(modified)]))
    }),
  )

  readonly putFolder: Service["putFolder"] = (folder, modifiedMs) =>
    this.database.use((open) => {
      open.prepare("INSERT OR REPLACE INTO folders VALUES (?, ?)").run(folder, modifiedMs)
    })

  readonly nameOf: Service["nameOf"] = (id) =>
    this.database.use((open) => {
      const found = this.database.statement(open, "SELECT name FROM names WHERE id = ?").get(id)
      return found === undefined ? undefined : String(found["name"])
    })

  readonly putNames: Service["putNames"] = (names, from, to) =>
    this.database.use((open) =>
      inTransaction(open, () => {
        if (from === 0) open.exec("DELETE FROM names")
        else if (readBytes(open) !== from) return
        const statement = this.database.statement(
          open,
          "INSERT OR REPLACE INTO names VALUES (?, ?, ?)",
        )
        for (const { id, name } of names) statement.run(id, name, name.toLowerCase())
        open.exec("DELETE FROM names_read")
        open.prepare("INSERT INTO names_read VALUES (?)").run(to)
      }),
    )

  readonly namesRead: Service["namesRead"] = Effect.suspend(() => this.database.use(readBytes))

  readonly damaged: Service["damaged"] = Effect.suspend(() =>
    this.database.use((open) =>
      this.database
        .statement(open, "SELECT folder, name FROM damaged")
        .all()
        .map(({ folder, name }) =>
          indexedPath(String(folder), String(name), idInName(String(name))),
        ),
    ),
  )

  readonly putDamaged: Service["putDamaged"] = (paths) =>
    this.forEachPath("INSERT OR REPLACE INTO damaged VALUES (?, ?)", paths)

  readonly removeDamaged: Service["removeDamaged"] = (paths) =>
    this.forEachPath("DELETE FROM damaged WHERE folder = ? AND name = ?", paths)

  private forEachPath(text: string, paths: ReadonlyArray<string>): Effect.Effect<void, IndexFault> {
    return this.database.use((open) =>
      inTransaction(open, () => {
        const statement = this.database.statement(open, text)
        for (const path of paths) {
          const cut = path.lastIndexOf("/")
          statement.run(path.slice(0, cut), path.slice(cut + 1))
        }
      }),
    )
  }

  readonly removeFolder: Service["removeFolder"] = (folder) =>
    this.database.use((open) => {
      open.prepare("DELETE FROM folders WHERE folder = ?").run(folder)
    })

  readonly reset: Service["reset"] = Effect.flatMap(
    Effect.try({
      try: () => this.database.remove(),
      catch: () => new IndexFault({ message: "the index file cannot be removed", damaged: false }),
    }),
    () => this.database.use(() => undefined),
  )
}

/**
 * Layer of an index in a database file.
 *
 * @param path of the database; its folder is created when it is missing
 */
export const layer = (path: string): Layer.Layer<RolloutIndex> =>
  Layer.effect(
    RolloutIndex,
    Effect.gen(function* () {
      const database = yield* Effect.acquireRelease(
        Effect.sync(() => new Database(path)),
        (open) => Effect.sync(() => open.close()),
      )
      return new SqliteIndex(database)
    }),
  )
