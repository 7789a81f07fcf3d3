/**
 * The stored conversations of a crash run in a database, read from the tables as `packages/docs/store-sql.md` describes them,
 * without the store.
 */
import type { PostgresServer } from "@colloquy/testing/PostgresServer"
import { existsSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { faultsOf, type Judged, type Msg, type StoredEvent } from "./Judged.ts"
import type { Logs } from "./Logs.ts"

/** Runs a query of one text column; there may be no tables yet. */
type Query = (query: string) => ReadonlyArray<string>

/** A row of the log, as a line: `generation|seq|body`. The number is empty for what is no event. */
const parsed = (line: string) => {
  const [generation = "", seq = ""] = line.split("|", 2)
  const body = JSON.parse(line.slice(generation.length + seq.length + 2))
  return { generation, seq, body }
}

const eventsOf = (lines: ReadonlyArray<string>): ReadonlyArray<StoredEvent> => {
  /** Turns that the process of the generation has stopped. */
  const stopped = new Set<string>()
  let last = ""
  return lines.flatMap((line) => {
    const { body, generation, seq } = parsed(line)
    if (generation !== last) stopped.clear()
    last = generation
    if (seq === "") {
      if (body._tag === "Stop") stopped.add(body.turnId)
      return []
    }
    const msg: Msg = body.msg
    const isStopped = msg.type === "turn_aborted" && stopped.has(body.id)
    return [{ seq: Number(seq), id: String(body.id), msg, isStopped }]
  })
}

const judge = (lines: ReadonlyArray<string>): Judged => {
  const events = eventsOf(lines)
  return { events, faults: faultsOf(events) }
}

const logs = (query: Query): Logs => ({
  ids: () => query("SELECT id FROM colloquy_conversations"),
  read: (ids) => {
    const wanted = [...ids].map((id) => `'${id}'`).join(", ")
    const found = query(`SELECT id FROM colloquy_conversations WHERE id IN (${wanted || "''"})`)
    const lines =
      query(`SELECT c.id || '|' || r.generation || '|' || coalesce(CAST(r.seq AS text), '') || '|' || r.body
      FROM colloquy_records AS r JOIN colloquy_conversations AS c ON c.log = r.log
      WHERE c.id IN (${wanted || "''"}) ORDER BY r.log, r.position`)
    const byId = Map.groupBy(lines, (line) => line.slice(0, line.indexOf("|")))
    return new Map(
      found.map((id) => {
        const rows = (byId.get(id) ?? []).map((line) => line.slice(id.length + 1))
        const bytes = Buffer.from(rows.map((row) => `${row}\n`).join(""))
        const place = `the rows of ${id}`
        return [id, { place, bytes, whole: bytes, judge: () => judge(rows) }]
      }),
    )
  },
})

const isMissing = (error: unknown) =>
  /no such table|relation .* does not exist/.test(error instanceof Error ? error.message : "")

/** No rows where the tables do not exist yet. */
const orNone =
  (query: Query): Query =>
  (text) => {
    try {
      return query(text)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  }

/** The conversations in a SQLite file. */
export const sqliteLogs = (file: string): Logs =>
  logs(
    orNone((query) => {
      if (!existsSync(file)) return []
      const database = new DatabaseSync(file)
      try {
        database.exec("PRAGMA busy_timeout = 5000")
        const rows = database.prepare(query).all()
        return rows.map((row) => String(Object.values(row)[0]))
      } finally {
        database.close()
      }
    }),
  )

/** The conversations in a database of the server. */
export const postgresLogs = (server: PostgresServer, address: string): Logs => {
  const name = new URL(address).pathname.slice(1)
  return logs(
    orNone((query) => {
      const text = server.sql(query, name)
      return text === "" ? [] : text.split("\n")
    }),
  )
}
