import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
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
  return { modes, from: Object.assign(new EventEmitter(), { stdin, stdout: new PassThrough() }) }
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
      assert.deepStrictEqual(modes, [true, false])
      assert.strictEqual(from.listenerCount("SIGTERM"), 0)
    }),
  )
})
