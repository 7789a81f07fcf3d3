/**
 * Removes messages between nodes that have been answered, and their replies. Effect Cluster keeps both for ever, so that a
 * message which is sent again gets the same reply; here every attempt of a call is a message of its own, and its caller
 * waits for the reply for some seconds only.
 *
 * It never removes a request without a reply: that waits for a node which carries it out.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as MachineId from "effect/cluster/MachineId"
import * as Snowflake from "effect/cluster/Snowflake"
import * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** Much longer than a caller waits for a reply, and than the clocks of two nodes differ. */
const keptFor = Duration.minutes(10)

const interval = Duration.minutes(1)

/** Messages that one statement removes. */
const maxRemoved = 1000

/** The kind of a message that is a request. The others are about one, and mean nothing when they are old. */
const request = 0

/** The lowest number that a message of this time can have. */
const firstAt = (timestamp: number) =>
  String(Snowflake.make({ timestamp, machineId: MachineId.make(0), sequence: 0 }))

/**
 * Removes what has been answered and is older than `keptFor`. Resolves with the number of messages.
 *
 * @param prefix of the tables of the cluster
 */
export const removeAnswered = Effect.fnUntraced(function* (
  prefix: string,
): Effect.fn.Return<number, SqlError, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  const before = firstAt((yield* Clock.currentTimeMillis) - Duration.toMillis(keptFor))
  const messages = sql(`${prefix}_messages`)
  const replies = sql(`${prefix}_replies`)
  let removed = 0
  for (;;) {
    // Other nodes remove as well: each takes rows that no other one has.
    const rows = yield* sql`WITH answered AS (
        SELECT id, request_id FROM ${messages} WHERE id < ${before} AND (processed OR kind <> ${request})
        ORDER BY id LIMIT ${maxRemoved} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM ${replies} WHERE request_id IN (SELECT request_id FROM answered)
      )
      DELETE FROM ${messages} WHERE id IN (SELECT id FROM answered) RETURNING id`
    removed += rows.length
    if (rows.length < maxRemoved) return removed
  }
})

/** Removes them again and again, for the first time after a minute. Never ends. */
export const removing = (prefix: string): Effect.Effect<never, never, SqlClient.SqlClient> =>
  Effect.sleep(interval).pipe(
    Effect.andThen(removeAnswered(prefix)),
    Effect.catch((error) =>
      Effect.logWarning("answered messages of the cluster were not removed", error),
    ),
    Effect.forever,
  )
