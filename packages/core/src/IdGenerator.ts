/**
 * Port: ids of new conversations. The default implementation uses `Clock` and `Random`, so a seeded test repeats them
 * (L12). Its ids grow, also within a millisecond and when the clock jumps back: their order is that of creation.
 */
import { ConversationId, uuidV7 } from "@colloquy/protocol/Ids"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"

const word = Random.nextIntBetween(0, 2 ** 32, { halfOpen: true })

/** Values of the twelve bits after the time; they count within a millisecond (RFC 9562 section 6.2, method 1). */
const counts = 0x1000

/** Makes the ids of new conversations. */
export class IdGenerator extends Context.Service<
  IdGenerator,
  {
    /** A UUIDv7 that no earlier call returned. Never fails. */
    readonly conversationId: Effect.Effect<ConversationId>
  }
>()("@colloquy/core/IdGenerator") {
  /** Ids from the Clock and the Random service at hand. */
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
          // Starts in the lower half, so that there is room to count up.
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
