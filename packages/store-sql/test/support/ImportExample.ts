import { ConversationStore } from "@colloquy/core/ConversationStore"
import * as NodeStore from "@colloquy/store/node/NodeStore"
import * as PostgresStore from "@colloquy/store-sql/node/PostgresStore"
import { copyAll } from "@colloquy/store-sql/Transfer"
import { Context, Effect, Layer, Redacted } from "effect"

/** Copies the conversations of a state directory to a database. */
export const importRollouts = (home: string, address: string) =>
  Effect.gen(function* () {
    const files = yield* Layer.build(NodeStore.layer({ home }))
    const layer = PostgresStore.layer({ database: Redacted.make(address) })
    const database = yield* Layer.build(layer)
    return yield* copyAll({
      from: Context.get(files, ConversationStore),
      to: Context.get(database, ConversationStore),
    })
  }).pipe(Effect.scoped)
