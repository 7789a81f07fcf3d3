/**
 * The table of the nodes of a cluster: what each said of itself last. The row of an address belongs to one process at a time,
 * as long as that one renews it: of two nodes with one address each would take what the cluster sends to the other.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import type { NodeLoad } from "../NodeLoad.ts"

/** Time between two reports of a node. */
export const reportEvery = Duration.seconds(1)

/** The time after which the other nodes miss one, with a second for the report. */
export const silentMs = 4000

/** Another node that lives has the address of this one. */
export class NodeAddressTaken extends Data.TaggedError("NodeAddressTaken")<{
  /** The address, as `host:port`. */
  readonly address: string
}> {
  override get message() {
    return `another node of the cluster is reached at ${this.address}: each needs an address of its own`
  }
}

/** The table was made by a later version of this program. */
export class NodeRowsTooNew extends Data.TaggedError("NodeRowsTooNew")<{
  readonly found: number
  readonly known: number
}> {
  override get message() {
    return `the table of the nodes has version ${this.found}, which a later version of Colloquy made; this one knows versions up to ${this.known}`
  }
}

const migrations = {
  "0001_nodes": Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`CREATE TABLE colloquy_nodes (
      node text PRIMARY KEY,
      at timestamptz NOT NULL,
      shards integer NOT NULL,
      conversations integer NOT NULL,
      running integer NOT NULL,
      waiting integer NOT NULL
    )`,
  ),
  "0002_process": Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`ALTER TABLE colloquy_nodes ADD COLUMN process text`,
  ),
}

const table = "colloquy_node_migrations"

/** Creates the table, or brings that of an earlier version up to date. */
const migrate = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations), table })
  const [latest] = yield* sql<{ readonly found: number | null }>`
    SELECT max(migration_id) AS found FROM ${sql(table)}`
  const found = latest?.found ?? 0
  const known = Object.keys(migrations).length
  if (found > known) return yield* new NodeRowsTooNew({ found, known })
}).pipe(
  // What failed in a migration is a failure of the database; anything else is a fault of this program.
  Effect.catchTag("MigrationError", (error) =>
    error.cause instanceof SqlError ? Effect.fail(error.cause) : Effect.die(error),
  ),
)

/** Reports that another process may miss before its row counts as left behind. */
const missedReports = 3

/** When the row of a process was written, and whether that was so long ago that the other nodes miss it. */
interface Report {
  readonly at: string
  readonly isOld: boolean
}

const none: NodeLoad = { shards: 0, conversations: 0, running: 0, waiting: 0, byShard: new Map() }

/** The row of one node. */
class ClaimedRow {
  private readonly sql: SqlClient.SqlClient
  private readonly address: string
  /** A name that no other process has. */
  private readonly process: string
  /** When another process wrote the row, and how often it has missed to do so again. */
  private other: { readonly at: string; readonly missed: number } | undefined

  constructor(sql: SqlClient.SqlClient, address: string, process: string) {
    this.sql = sql
    this.address = address
    this.process = process
  }

  /** The row, whichever process has it. */
  get last(): Effect.Effect<Report | undefined, SqlError> {
    const rows = this.sql<Report>`SELECT at::text AS at,
        at <= clock_timestamp() - ${silentMs} * interval '1 millisecond' AS "isOld"
      FROM colloquy_nodes WHERE node = ${this.address}`
    return Effect.map(rows, ([row]) => row)
  }

  /**
   * Writes the row. False where another process has it, unless that one has not written it since the time `unless`. Clocks
   * decide nothing: that of a database that was restored may be behind as well.
   */
  write(load: NodeLoad, unless = ""): Effect.Effect<boolean, SqlError> {
    const { address, process, sql } = this
    const { conversations, running, shards, waiting } = load
    const rows = sql`
      INSERT INTO colloquy_nodes AS found (node, process, at, shards, conversations, running, waiting)
      VALUES (${address}, ${process}, clock_timestamp(), ${shards}, ${conversations}, ${running}, ${waiting})
      ON CONFLICT (node) DO UPDATE SET process = ${process}, at = clock_timestamp(), shards = ${shards},
        conversations = ${conversations}, running = ${running}, waiting = ${waiting}
      WHERE found.process = ${process} OR found.at::text = ${unless}
      RETURNING node`
    return Effect.map(rows, ({ length }) => length > 0)
  }

  /**
   * Renews the row. False once another process has written it twice. One that is written no more is a copy of earlier times,
   * as in a database that was restored, and is taken back.
   */
  renew(load: NodeLoad): Effect.Effect<boolean, SqlError> {
    return Effect.gen({ self: this }, function* () {
      const { other } = this
      const isLeft = other !== undefined && other.missed >= missedReports
      const isOwn = yield* this.write(load, isLeft ? other.at : "")
      const found = isOwn ? undefined : yield* this.last
      if (found !== undefined && other !== undefined && found.at !== other.at) return false
      this.other = found && { at: found.at, missed: (other?.missed ?? 0) + 1 }
      return true
    })
  }

  get remove(): Effect.Effect<void> {
    const { address, process, sql } = this
    return sql`DELETE FROM colloquy_nodes WHERE node = ${address} AND process = ${process}`.pipe(
      Effect.catch((error) => Effect.logWarning("the report of this node was not removed", error)),
    )
  }
}

/** The row of this node. */
export class NodeRow extends Context.Service<
  NodeRow,
  {
    /**
     * Renews the row. False where another process, which renews it too, has taken the address over while this one did not:
     * what the cluster sends to the address is for that one.
     */
    readonly renew: (load: NodeLoad) => Effect.Effect<boolean, SqlError>
  }
>()("@colloquy/cluster/node/NodeRow") {}

/**
 * Prepares the table for a node that is about to join, and claims the row of its address for this process until the scope
 * closes. Fails where another process has it that lives: one that was killed a moment ago reports nothing any more.
 */
export const claim = Effect.fnUntraced(function* (
  address: string,
  process: string,
): Effect.fn.Return<
  NodeRow["Service"],
  SqlError | NodeAddressTaken | NodeRowsTooNew,
  SqlClient.SqlClient | Scope.Scope
> {
  yield* migrate
  const row = new ClaimedRow(yield* SqlClient.SqlClient, address, process)
  const before = yield* row.last
  // A process whose row is old may live, and have been without the database until now.
  if (before?.isOld === true) yield* Effect.sleep(Duration.millis(silentMs))
  else if (before !== undefined) yield* Effect.sleep(Duration.times(reportEvery, 2))
  const claiming = Effect.filterOrFail(
    row.write(none, before?.at),
    (isClaimed) => isClaimed,
    () => new NodeAddressTaken({ address }),
  )
  yield* Effect.acquireRelease(claiming, () => row.remove)
  let isReporting = false
  // A node may take longer to start than the others take to miss it.
  yield* Effect.suspend(() => (isReporting ? Effect.interrupt : row.write(none))).pipe(
    Effect.catch((error) => Effect.logDebug("the node's report was not written", error)),
    Effect.delay(reportEvery),
    Effect.forever,
    Effect.forkScoped,
  )
  return {
    renew: (load) =>
      Effect.suspend(() => {
        isReporting = true
        return row.renew(load)
      }),
  }
})
