/** The stream of a listener between two nodes. */
import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { StreamItem } from "../src/ConversationOperations.ts"
import { sourceThere } from "../src/internal/Sources.ts"
import { Elsewhere } from "../src/NodeErrors.ts"

const id = ConversationId.make("00000000-0000-7000-8000-000000000001")

const attached = {
  _tag: "Attached",
  from: 3,
  deliveries: [{ _tag: "Synced", seq: 3 }],
} as const

const synced = (seq: number) =>
  ({ _tag: "Deliveries", deliveries: [{ _tag: "Synced", seq }] }) as const

describe("a stream of another node", () => {
  it.effect("L4 ends as that of a conversation that moves, where it is cut", () =>
    Effect.gen(function* () {
      const source = yield* sourceThere(id, Stream.fromIterable([attached, synced(4)]))
      assert.deepStrictEqual(yield* source.take, [
        { _tag: "Synced", seq: 3 },
        { _tag: "Synced", seq: 4 },
      ])
      assert.instanceOf(yield* Effect.flip(source.take), Elsewhere)
    }).pipe(Effect.scoped),
  )

  it.effect("L4 is not attached to where it is cut at once", () =>
    Effect.gen(function* () {
      assert.instanceOf(yield* Effect.flip(sourceThere(id, Stream.empty)), Elsewhere)
    }).pipe(Effect.scoped),
  )

  it.effect("L4 loses nothing where its reader gives up while it waits", () =>
    Effect.gen(function* () {
      const items = yield* Queue.bounded<StreamItem>(4)
      yield* Queue.offer(items, attached)
      const source = yield* sourceThere(id, Stream.fromQueue(items))
      yield* source.take
      const taking = yield* Effect.forkChild(source.take, { startImmediately: true })
      yield* Fiber.interrupt(taking)
      yield* Queue.offer(items, synced(4))
      assert.deepStrictEqual(yield* source.take, [{ _tag: "Synced", seq: 4 }])
    }).pipe(Effect.scoped),
  )
})
