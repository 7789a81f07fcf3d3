import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/testing/TestClock"
import { EventEmitter } from "node:events"
import { PassThrough } from "node:stream"
import * as ChatTerminal from "../../src/terminal/chat/ChatTerminal.ts"
import type { Input } from "../../src/terminal/chat/Input.ts"

/** A process whose terminal is in memory. */
const terminalProcess = () => {
  const modes: Array<boolean> = []
  const stdin = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  })
  const signals: Array<readonly [number, string]> = []
  const kill = (pid: number, signal: string) => void signals.push([pid, signal])
  const from = Object.assign(new EventEmitter(), { stdin, stdout: new PassThrough(), kill })
  return { modes, signals, from }
}

const keysOf = (inputs: ReadonlyArray<Input>): ReadonlyArray<string | undefined> =>
  inputs.flatMap((input) =>
    input._tag === "Keys" ? input.keys.map(({ sequence }) => sequence) : [],
  )

const tick: Input = { _tag: "Tick" }

describe("the terminal of a chat", () => {
  it.effect("L6 reads no further keys until the chat has handled those before", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<Input>(1)
      const { from } = terminalProcess()
      const terminal = yield* ChatTerminal.make(queue, from)
      yield* Queue.offer(queue, tick)
      from.stdin.write("ab")
      yield* Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
      from.stdin.write("cd")
      // What the program was sent meanwhile waits with them.
      from.emit("SIGINT")
      from.emit("SIGINT")
      assert.isTrue(from.stdin.isPaused())
      assert.deepStrictEqual(yield* Queue.takeAll(queue), [tick])
      assert.deepStrictEqual(keysOf(yield* Queue.takeAll(queue)), ["a", "b"])
      assert.deepStrictEqual(keysOf(yield* Queue.takeAll(queue)), ["\u0003", "\u0003"])
      assert.strictEqual(yield* Queue.size(queue), 0)
      terminal.resume()
      assert.deepStrictEqual(keysOf(yield* Queue.takeAll(queue)), ["c", "d"])
    }).pipe(Effect.scoped),
  )

  it.effect("L6 one change of the size and one end wait for room, however many come", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<Input>(1)
      const { from, modes } = terminalProcess()
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* ChatTerminal.make(queue, from)
          yield* Queue.offer(queue, tick)
          for (let n = 0; n < 100; n++) from.stdout.emit("resize")
          from.emit("SIGTERM")
          from.emit("SIGHUP")
          const inputs = [
            yield* Queue.take(queue),
            yield* Queue.take(queue),
            yield* Queue.take(queue),
          ]
          assert.deepStrictEqual(inputs, [tick, { _tag: "Resized" }, { _tag: "Stop", code: 143 }])
          assert.strictEqual(yield* Queue.size(queue), 0)
        }),
      )
      assert.deepStrictEqual(modes, [false, true, false])
      assert.strictEqual(from.listenerCount("SIGTERM"), 0)
    }),
  )

  it.effect("gives the terminal back while it is suspended, and takes it when it goes on", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<Input>(1)
      const { from, modes, signals } = terminalProcess()
      const { suspend } = yield* ChatTerminal.make(queue, from)
      modes.splice(0)
      const suspended = yield* Effect.forkChild(suspend, { startImmediately: true })
      assert.deepStrictEqual([modes, signals], [[false], [[0, "SIGTSTP"]]])
      yield* TestClock.adjust("100 millis")
      from.emit("SIGCONT")
      yield* Fiber.join(suspended)
      assert.deepStrictEqual(modes, [false, false, true])
      assert.strictEqual(yield* Queue.size(queue), 0)
      // Somebody else has stopped it.
      from.emit("SIGCONT")
      assert.deepStrictEqual(yield* Queue.take(queue), { _tag: "Continued" })
      assert.deepStrictEqual(modes.slice(3), [false, true])
    }).pipe(Effect.scoped),
  )

  it.effect("goes on by itself where nobody stops the process", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<Input>(1)
      const { from, modes } = terminalProcess()
      const { suspend } = yield* ChatTerminal.make(queue, from)
      modes.splice(0)
      const suspended = yield* Effect.forkChild(suspend, { startImmediately: true })
      yield* TestClock.adjust("200 millis")
      yield* Fiber.join(suspended)
      assert.deepStrictEqual(modes, [false, false, true])
    }).pipe(Effect.scoped),
  )
})
