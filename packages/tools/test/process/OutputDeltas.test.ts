import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import * as OutputDeltas from "../../src/process/OutputDeltas.ts"

type Delta = Extract<EventMsg, { readonly type: "exec_command_output_delta" }>

const bytes = (text: string) => new TextEncoder().encode(text)

const collected = Effect.fnUntraced(function* (wait: Effect.Effect<void> = Effect.void) {
  const deltas: Array<Delta> = []
  const made = yield* OutputDeltas.make("c1", (msg) =>
    Effect.andThen(
      wait,
      Effect.sync(() => {
        if (msg.type === "exec_command_output_delta") deltas.push(msg)
      }),
    ),
  )
  return { ...made, deltas }
})

const shown = (deltas: ReadonlyArray<Delta>) =>
  deltas.map(({ chunk, stream }) => `${stream} ${atob(chunk)}`)

describe("OutputDeltas", () => {
  it.effect("joins the output of 50 ms into one delta", () =>
    Effect.gen(function* () {
      const { deltas, push } = yield* collected()
      yield* push({ stream: "stdout", bytes: bytes("a") })
      yield* TestClock.adjust(49)
      yield* push({ stream: "stdout", bytes: bytes("b") })
      assert.deepStrictEqual(deltas, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(deltas, [
        { type: "exec_command_output_delta", call_id: "c1", stream: "stdout", chunk: "YWI=" },
      ])
      yield* push({ stream: "stdout", bytes: bytes("c") })
      yield* TestClock.adjust(49)
      assert.strictEqual(deltas.length, 1)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(shown(deltas), ["stdout ab", "stdout c"])
    }),
  )

  it.effect("keeps the order of the two streams", () =>
    Effect.gen(function* () {
      const { deltas, flush, push } = yield* collected()
      yield* push({ stream: "stdout", bytes: bytes("out") })
      yield* push({ stream: "stderr", bytes: bytes("err") })
      yield* push({ stream: "stdout", bytes: bytes("more") })
      yield* flush
      yield* flush
      assert.deepStrictEqual(shown(deltas), ["stdout out", "stderr err", "stdout more"])
    }),
  )

  it.effect("sends pieces of 8 KiB at once and loses no byte where it cuts", () =>
    Effect.gen(function* () {
      const { deltas, flush, push } = yield* collected()
      const text = "0123456789".repeat(2_000)
      yield* push({ stream: "stdout", bytes: bytes(text) })
      assert.deepStrictEqual(
        deltas.map(({ chunk }) => atob(chunk).length),
        [8192, 8192],
      )
      yield* flush
      assert.strictEqual(deltas.map(({ chunk }) => atob(chunk)).join(""), text)
    }),
  )

  it.effect("sends at most 10,000 deltas of a call", () =>
    Effect.gen(function* () {
      const { deltas, flush, push } = yield* collected()
      for (let count = 0; count < 10_001; count++) {
        yield* push({ stream: count % 2 === 0 ? "stdout" : "stderr", bytes: bytes("x") })
      }
      yield* push({ stream: "stdout", bytes: new Uint8Array(100_000) })
      yield* flush
      yield* TestClock.adjust(1_000)
      assert.strictEqual(deltas.length, 10_000)
    }),
  )

  it.effect(
    "makes the caller of push wait for a slow listener, and buffers nothing meanwhile",
    () =>
      Effect.gen(function* () {
        const latch = yield* Latch.make()
        const { deltas, push } = yield* collected(latch.await)
        const pushing = yield* Effect.forkChild(
          push({ stream: "stdout", bytes: new Uint8Array(20_000) }),
          { startImmediately: true },
        )
        yield* TestClock.adjust("1 hour")
        assert.isUndefined(pushing.pollUnsafe())
        assert.deepStrictEqual(deltas, [])
        yield* latch.open
        yield* Fiber.join(pushing)
        assert.strictEqual(deltas.length, 2)
      }),
  )

  it.effect("sends nothing once its scope has closed", () =>
    Effect.gen(function* () {
      const { deltas } = yield* Effect.scoped(
        Effect.tap(collected(), ({ push }) => push({ stream: "stdout", bytes: bytes("a") })),
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(deltas, [])
    }),
  )
})
