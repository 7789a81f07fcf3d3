/**
 * Sends notices to the nodes on one PostgreSQL database, by its notifications. Those that are added while others are being
 * sent are sent together, by one statement: it does not matter how many there are. The channel depends on the schema: those
 * of the whole database share their channels, and the clusters of two schemas have nothing to do with each other.
 */
import { PgClient } from "@effect/sql-pg/PgClient"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import type { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { boundedLayer } from "../BoundedEnd.ts"
import { ArrivingTexts, payloadsOf } from "../internal/NoticePayloads.ts"
import { Notice, Notices } from "../Notices.ts"
import { prefixOfSchema } from "./SchemaPrefix.ts"

/** A connection that is lost is made again after this time. */
const again = Duration.seconds(1)

/** Notices that wait to be sent. Beyond this number, as while the database does not respond, the oldest are dropped. */
const maxWaiting = 10_000

const NoticeText = Schema.fromJsonString(Schema.toCodecJson(Notice))
const encode = Schema.encodeSync(NoticeText)
const decode = Schema.decodeOption(NoticeText)

const part = Effect.map(Random.nextIntBetween(0, 2 ** 32, { halfOpen: true }), (word) =>
  word.toString(16).padStart(8, "0"),
)

/** A name that no other node has. */
const newName = Effect.map(Effect.all([part, part]), (parts) => parts.join(""))

/** Listens, and again after each failure. The first failure is a warning, and the others are what it said. */
const listen = (
  sql: PgClient,
  channel: string,
  tell: (payload: string) => unknown,
): Effect.Effect<never> => {
  let isListening = true
  const failed = (cause: Cause.Cause<unknown>) => {
    const log = isListening ? Effect.logWarning : Effect.logDebug
    isListening = false
    return log("notices of other nodes do not arrive", cause)
  }
  const listening = Effect.flatMap(sql.listen(channel), (notifications) => {
    isListening = true
    return Effect.forever(Effect.map(Queue.take(notifications), ({ payload }) => tell(payload)))
  })
  return Effect.scoped(listening).pipe(
    Effect.catchCause(failed),
    Effect.andThen(Effect.sleep(again)),
    Effect.forever,
  )
}

/** A statement that takes longer holds up no later notices. */
const sendTimeout = Duration.seconds(5)

/** Sends what waits, again and again. */
const sending = (
  sql: PgClient,
  channel: string,
  node: string,
  waiting: Queue.Dequeue<Notice>,
): Effect.Effect<never> => {
  let sent = 0
  return Queue.takeAll(waiting).pipe(
    Effect.flatMap((notices) => {
      const payloads = notices.flatMap((notice) => payloadsOf(node, sent++, encode(notice)))
      const statement = sql`SELECT pg_notify(${channel}, payload)
        FROM json_array_elements_text(${JSON.stringify(payloads)}::json) AS payload`
      return Effect.catch(Effect.timeout(statement, sendTimeout), (error) =>
        Effect.logWarning(`${notices.length} notices were not sent to the other nodes`, error),
      )
    }),
    Effect.forever,
  )
}

const notices = Layer.effect(
  Notices,
  Effect.gen(function* () {
    const sql = yield* PgClient
    const channel = `${yield* prefixOfSchema}_notices`
    const node = yield* newName
    const listeners = new Set<(notice: Notice) => void>()
    const arriving = new ArrivingTexts()
    const tell = (payload: string) => {
      const arrived = arriving.add(payload)
      if (arrived === undefined || arrived.node === node) return
      // What another version of this program sends may be unknown here.
      const notice = Option.getOrUndefined(decode(arrived.text))
      if (notice !== undefined) for (const listener of listeners) listener(notice)
    }
    const waiting = yield* Queue.sliding<Notice>(maxWaiting)
    yield* Effect.forkScoped(listen(sql, channel, tell))
    yield* Effect.forkScoped(sending(sql, channel, node, waiting))
    return {
      send: (notice) => Effect.asVoid(Queue.offer(waiting, notice)),
      watch: (listener) =>
        Effect.asVoid(
          Effect.acquireRelease(
            Effect.sync(() => listeners.add(listener)),
            () => Effect.sync(() => listeners.delete(listener)),
          ),
        ),
    }
  }),
)

/** The connection that listens says so in order before it is closed, which the database may not respond to. */
const ending = { name: "the notices of this node", within: "1 second" } as const

/** The notices of all nodes but this one, which knows its own. */
export const layer: Layer.Layer<Notices, SqlError, PgClient | SqlClient> = boundedLayer(
  notices,
  ending,
)
