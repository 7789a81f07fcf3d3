/** Sends notices to the nodes on one PostgreSQL database, by its notifications. */
import { PgClient } from "@effect/sql-pg/PgClient"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { Notice, Notices } from "../Notices.ts"

const channel = "colloquy_notices"

/** A connection that is lost is made again after this time. */
const again = Duration.seconds(1)

/** A notice with the name of the node that has sent it, as the text of a notification. */
const Payload = Schema.fromJsonString(
  Schema.toCodecJson(Schema.Struct({ node: Schema.String, notice: Notice })),
)
const encode = Schema.encodeSync(Payload)
const decode = Schema.decodeOption(Payload)

const part = Effect.map(Random.nextIntBetween(0, 2 ** 32, { halfOpen: true }), (word) =>
  word.toString(16).padStart(8, "0"),
)

/** A name that no other node has. */
const newName = Effect.map(Effect.all([part, part]), (parts) => parts.join(""))

/** Listens, and again after each failure. The first failure is a warning, and the others are what it said. */
const listen = (sql: PgClient, tell: (payload: string) => unknown): Effect.Effect<never> => {
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

/** The notices of all nodes but this one, which knows its own. */
export const layer: Layer.Layer<Notices, never, PgClient> = Layer.effect(
  Notices,
  Effect.gen(function* () {
    const sql = yield* PgClient
    const node = yield* newName
    const listeners = new Set<(notice: Notice) => void>()
    // What another version of this program sends may be unknown here.
    const tell = (payload: string) =>
      Option.map(decode(payload), ({ node: from, notice }) => {
        if (from !== node) for (const listener of listeners) listener(notice)
      })
    yield* Effect.forkScoped(listen(sql, tell))
    return {
      send: (notice) =>
        sql
          .notify(channel, encode({ node, notice }))
          .pipe(
            Effect.catch((error) =>
              Effect.logWarning(`the notice ${notice._tag} was not sent to the other nodes`, error),
            ),
          ),
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
