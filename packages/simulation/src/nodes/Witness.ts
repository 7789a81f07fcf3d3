/**
 * What the database sees of its writers (L16): which node's process has which token, and for each committed batch whether its
 * writer was the holder of the lease, with the generation of the conversation, when the database took the batch.
 */
import type { Recorder } from "../trace/Recorder.ts"
import type { Session, Witness, Write } from "./Database.ts"
import type { Ground } from "./Machine.ts"
import type { SqliteDatabase } from "./SqliteDatabase.ts"

const lease = `SELECT c.id, c.generation, c.length, c.holder, h.until_ms,
    (SELECT count(*) FROM colloquy_records AS r WHERE r.log = c.log)
      + (SELECT coalesce(sum(s.events), 0) FROM colloquy_shares AS s WHERE s.log = c.log) AS records
  FROM colloquy_conversations AS c LEFT JOIN colloquy_holders AS h ON h.token = c.holder WHERE c.log = ?`

/** Makes the witness of one run, which records every committed batch. */
export const witness =
  (recorder: Recorder, { clock }: Ground) =>
  (sqlite: SqliteDatabase): Witness => {
    const processes = new Map<unknown, string>()
    const faultOf = (session: Session, { generation, log, sinceMs }: Write) => {
      const [row] = sqlite.run(lease, [log])
      if (row === undefined) return { id: `log ${log}`, how: "of no conversation" }
      const { holder, id, length, records, until_ms: untilMs } = row
      const owner = processes.get(holder)
      const how =
        row["generation"] === generation
          ? owner !== session.process
            ? `without the lease, which ${owner ?? "nobody"} has`
            : typeof untilMs === "number" && untilMs > sinceMs
              ? length === records
                ? undefined
                : `so that there are ${String(records)} records and not ${String(length)}`
              : "after its lease expired"
          : `in place of ${String(row["generation"])}`
      return { id: String(id), how }
    }
    return {
      carriedOut: (session, sql, [row]) => {
        if (sql.startsWith("INSERT INTO colloquy_holders")) {
          processes.set(row?.["token"], session.process)
        }
      },
      committed: (session) => {
        const logs = new Map(session.writes.map((write) => [write.log, write]))
        for (const write of logs.values()) {
          const { how, id } = faultOf(session, write)
          recorder.push(clock.currentTimeMillisUnsafe(), {
            at: "wrote",
            conversation: id,
            process: session.process,
            generation: write.generation,
            ...(how === undefined ? {} : { how }),
          })
        }
      },
    }
  }
