/** Tells the nodes on one PostgreSQL database that the list of conversations has changed, by its notifications. */
import type { Owner } from "@colloquy/core/ConversationStore"
import { PgClient } from "@effect/sql-pg/PgClient"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import { ListChanges } from "../ListChanges.ts"

const channel = "colloquy_list_changed"

/** A connection that is lost is made again after this time. */
const again = Duration.seconds(1)

/** What a notification says: which node has announced it, and whose list has changed. */
interface Notice {
  readonly node: string
  readonly owner: Owner
}

/** The name of the node, and behind an equals sign the owner; without the sign conversations without an owner. */
const encode = ({ node, owner }: Notice): string => (owner === null ? node : `${node}=${owner}`)

const decode = (payload: string): Notice => {
  const at = payload.indexOf("=")
  return at === -1
    ? { node: payload, owner: null }
    : { node: payload.slice(0, at), owner: payload.slice(at + 1) }
}

const part = Effect.map(Random.nextIntBetween(0, 2 ** 32, { halfOpen: true }), (word) =>
  word.toString(16).padStart(8, "0"),
)

/** A name that no other node has. */
const newName = Effect.map(Effect.all([part, part]), (parts) => parts.join(""))

/** Listens, and again after each failure. The first failure is a warning, and the others are what it said. */
const listen = (sql: PgClient, tell: (payload: string) => void): Effect.Effect<never> => {
  let isListening = true
  const failed = (cause: Cause.Cause<unknown>) => {
    const log = isListening ? Effect.logWarning : Effect.logDebug
    isListening = false
    return log("changes of the list on other nodes do not arrive", cause)
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

/** The changes of all nodes but this one, which are known here. */
export const layer: Layer.Layer<ListChanges, never, PgClient> = Layer.effect(
  ListChanges,
  Effect.gen(function* () {
    const sql = yield* PgClient
    const node = yield* newName
    const listeners = new Set<(owner: Owner) => void>()
    const tell = (payload: string) => {
      const notice = decode(payload)
      if (notice.node === node) return
      for (const listener of listeners) listener(notice.owner)
    }
    yield* Effect.forkScoped(listen(sql, tell))
    return {
      announce: (owner) =>
        sql
          .notify(channel, encode({ node, owner }))
          .pipe(
            Effect.catch((error) =>
              Effect.logWarning("a change of the list was not announced", error),
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
