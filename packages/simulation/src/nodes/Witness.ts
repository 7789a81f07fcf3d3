/**
 * What the database sees of its writers (L16): which node's process has which token, and for each committed batch whether its
 * writer was the holder of the lease, with the generation of the conversation, when the database took the batch.
 */
import type { Recorder } from "../trace/Recorder.ts"
import type { Session, Witness, Write } from "./Database.ts"
import type { Ground } from "./Machine.ts"
import type { Row, SqliteDatabase } from "./SqliteDatabase.ts"

const lease = `SELECT c.id, c.generation, c.length, c.events, c.holder, h.until_ms,
    (SELECT count(*) FROM colloquy_records AS r WHERE r.log = c.log)
      + (SELECT coalesce(sum(s.events), 0) FROM colloquy_shares AS s WHERE s.log = c.log) AS records
  FROM colloquy_conversations AS c LEFT JOIN colloquy_holders AS h ON h.token = c.holder WHERE c.log = ?`

/** What is wrong with a batch, by the row of its log with that of its holder; `owner` is the process that has the lease. */
const faultOf = (
  row: Row,
  owner: string | undefined,
  process: string,
  { generation, sinceMs }: Write,
): string | undefined => {
  const { generation: current, length, records, until_ms: untilMs } = row
  if (current !== generation) return `in place of ${String(current)}`
  if (owner !== process) return `without the lease, which ${owner ?? "no process"} has`
  if (typeof untilMs !== "number" || untilMs <= sinceMs) return "after its lease expired"
  return length === records
    ? undefined
    : `so that there are ${String(records)} records and not ${String(length)}`
}

/** Records every committed batch. */
class RecordingWitness implements Witness {
  private readonly recorder: Recorder
  private readonly ground: Ground
  private readonly sqlite: SqliteDatabase
  /** The process of each token. */
  private readonly processes = new Map<unknown, string>()

  constructor(recorder: Recorder, ground: Ground, sqlite: SqliteDatabase) {
    this.recorder = recorder
    this.ground = ground
    this.sqlite = sqlite
  }

  carriedOut({ process }: Session, sql: string, [row]: ReadonlyArray<Row>): void {
    if (!sql.startsWith("INSERT INTO colloquy_holders")) return
    this.processes.set(row?.["token"], process)
  }

  committed({ process, writes }: Session): void {
    for (const write of new Map(writes.map((one) => [one.log, one])).values()) {
      const [row] = this.sqlite.run(lease, [write.log])
      if (row === undefined) continue
      const how = faultOf(row, this.processes.get(row["holder"]), process, write)
      this.recorder.push(this.ground.clock.currentTimeMillisUnsafe(), {
        at: "wrote",
        conversation: String(row["id"]),
        process,
        generation: write.generation,
        events: Number(row["events"]),
        ...(how === undefined ? {} : { how }),
      })
    }
  }
}

/** Makes the witness of one run. */
export const witness =
  (recorder: Recorder, ground: Ground) =>
  (sqlite: SqliteDatabase): Witness =>
    new RecordingWitness(recorder, ground, sqlite)
