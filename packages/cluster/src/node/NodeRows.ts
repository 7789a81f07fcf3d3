/** The table of the nodes of a cluster: what each said of itself last. */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"

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

/** When the node at this address reported last, if it can be expected to live. */
const lastReport = (address: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ readonly at: string }>`SELECT at::text AS at FROM colloquy_nodes
      WHERE node = ${address} AND at > clock_timestamp() - ${silentMs} * interval '1 millisecond'`
    return row?.at
  })

/**
 * Prepares the table for a node that is about to join. Fails where a node that lives is reached at the same address: one
 * that was killed a moment ago reports nothing any more.
 */
export const prepare = (
  address: string,
): Effect.Effect<void, SqlError | NodeAddressTaken | NodeRowsTooNew, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    yield* migrate
    const before = yield* lastReport(address)
    if (before === undefined) return
    yield* Effect.sleep(Duration.times(reportEvery, 2))
    const after = yield* lastReport(address)
    if (after !== undefined && after !== before) return yield* new NodeAddressTaken({ address })
  })
