import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { FileFault } from "../src/Files.ts"
import { HistoryFile, MessageHistory } from "../src/MessageHistory.ts"

class Memory {
  text: string | undefined
  logId = 7
  /** Number of attempts during which another process holds the lock. */
  locked = 0
  attempts = 0
  code: string | undefined

  readonly layer = Layer.succeed(HistoryFile, {
    append: (bytes) =>
      Effect.suspend(() => {
        this.attempts++
        if (this.code !== undefined) {
          const fault = { operation: "append", path: "/h", code: this.code }
          return Effect.fail(new FileFault(fault))
        }
        if (this.locked-- > 0) return Effect.succeed(false)
        this.text = (this.text ?? "") + new TextDecoder().decode(bytes)
        return Effect.succeed(true)
      }),
    open: Effect.sync(() => {
      if (this.text === undefined) return undefined
      const bytes = new TextEncoder().encode(this.text)
      return {
        logId: this.logId,
        bytes: bytes.length,
        read: (offset: number, length: number) =>
          Effect.succeed(bytes.subarray(offset, offset + length)),
      }
    }),
  })
}

const use = <A, E>(
  memory: Memory,
  run: (history: MessageHistory["Service"]) => Effect.Effect<A, E>,
  persistence: "save-all" | "none" = "save-all",
) =>
  Effect.flatMap(MessageHistory, run).pipe(
    Effect.provide(Layer.provide(MessageHistory.layer({ persistence }), memory.layer)),
  )

describe("the message history", () => {
  it.effect("has one line per entry, in the documented shape, found by file and line number", () =>
    Effect.gen(function* () {
      const memory = new Memory()
      yield* TestClock.adjust("1700 seconds")
      yield* use(memory, (history) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* history.metadata, { logId: 0, entryCount: 0 })
          assert.isUndefined(yield* history.lookup(0, 0))
          yield* history.append("c1", "first\nwords")
          yield* history.append("c2", "second")
          assert.deepStrictEqual(yield* history.metadata, { logId: 7, entryCount: 2 })
          assert.deepStrictEqual(yield* history.lookup(7, 0), {
            conversationId: "c1",
            ts: 1700,
            text: "first\nwords",
          })
          assert.deepStrictEqual((yield* history.lookup(7, 1))?.text, "second")
          for (const [logId, offset] of [
            [7, 2],
            [7, -1],
            [8, 0],
          ] as const) {
            assert.isUndefined(yield* history.lookup(logId, offset))
          }
        }),
      )
      assert.strictEqual(
        memory.text,
        '{"session_id":"c1","ts":1700,"text":"first\\nwords"}\n{"session_id":"c2","ts":1700,"text":"second"}\n',
      )
    }),
  )

  it.effect("returns no entry for a line that is not one or is not complete yet", () =>
    Effect.gen(function* () {
      const memory = new Memory()
      memory.text = 'garbage\n{"session_id":"c","ts":1,"text":"t"}\n{"session_id"'
      yield* use(memory, (history) =>
        Effect.gen(function* () {
          assert.isUndefined(yield* history.lookup(7, 0))
          assert.strictEqual((yield* history.lookup(7, 1))?.text, "t")
          assert.isUndefined(yield* history.lookup(7, 2))
          assert.strictEqual((yield* history.metadata).entryCount, 2)
        }),
      )
    }),
  )

  it.effect("is not written when persistence is none", () =>
    Effect.gen(function* () {
      const memory = new Memory()
      yield* use(memory, (history) => history.append("c", "t"), "none")
      assert.strictEqual(memory.attempts, 0)
    }),
  )

  it.effect("is tried ten times, 100 ms apart, while another process holds the lock", () =>
    Effect.gen(function* () {
      for (const [locked, attempts, outcome] of [
        [9, 10, "Success"],
        [10, 10, "Failure"],
      ] as const) {
        const memory = new Memory()
        memory.locked = locked
        const fiber = yield* Effect.forkChild(
          Effect.result(use(memory, (history) => history.append("c", "t"))),
        )
        yield* TestClock.adjust("899 millis")
        assert.strictEqual(memory.attempts, 9)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* Fiber.join(fiber))._tag, outcome)
        assert.strictEqual(memory.attempts, attempts)
      }
    }),
  )

  it.effect("fails with the reason, and does not retry on a full disk", () =>
    Effect.gen(function* () {
      const memory = new Memory()
      memory.code = "ENOSPC"
      const error = yield* Effect.flip(use(memory, (history) => history.append("c", "t")))
      assert.include(error.message, "ENOSPC")
      assert.strictEqual(memory.attempts, 1)
    }),
  )
})
