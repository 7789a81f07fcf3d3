/**
 * Port: new conversation ids. The default draws on `Clock` and `Random`, so a seeded test repeats them (L12), and grows with
 * each id, also within a millisecond and when the clock jumps back: the order of ids is that of creation.
 */
import { ConversationId, uuidV7 } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"

const word = Random.nextIntBetween(0, 2 ** 32, { halfOpen: true })

/** Values of the twelve bits behind the time, which count within a millisecond (RFC 9562 section 6.2, method 1). */
const counts = 0x1000

export class IdGenerator extends Context.Service<
  IdGenerator,
  { readonly conversationId: Effect.Effect<ConversationId> }
>()("@colloquy/core/IdGenerator") {
  static readonly layer = Layer.sync(this, () => {
    let lastMs = -1
    let count = 0
    return {
      conversationId: Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const first = yield* word
        const rest = [yield* word, yield* word, yield* word] as const
        if (now > lastMs) {
          lastMs = now
          // Half of them are left to count up.
          count = first % (counts / 2)
        } else if (++count === counts) {
          lastMs++
          count = 0
        }
        return ConversationId.make(uuidV7(lastMs, [count, ...rest]))
      }),
    }
  })
}
