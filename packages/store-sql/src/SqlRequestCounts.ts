/**
 * The requests of each principal, counted over all processes of a database in periods of the clock of the database. The
 * tables are those of the store, which creates them.
 */
import type { StoreError } from "@colloquy/core/StoreErrors"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as SqlClient from "effect/sql/SqlClient"
import { SqlError } from "effect/sql/SqlError"
import { dialectOf } from "./internal/Dialect.ts"
import { storeError } from "./internal/SqlFaults.ts"

/** The requests of one principal at all processes. */
export interface CountedRequests {
  /** Requests in the period, those just added included. */
  readonly requests: number
  /** Number of the period: the time divided by the length of a period. */
  readonly period: number
  /** Time of the database, in milliseconds since the epoch. */
  readonly atMs: number
}

/** The counts. */
export interface SqlRequestCounts {
  /** Adds requests of the principal to the present period. Tries it once; may be carried out although it failed. */
  readonly add: (
    principal: string,
    requests: number,
    period: Duration.Duration,
  ) => Effect.Effect<CountedRequests, StoreError>
}

/** Rows of principals that sent nothing for so long are removed; no period is as long. */
const forgottenMs = 3_600_000

const sweep = Schedule.spaced("10 minutes")

/** The counts of a client of the database, which removes old rows until the scope closes. */
export const make: Effect.Effect<SqlRequestCounts, never, SqlClient.SqlClient | Scope.Scope> =
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { nowMs, periodOf } = dialectOf(sql)
    yield* sql`DELETE FROM colloquy_request_counts WHERE changed_at_ms < ${nowMs} - ${forgottenMs}`.pipe(
      Effect.catch((error) => Effect.logDebug("old counts of requests were not removed", error)),
      Effect.repeat(sweep),
      Effect.forkScoped,
    )
    const add: SqlRequestCounts["add"] = (principal, requests, period) =>
      Effect.gen(function* () {
        // While this statement waited for another one that changes the row, a period may have begun.
        const [row] = yield* sql<{
          readonly requests: number
          readonly period: number
          readonly atMs: number
        }>`INSERT INTO colloquy_request_counts AS counted (principal, period, requests, changed_at_ms)
        VALUES (${principal}, ${periodOf(Duration.toMillis(period))}, ${requests}, ${nowMs})
        ON CONFLICT (principal) DO UPDATE SET
          requests = excluded.requests
            + CASE WHEN counted.period >= excluded.period THEN counted.requests ELSE 0 END,
          period = CASE WHEN counted.period >= excluded.period THEN counted.period
            ELSE excluded.period END,
          changed_at_ms = excluded.changed_at_ms
        RETURNING requests, period, ${nowMs} AS "atMs"`
        return row ?? { requests, period: 0, atMs: 0 }
      }).pipe(
        Effect.mapError((error) => storeError("append", error)),
        Effect.catchDefect((defect) =>
          defect instanceof SqlError
            ? Effect.fail(storeError("append", defect))
            : Effect.die(defect),
        ),
      )
    return { add }
  })
