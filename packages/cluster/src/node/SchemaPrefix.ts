/**
 * The prefix of the tables and the locks with which the nodes of a cluster find each other. It depends on the schema: locks
 * are those of the whole database, so that two clusters in two schemas would otherwise take each other's shards.
 */
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** The prefix for the schema in which the connection creates tables. */
export const prefixOfSchema: Effect.Effect<string, SqlError, SqlClient.SqlClient> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{
      readonly schema: string
      readonly digest: string
    }>`SELECT current_schema() AS schema, substr(md5(current_schema()), 1, 12) AS digest`
    return row === undefined || row.schema === "public" ? "cluster" : `cluster_${row.digest}`
  },
)
