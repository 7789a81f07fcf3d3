/** Tells the nodes on one PostgreSQL database that the list of conversations has changed, by its notifications. */
import type { Owner } from "@colloquy/core/ConversationStore"
import { PgClient } from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { ListChanges } from "../ListChanges.ts"

const channel = "colloquy_list_changed"

/** A connection that is lost is made again after this time. */
const again = Schedule.spaced("1 second")

/** A payload is an owner behind an equals sign, or empty for conversations without an owner. */
const ownerOf = (payload: string): Owner => (payload.startsWith("=") ? payload.slice(1) : null)

/** The changes of all nodes, this one included. */
export const layer: Layer.Layer<ListChanges, never, PgClient> = Layer.effect(
  ListChanges,
  Effect.gen(function* () {
    const sql = yield* PgClient
    const listeners = new Set<(owner: Owner) => void>()
    const tell = (payload: string) => {
      for (const listener of listeners) listener(ownerOf(payload))
    }
    const listening = Effect.flatMap(sql.listen(channel), (notifications) =>
      Effect.forever(Effect.map(Queue.take(notifications), ({ payload }) => tell(payload))),
    )
    yield* Effect.scoped(listening).pipe(
      Effect.ignoreCause,
      Effect.repeat(again),
      Effect.forkScoped,
    )
    return {
      announce: (owner) =>
        sql
          .notify(channel, owner === null ? "" : `=${owner}`)
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
