/**
 * The responses to one array of messages. They are sent as one array, in the order of the requests, when the last of
 * them is complete. A request without a response is left out, and an empty array is not sent (JSON-RPC 2.0, section 6).
 */
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { Answers } from "./Answers.ts"

/** The place of the response to one request. The first call of either member completes it; later calls do nothing. */
export interface Slot {
  /** Sets the response. `after` runs once the array was accepted. */
  readonly put: (text: string, after?: Effect.Effect<void>) => Effect.Effect<void>
  /** Completes the slot without a response. */
  readonly skip: Effect.Effect<void>
}

/** The responses to one batch. */
export interface Batch {
  /** Adds a slot for one response. `id` is the id of the request; null if it has none. */
  readonly slot: (id: RequestId | null) => Slot
  /** Called when all messages of the batch were read. The responses are sent once all slots are complete. */
  readonly close: Effect.Effect<void>
}

/** Makes a function whose effects run nothing but the first of them that is run. */
const onlyFirst = () => {
  let done = false
  return (effect: Effect.Effect<void>): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (done) return Effect.void
      done = true
      return effect
    })
}

/**
 * Creates the responses to one batch.
 *
 * @param answers sends the array of responses
 */
export const make = (answers: Answers): Batch => {
  /** Id of the first request, if any has one. */
  let first: RequestId | undefined
  const texts: Array<string | undefined> = []
  const afters: Array<Effect.Effect<void>> = []
  /** Number of incomplete slots, plus one until `close`. */
  let open = 1

  const settle = Effect.suspend(() => {
    open--
    const given = texts.filter((text) => text !== undefined)
    if (open > 0 || given.length === 0) return Effect.void
    return answers.send(`[${given.join(",")}]`, {
      after: Effect.all(afters, { discard: true }),
      ...(first === undefined ? {} : { relatedTo: first }),
    })
  })

  const slot = (id: RequestId | null): Slot => {
    first ??= id ?? undefined
    const index = texts.push(undefined) - 1
    open++
    const once = onlyFirst()
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
