import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { call, note, type PeerHarnessOptions, serve } from "../support/PeerHarness.ts"
import { read } from "../support/Wire.ts"

/** A connection that accepts texts at once while `open`, and notes them with the requests that they belong to. */
const accepting = () => {
  const sent: Array<{ readonly text: string; readonly relatedTo: unknown }> = []
  const state = { open: true }
  const sendNow: NonNullable<PeerHarnessOptions["sendNow"]> = (texts, options) => {
    if (!state.open) return false
    for (const text of texts) sent.push({ text, relatedTo: options?.relatedTo })
    return true
  }
  return { sent, state, sendNow }
}

const fibersOf = <A, E, R>(use: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const next = Effect.map(Effect.forkChild(Effect.void), (fiber) => fiber.id)
    const from = yield* next
    yield* use
    return (yield* next) - from - 1
  })

describe("the response of a handler that has ended at once", () => {
  it.effect("L1 is sent once, for its request, without a fiber", () =>
    Effect.gen(function* () {
      const { sendNow, sent } = accepting()
      const server = yield* serve({ sendNow })
      const calls = Array.from({ length: 50 }, (_, id) => call(id, "echo", { n: id }))
      const fibers = yield* fibersOf(Effect.andThen(server.send(...calls), server.quiet))
      assert.deepStrictEqual(
        sent.map(({ relatedTo, text }) => [relatedTo, read(text).id, read(text).result]),
        calls.map(({ id }) => [id, id, { n: id }]),
      )
      assert.strictEqual(fibers, 0)
      assert.deepStrictEqual(server.messages, [])
    }),
  )

  it.effect("L1 is sent in the usual way where the connection would have to wait", () =>
    Effect.gen(function* () {
      const { sendNow, sent, state } = accepting()
      const server = yield* serve({ sendNow })
      state.open = false
      yield* server.send(call(1, "echo", { n: 1 }), call(2, "fail"), call(3, "nothing"))
      yield* server.quiet
      assert.deepStrictEqual(sent, [])
      assert.deepStrictEqual(
        server.messages.map(({ error, id, result }) => [id, result, error?.code]),
        [
          [1, { n: 1 }, undefined],
          [2, undefined, 7],
          [3, undefined, -32601],
        ],
      )
    }),
  )

  it.effect("is its error where it failed, or where its method or params are unknown", () =>
    Effect.gen(function* () {
      const { sendNow, sent } = accepting()
      const server = yield* serve({ sendNow })
      yield* server.send(call(1, "fail"), call(2, "nothing"), call(3, "echo", { n: "x" }))
      yield* server.quiet
      assert.deepStrictEqual(
        sent.map(({ text }) => [read(text).id, read(text).error?.code]),
        [
          [1, 7],
          [2, -32601],
          [3, -32602],
        ],
      )
    }),
  )

  it.effect("L13 is an internal error after a defect, which is logged, and others are served", () =>
    Effect.gen(function* () {
      const { sendNow, sent } = accepting()
      const server = yield* serve({ sendNow })
      yield* server.send(
        call(1, "die"),
        call(2, "throw"),
        call(3, "lie"),
        note("note", { n: 4 }),
        call(5, "echo", { n: 5 }),
      )
      yield* server.quiet
      assert.deepStrictEqual(
        sent.map(({ text }) => [read(text).id, read(text).error?.message]),
        [
          [1, "Internal error"],
          [2, "Internal error"],
          [3, "Internal error"],
          [5, undefined],
        ],
      )
      assert.deepStrictEqual(server.notes, [4])
    }),
  )

  it.effect("L1 leaves the id free for the next request", () =>
    Effect.gen(function* () {
      const { sendNow, sent } = accepting()
      const server = yield* serve({ sendNow })
      yield* server.send(call(1, "echo", { n: 1 }), call(1, "echo", { n: 2 }), call(1, "hang"))
      yield* server.send(call(1, "echo", { n: 3 }))
      yield* server.quiet
      assert.deepStrictEqual(
        sent.map(({ text }) => [read(text).id, read(text).result ?? read(text).error?.code]),
        [
          [1, { n: 1 }],
          [1, { n: 2 }],
          [null, -32600],
        ],
      )
    }),
  )
})
