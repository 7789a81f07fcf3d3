/**
 * The answers to one array of messages: sent as one array, in the order of the requests, when the last of them is
 * there. A request that gets none leaves no trace; an array of nothing is not sent (JSON-RPC 2.0 section 6).
 */
import * as Effect from "effect/Effect"
import type { Answers } from "./Answers.ts"

/** The place of one request. The first call closes it. */
export interface Slot {
  /** `after` runs when the array was accepted. */
  readonly put: (text: string, after?: Effect.Effect<void>) => Effect.Effect<void>
  /** No answer will come. */
  readonly skip: Effect.Effect<void>
}

export interface Batch {
  readonly slot: () => Slot
  /** No more slots will be made. */
  readonly close: Effect.Effect<void>
}

export const make = (answers: Answers): Batch => {
  const texts: Array<string | undefined> = []
  const afters: Array<Effect.Effect<void>> = []
  /** Slots, and who makes them. */
  let open = 1

  const settle = Effect.suspend(() => {
    open--
    const given = texts.filter((text) => text !== undefined)
    if (open > 0 || given.length === 0) return Effect.void
    return answers.say(`[${given.join(",")}]`, Effect.all(afters, { discard: true }))
  })

  const slot = (): Slot => {
    const index = texts.push(undefined) - 1
    open++
    let done = false
    const once = (effect: Effect.Effect<void>) =>
      Effect.suspend(() => {
        if (done) return Effect.void
        done = true
        return effect
      })
    return {
      put: (text, after) =>
        once(
          Effect.suspend(() => {
            texts[index] = text
            if (after !== undefined) afters.push(after)
            return settle
          }),
        ),
      skip: once(settle),
    }
  }

  return { slot, close: settle }
}
