/** The stream of a listener between two nodes. */
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { StreamItem } from "../src/ConversationOperations.ts"
import { sourceThere } from "../src/internal/Sources.ts"
import { Elsewhere } from "../src/NodeErrors.ts"

const id = ConversationId.make("00000000-0000-7000-8000-000000000001")

const attached = { _tag: "Attached", from: 3 } as const

const synced = (seq: number) =>
  ({ _tag: "Deliveries", deliveries: [{ _tag: "Synced", seq }] }) as const

const stream = (...items: ReadonlyArray<StreamItem>): Stream.Stream<StreamItem> =>
  Stream.concat(Stream.fromIterable(items), Stream.never)

describe("a stream of another node", () => {
  it.effect("L4 ends as that of a conversation that moves, where the node is silent", () =>
    Effect.gen(function* () {
      const source = yield* sourceThere(id, stream(attached, synced(3)))
      assert.deepStrictEqual(yield* source.take, [{ _tag: "Synced", seq: 3 }])
      const taking = yield* Effect.forkChild(Effect.flip(source.take))
      yield* TestClock.adjust("5 seconds")
      assert.instanceOf(yield* Fiber.join(taking), Elsewhere)
    }).pipe(Effect.scoped),
  )

  it.effect("L6 lasts while the node says that it is there", () =>
    Effect.gen(function* () {
      const beats = Stream.fromEffectRepeat(
        Effect.delay(Effect.succeed({ _tag: "Alive" } as const), "2 seconds"),
      )
      const items = Stream.concat(
        Stream.fromIterable([attached]),
        Stream.concat(Stream.take(beats, 10), stream(synced(5))),
      )
      const source = yield* sourceThere(id, items)
      const taking = yield* Effect.forkChild(source.take)
      for (let second = 0; second < 22; second++) yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(taking), [{ _tag: "Synced", seq: 5 }])
    }).pipe(Effect.scoped),
  )

  it.effect("L4 ends where the next owner begins it again, without a repeat", () =>
    Effect.gen(function* () {
      const source = yield* sourceThere(id, stream(attached, synced(3), attached, synced(3)))
      assert.deepStrictEqual(yield* source.take, [{ _tag: "Synced", seq: 3 }])
      assert.instanceOf(yield* Effect.flip(source.take), Elsewhere)
    }).pipe(Effect.scoped),
  )
})
