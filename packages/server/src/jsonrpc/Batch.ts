/**
 * The responses to one array of messages. They are sent as one array, in the order of the requests, when the last of them is
 * complete. A request without a response leaves no trace, and an empty array is not sent (JSON-RPC 2.0, section 6).
 */
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { Answers } from "./Answers.ts"

/** Room for the response to one request. The first call of either member completes it. */
export interface Slot {
  /** `after` runs when the array was accepted. */
  readonly put: (text: string, after?: Effect.Effect<void>) => Effect.Effect<void>
  /** There is no response. */
  readonly skip: Effect.Effect<void>
}

/** The responses to one batch. */
export interface Batch {
  /** Room for one response; `id` is that of the request, where it has one. */
  readonly slot: (id: RequestId | null) => Slot
  /** All messages of the batch were read: the responses are sent when the slots are complete. */
  readonly close: Effect.Effect<void>
}

/** @param answers sends the array of responses */
export const make = (answers: Answers): Batch => {
  /** Id of the first request, if any has one. */
  let first: RequestId | undefined
  const texts: Array<string | undefined> = []
  const afters: Array<Effect.Effect<void>> = []
  /** Incomplete slots, and one until `close`. */
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
