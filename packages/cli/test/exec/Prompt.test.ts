import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import { promptOf } from "../../src/exec/Prompt.ts"
import type { InputKind } from "../../src/exec/StdinPrompt.ts"

/** An input that begins and ends when the test says so. */
const source = (kind: InputKind, argument?: string) => {
  const latch = Latch.makeUnsafe(false)
  const all = Deferred.makeUnsafe<Uint8Array>()
  const lines: Array<string> = []
  return {
    lines,
    begin: latch.open,
    end: (text: string) =>
      Effect.andThen(latch.open, Deferred.succeed(all, new TextEncoder().encode(text))),
    prompt: promptOf({
      argument,
      input: { kind, begun: latch.await, read: Deferred.await(all) },
      write: (line) => void lines.push(line),
    }),
  }
}

describe("the prompt of exec", () => {
  it.effect("is the argument where stdin is none", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* source("none", "hi").prompt, "hi")
      const error = yield* Effect.flip(source("none").prompt)
      assert.include(error.message, "No prompt provided")
    }),
  )

  it.effect.each(["", "  \n"])("is not empty: %j", (argument) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(source("none", argument).prompt)
      assert.strictEqual(message, "The prompt is empty.")
    }),
  )

  it.effect("goes on without a socket that a program has left open", () =>
    Effect.gen(function* () {
      const { lines, prompt } = source("socket", "hi")
      const fiber = yield* Effect.forkChild(prompt)
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "hi")
      assert.strictEqual(lines.at(-1), "Nothing has come from stdin: going on without it.")
    }),
  )

  it.effect("waits for a slow pipe, says so, and takes all of it once it has begun", () =>
    Effect.gen(function* () {
      const { begin, end, lines, prompt } = source("pipe", "sum up")
      const fiber = yield* Effect.forkChild(prompt)
      yield* TestClock.adjust("9 minutes")
      assert.include(lines.at(-1) ?? "", "Still waiting for stdin")
      yield* begin
      yield* TestClock.adjust("1 hour")
      yield* end("more")
      assert.strictEqual(yield* Fiber.join(fiber), "sum up\n\n<stdin>\nmore\n</stdin>")
    }),
  )

  it.effect("does not wait for ever for a pipe that nobody writes to", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(Effect.flip(source("pipe", "hi").prompt))
      yield* TestClock.adjust("11 minutes")
      assert.include((yield* Fiber.join(fiber)).message, "Nothing has come from stdin")
    }),
  )

  it.effect("waits without a limit where stdin is the prompt", () =>
    Effect.gen(function* () {
      for (const argument of ["-", undefined]) {
        const { end, prompt } = source("pipe", argument)
        const fiber = yield* Effect.forkChild(prompt)
        yield* TestClock.adjust("1 day")
        yield* end("piped")
        assert.strictEqual(yield* Fiber.join(fiber), "piped")
      }
    }),
  )
})
