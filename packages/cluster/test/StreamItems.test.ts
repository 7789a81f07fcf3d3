/** The items in which a listener's deliveries are sent to another node. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { itemsOf, itemStream, maxItemText } from "../src/internal/StreamItems.ts"

const id = ConversationId.make("00000000-0000-7000-8000-000000000001")

const deltaOf = (seq: number, delta: string): Delivery => ({
  _tag: "Event",
  event: { seq, id: "0", msg: { type: "agent_message_delta", delta } },
  atMs: 0,
})

/** A listener that gives these batches, and ends. */
const listenerOf = (batches: ReadonlyArray<ReadonlyArray<Delivery>>): Listener => {
  let next = 0
  return {
    take: Effect.suspend(() => {
      const batch = batches[next++]
      return batch === undefined ? Effect.fail(Cause.Done()) : Effect.succeed(batch)
    }),
  }
}

const collected = (batches: ReadonlyArray<ReadonlyArray<Delivery>>) =>
  Effect.map(Stream.runCollect(itemsOf(id, 7, listenerOf(batches))), (items) => [...items])

describe("the items of a listener's stream", () => {
  it.effect("L4 L6 have a bounded length, and all deliveries in their order", () =>
    Effect.gen(function* () {
      const batch = Array.from({ length: 500 }, (_, n) => deltaOf(n, "x".repeat(1000)))
      const items = yield* collected([batch, [deltaOf(500, "y")]])
      assert.deepStrictEqual(
        items.flatMap((item) => (item._tag === "Ended" ? [] : item.deliveries)),
        [...batch, deltaOf(500, "y")],
      )
      assert.isAtLeast(items.length, 9)
      for (const item of items) {
        if (item._tag !== "Ended") assert.isBelow(JSON.stringify(item).length, 2 * maxItemText)
      }
      assert.deepStrictEqual(
        items.map(({ _tag }) => _tag),
        ["Attached", ...items.slice(2).map(() => "Deliveries"), "Ended"],
      )
    }),
  )

  it.effect("L6 are sent one at a time, also those of a list that is there at once", () =>
    Effect.gen(function* () {
      const values = Array.from({ length: 20 }, () => "x".repeat(maxItemText))
      const sizes: Array<number> = []
      yield* Stream.runForEachArray(itemStream(values), (items) =>
        Effect.sync(() => void sizes.push(items.flat().join("").length)),
      )
      assert.deepStrictEqual(
        sizes,
        values.map(() => maxItemText),
      )
    }),
  )

  it.effect("are one where the deliveries are short", () =>
    Effect.gen(function* () {
      const batch = Array.from({ length: 100 }, (_, n) => deltaOf(n, "x"))
      assert.deepStrictEqual(yield* collected([batch]), [
        { _tag: "Attached", from: 7, deliveries: batch },
        { _tag: "Ended" },
      ])
    }),
  )

  it.effect("have an event that is longer than an item for itself", () =>
    Effect.gen(function* () {
      const long = deltaOf(1, "x".repeat(3 * maxItemText))
      const items = yield* collected([[deltaOf(0, "a"), long, deltaOf(2, "b")], []])
      assert.deepStrictEqual(
        items.map((item) => (item._tag === "Ended" ? [] : item.deliveries.length)),
        [2, 1, 0, []],
      )
    }),
  )
})
