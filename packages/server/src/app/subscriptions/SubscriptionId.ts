/** The ids of subscriptions: UUIDs of version 4, from the random numbers of the runtime. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const word = Random.nextIntBetween(0, 2 ** 32, { halfOpen: true })
const hex = (n: number) => n.toString(16).padStart(8, "0")

/** A new id. */
export const subscriptionId: Effect.Effect<string> = Effect.gen(function* () {
  const digits = [yield* word, yield* word, yield* word, yield* word].map(hex).join("")
  const variant = ((Number.parseInt(digits[16] ?? "0", 16) & 3) | 8).toString(16)
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20),
  ].join("-")
})
