/**
 * Whether a connection keeps its session with the database. The locks of a node's shards and its notifications belong to a
 * session: a pooler that shares sessions between transactions leaves the locks behind with it, and delivers no notification.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** Two transactions of one connection ran in different sessions. */
export class SessionNotKept extends Data.TaggedError("SessionNotKept")<{}> {
  override get message() {
    return "a pooler gives the transactions of one connection to different sessions of the database, and a node needs sessions of its own: connect to PostgreSQL itself, or have the pooler work in session mode"
  }
}

/**
 * Fails where a connection does not keep its session: it runs a statement before and during a transaction of another one,
 * which gets the session that a pooler takes for free.
 */
export const check: Effect.Effect<void, SessionNotKept | SqlError, SqlClient.SqlClient> =
  Effect.scoped(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const connection = yield* sql.reserve
      const session = Effect.map(
        connection.executeValues("SELECT pg_backend_pid()", []),
        ([row]) => row?.[0],
      )
      const before = yield* session
      const during = yield* sql.withTransaction(Effect.andThen(sql`SELECT 1`, session))
      if (before !== during) return yield* new SessionNotKept()
    }),
  )
