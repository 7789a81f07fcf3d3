/** Port: new conversation ids. The default draws on `Clock` and `Random`, so a seeded test repeats them (L12). */
import { ConversationId, uuidV7 } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"

const word = Random.nextIntBetween(0, 2 ** 32, { halfOpen: true })

export class IdGenerator extends Context.Service<
  IdGenerator,
  { readonly conversationId: Effect.Effect<ConversationId> }
>()("@colloquy/core/IdGenerator") {
  static readonly layer = Layer.succeed(this, {
    conversationId: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      return ConversationId.make(uuidV7(now, [yield* word, yield* word, yield* word, yield* word]))
    }),
  })
}
