import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { EventEmitter } from "node:events"
import { PassThrough } from "node:stream"
import type { PlainInput } from "../../src/terminal/chat/plain/PlainInput.ts"
import { LineSplitter } from "../../src/terminal/chat/plain/LineSplitter.ts"
import * as PlainLines from "../../src/terminal/chat/plain/PlainLines.ts"

const plainProcess = () => Object.assign(new EventEmitter(), { stdin: new PassThrough() })

const line = (text: string): PlainInput => ({ _tag: "Line", text })

const bytes = (text: string) => new TextEncoder().encode(text)

describe("the lines of a plain chat", () => {
  it.effect("L6 stdin waits while the queue is full, and while the chat wants no lines", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<PlainInput>(2)
      const from = plainProcess()
      const lines = yield* PlainLines.make(queue, from)
      from.stdin.write("1\n2\n3\n4\n")
      from.stdin.write("5\n")
      yield* Effect.yieldNow
      assert.strictEqual(from.stdin.readableLength, 10)
      lines.resume()
      assert.deepStrictEqual(yield* Queue.take(queue), line("1"))
      lines.pause()
      assert.isTrue(from.stdin.isPaused())
      const next = [yield* Queue.take(queue), yield* Queue.take(queue), yield* Queue.take(queue)]
      assert.deepStrictEqual(next, [line("2"), line("3"), line("4")])
      yield* Effect.yieldNow
      assert.strictEqual(from.stdin.readableLength, 2)
      lines.resume()
      assert.deepStrictEqual(yield* Queue.take(queue), line("5"))
    }).pipe(Effect.scoped),
  )

  it.effect("end with stdin, after its last line", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<PlainInput>(1)
      const from = plainProcess()
      const lines = yield* PlainLines.make(queue, from)
      lines.resume()
      from.stdin.end("1\nwithout an end")
      const all = [yield* Queue.take(queue), yield* Queue.take(queue), yield* Queue.take(queue)]
      assert.deepStrictEqual(all, [line("1"), line("without an end"), { _tag: "End" }])
    }).pipe(Effect.scoped),
  )

  it.effect("one interrupt waits for room, and one end", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<PlainInput>(1)
      const from = plainProcess()
      yield* PlainLines.make(queue, from)
      yield* Queue.offer(queue, line("first"))
      for (let n = 0; n < 100; n++) from.emit("SIGINT")
      from.emit("SIGTERM")
      yield* Queue.take(queue)
      const signals = [yield* Queue.take(queue), yield* Queue.take(queue)]
      assert.deepStrictEqual(signals, [{ _tag: "Interrupt" }, { _tag: "Stop", code: 143 }])
      assert.strictEqual(yield* Queue.size(queue), 0)
    }).pipe(Effect.scoped),
  )

  it.effect("L13 a line above the limit is reported once", () =>
    Effect.gen(function* () {
      const queue = yield* Queue.bounded<PlainInput>(4)
      const from = plainProcess()
      const lines = yield* PlainLines.make(queue, from, 5)
      lines.resume()
      from.stdin.write("12345\n123456\n")
      assert.deepStrictEqual(yield* Queue.take(queue), line("12345"))
      assert.deepStrictEqual(yield* Queue.take(queue), { _tag: "TooLong", maxLength: 5 })
    }).pipe(Effect.scoped),
  )

  it("are the same however the bytes are cut", () => {
    const text = "é\r\n\nlonger than ten\n日本 ok\nrest"
    const all = bytes(text)
    for (let size = 1; size <= all.length; size++) {
      const splitter = new LineSplitter(10)
      const lines: Array<string | undefined> = []
      for (let at = 0; at < all.length; at += size) {
        lines.push(...splitter.push(all.subarray(at, at + size)))
      }
      lines.push(...splitter.end())
      assert.deepStrictEqual(lines, ["é", "", undefined, "日本 ok", "rest"])
    }
    assert.deepStrictEqual(new LineSplitter(10).end(), [])
  })
})
