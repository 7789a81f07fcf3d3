import { assert, describe, it } from "@effect/vitest"
import type { Connection, Frame } from "@colloquy/protocol/Connection"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { PassThrough, Readable, Writable } from "node:stream"
import * as StdioConnection from "../src/StdioConnection.ts"

const text = (line: string): Frame => ({ _tag: "Text", text: line })

/** An output whose system calls the test completes by hand. */
const gate = () => {
  const writes: Array<string> = []
  const waiting: Array<(error?: Error) => void> = []
  const output = new Writable({
    write: (chunk: Buffer, _encoding, callback) => {
      writes.push(chunk.toString())
      waiting.push(callback)
    },
  })
  const settle = (error?: Error) => waiting.shift()?.(error)
  return { output, writes, settle, waiting }
}

/** Lets streams, microtasks and fibers run until they have nothing left to do. */
const settled = Effect.promise(async () => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
})

const receiveAll = (connection: Connection, into: Array<Frame> = []) =>
  connection.receive.pipe(
    Effect.map((frames) => {
      for (const frame of frames) into.push(frame)
    }),
    Effect.forever,
    Effect.orElseSucceed(() => into),
  )

const listeners = (stream: Readable | Writable) =>
  stream.eventNames().map((name) => [name, stream.listenerCount(name)])

describe("StdioConnection, reading", () => {
  it.live("returns the frames in order and then ends, at every further call", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const connection = yield* StdioConnection.make({ input, output: new PassThrough() })
      input.write("a\nb\n")
      input.end("c")
      assert.deepStrictEqual(yield* receiveAll(connection), [text("a"), text("b"), text("c")])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(connection.receive)))
    }),
  )

  it.live("wakes a waiting receiver, and loses nothing when one is interrupted", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const connection = yield* StdioConnection.make({ input, output: new PassThrough() })
      const gone = yield* Effect.forkChild(connection.receive, { startImmediately: true })
      yield* Fiber.interrupt(gone)
      const waiting = yield* Effect.forkChild(connection.receive, { startImmediately: true })
      input.write("a\n")
      assert.deepStrictEqual(yield* Fiber.join(waiting), [text("a")])
    }),
  )

  for (const [name, finish] of [
    ["end", (input: PassThrough) => input.end()],
    ["close", (input: PassThrough) => input.destroy()],
    ["error", (input: PassThrough) => input.destroy(new Error("EIO"))],
  ] as const) {
    it.live(
      `L9 ${name} of the input ends it after the frames already read, and responses can still be sent`,
      () =>
        Effect.gen(function* () {
          const input = new PassThrough()
          const output = new PassThrough()
          const connection = yield* StdioConnection.make({ input, output })
          input.write("a\n")
          yield* settled
          finish(input)
          assert.deepStrictEqual(yield* receiveAll(connection), [text("a")])
          yield* connection.send(["answer"])
          yield* connection.flush
          assert.strictEqual(String(output.read()), "answer\n")
        }),
    )

    it.live(`L9 ${name} of the input wakes a waiting receiver`, () =>
      Effect.gen(function* () {
        const input = new PassThrough()
        const connection = yield* StdioConnection.make({ input, output: new PassThrough() })
        const waiting = yield* Effect.forkChild(Effect.flip(connection.receive), {
          startImmediately: true,
        })
        finish(input)
        assert.strictEqual((yield* Fiber.join(waiting))._tag, "Done")
      }),
    )
  }

  it.live("ends immediately on an input that ended before", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      input.destroy()
      yield* settled
      const connection = yield* StdioConnection.make({ input, output: new PassThrough() })
      assert.deepStrictEqual(yield* receiveAll(connection), [])
    }),
  )

  it.live("L6 stops reading while frames are not received, and continues afterwards", () =>
    Effect.gen(function* () {
      const line = `${"x".repeat(1023)}\n`
      const total = 4096
      let given = 0
      const input = new Readable({
        read() {
          this.push(given++ < total ? Buffer.from(line) : null)
        },
      })
      const maxUnreadBytes = 64 * 1024
      const connection = yield* StdioConnection.make({
        input,
        output: new PassThrough(),
        maxUnreadBytes,
      })
      yield* settled
      assert.isAtMost(given * line.length, 4 * maxUnreadBytes)
      assert.strictEqual((yield* receiveAll(connection)).length, total)
    }),
  )

  it.live("L13 continues after an over-long line and after bytes that are not UTF-8", () =>
    Effect.gen(function* () {
      const input = new PassThrough()
      const connection = yield* StdioConnection.make({
        input,
        output: new PassThrough(),
        maxLineBytes: 4,
      })
      input.write("12345\n")
      input.write(Buffer.from([0xff, 0x0a]))
      input.end("1234\n")
      assert.deepStrictEqual(yield* receiveAll(connection), [
        { _tag: "TooLong", bytes: 5, maxBytes: 4 },
        { _tag: "NotUtf8", bytes: 1 },
        text("1234"),
      ])
    }),
  )
})

describe("StdioConnection, writing", () => {
  it.live("L9 writes one line per text and batches texts that were sent together", () =>
    Effect.gen(function* () {
      const { output, writes, settle } = gate()
      const connection = yield* StdioConnection.make({ input: new PassThrough(), output })
      yield* connection.send(["a", "b"])
      yield* connection.send(["c"])
      yield* settled
      yield* connection.send(["d"])
      yield* connection.send([])
      yield* connection.send(["é"])
      yield* settled
      assert.deepStrictEqual(writes, ["a\nb\nc\n"])
      // The rest waits in the outbox, where it is counted, and not in the stream.
      assert.strictEqual(output.writableLength, "a\nb\nc\n".length)
      settle()
      yield* settled
      assert.deepStrictEqual(writes, ["a\nb\nc\n", "d\né\n"])
    }),
  )

  it.live("L6 sends at once only what fits and has no sender before it", () =>
    Effect.gen(function* () {
      const { output, writes, settle } = gate()
      const connection = yield* StdioConnection.make({
        input: new PassThrough(),
        output,
        maxOutboxBytes: 8,
      })
      const { sendNow } = connection
      assert.deepStrictEqual(
        [["aaa"], [], ["bbbb"], ["bbb"]].map((texts) => sendNow?.(texts)),
        [true, true, false, true],
      )
      const waiting = yield* Effect.forkChild(connection.send(["c"]), { startImmediately: true })
      assert.isFalse(sendNow?.([""]))
      yield* settled
      settle()
      yield* Fiber.join(waiting)
      yield* settled
      assert.deepStrictEqual(writes, ["aaa\nbbb\n", "c\n"])
      output.destroy()
      yield* settled
      assert.isFalse(sendNow?.(["d"]))
    }),
  )

  it.live("L6 senders wait while the reader does not read, and continue in order", () =>
    Effect.gen(function* () {
      const { output, writes, settle } = gate()
      const connection = yield* StdioConnection.make({
        input: new PassThrough(),
        output,
        maxOutboxBytes: 8,
      })
      yield* connection.send(["aaa"])
      yield* settled
      const accepted: Array<string> = []
      for (const name of ["bb", "ccccccc", "d", "e"]) {
        yield* Effect.forkChild(
          Effect.andThen(
            connection.send([name]),
            Effect.sync(() => accepted.push(name)),
          ),
          { startImmediately: true },
        )
      }
      yield* settled
      assert.deepStrictEqual(accepted, ["bb"])
      settle()
      yield* settled
      // `d` would fit beside `bb`, but not before the senders that came first.
      assert.deepStrictEqual(accepted, ["bb"])
      settle()
      yield* settled
      assert.deepStrictEqual(accepted, ["bb", "ccccccc"])
      settle()
      yield* settled
      settle()
      yield* settled
      assert.deepStrictEqual(accepted, ["bb", "ccccccc", "d", "e"])
      assert.deepStrictEqual(writes, ["aaa\n", "bb\n", "ccccccc\n", "d\ne\n"])
    }),
  )

  it.live("L6 a text larger than the outbox is sent alone", () =>
    Effect.gen(function* () {
      const { output, writes, settle } = gate()
      const connection = yield* StdioConnection.make({
        input: new PassThrough(),
        output,
        maxOutboxBytes: 4,
      })
      yield* connection.send(["much too large"])
      const second = yield* Effect.forkChild(connection.send(["also too large"]), {
        startImmediately: true,
      })
      yield* settled
      assert.deepStrictEqual(writes, ["much too large\n"])
      settle()
      yield* Fiber.join(second)
      yield* settled
      assert.deepStrictEqual(writes, ["much too large\n", "also too large\n"])
    }),
  )

  it.live("a sender that is interrupted while it waits writes nothing and delays no other", () =>
    Effect.gen(function* () {
      const { output, writes, settle } = gate()
      const connection = yield* StdioConnection.make({
        input: new PassThrough(),
        output,
        maxOutboxBytes: 8,
      })
      yield* connection.send(["aaa"])
      const big = yield* Effect.forkChild(connection.send(["bbbbbbb", "BBBBBBB"]), {
        startImmediately: true,
      })
      const small = yield* Effect.forkChild(connection.send(["c"]), { startImmediately: true })
      yield* settled
      yield* Fiber.interrupt(big)
      yield* Fiber.join(small)
      settle()
      yield* settled
      settle()
      yield* connection.flush
      assert.deepStrictEqual(writes, ["aaa\n", "c\n"])
    }),
  )

  it.live(
    "L6 a reader that stops costs bounded memory, and gets everything when it reads again",
    () =>
      Effect.gen(function* () {
        const output = new PassThrough()
        const maxOutboxBytes = 64 * 1024
        const connection = yield* StdioConnection.make({
          input: new PassThrough(),
          output,
          maxOutboxBytes,
        })
        const line = "x".repeat(1000)
        const total = 5000
        let accepted = 0
        const sender = yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: total }, (_, i) => `${i} ${line}`),
            (message) =>
              Effect.andThen(
                connection.send([message]),
                Effect.sync(() => accepted++),
              ),
            { discard: true },
          ),
        )
        yield* settled
        assert.isAtMost(accepted * line.length, 4 * maxOutboxBytes)
        let received = ""
        output.on("data", (chunk: Buffer) => (received += chunk.toString()))
        yield* Fiber.join(sender)
        yield* connection.flush
        yield* settled
        assert.deepStrictEqual(
          received.split("\n").map((message) => message.split(" ")[0]),
          [...Array.from({ length: total }, (_, i) => String(i)), ""],
        )
      }),
  )

  it.live("flush waits for the texts accepted before it, and for no others", () =>
    Effect.gen(function* () {
      const { output, settle } = gate()
      const connection = yield* StdioConnection.make({ input: new PassThrough(), output })
      yield* connection.flush
      yield* connection.send(["a"])
      const flushed = yield* Effect.forkChild(connection.flush, { startImmediately: true })
      yield* settled
      yield* connection.send(["b"])
      const both = yield* Effect.forkChild(connection.flush, { startImmediately: true })
      yield* connection.send(["c"])
      assert.isUndefined(flushed.pollUnsafe())
      settle()
      yield* Fiber.join(flushed)
      yield* settled
      assert.isUndefined(both.pollUnsafe())
      settle()
      yield* Fiber.join(both)
    }),
  )
})

describe("StdioConnection, a stream that is gone", () => {
  const epipe = Object.assign(new Error("write EPIPE"), { code: "EPIPE" })

  it.live(
    "L9 EPIPE fails present and future senders, ends input and flush, and crashes nothing",
    () =>
      Effect.gen(function* () {
        const { output, settle, writes } = gate()
        const input = new PassThrough()
        const connection = yield* StdioConnection.make({ input, output, maxOutboxBytes: 4 })
        input.write("a\n")
        yield* connection.send(["first"])
        const waiting = yield* Effect.forkChild(Effect.flip(connection.send(["second"])), {
          startImmediately: true,
        })
        const flushed = yield* Effect.forkChild(connection.flush, { startImmediately: true })
        yield* settled
        settle(epipe)
        assert.deepStrictEqual((yield* Fiber.join(waiting)).reason, "write EPIPE")
        yield* Fiber.join(flushed)
        assert.deepStrictEqual(
          (yield* Effect.flip(connection.send(["third"]))).reason,
          "write EPIPE",
        )
        assert.deepStrictEqual(yield* receiveAll(connection), [text("a")])
        yield* settled
        assert.deepStrictEqual(writes, ["first\n"])
      }),
  )

  it.live("L9 a real pipe whose reader has exited fails the senders", () =>
    Effect.gen(function* () {
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn("sh", ["-c", "exec 0<&-; echo ready; read x <&1"], {
            stdio: ["pipe", "pipe", "ignore"],
          }),
        ),
        (process) => Effect.sync(() => process.kill("SIGKILL")),
      )
      yield* Effect.callback<void>((resume) => {
        child.stdout.once("data", () => resume(Effect.void))
      })
      const connection = yield* StdioConnection.make({ input: child.stdout, output: child.stdin })
      const closed = yield* Effect.flip(
        Effect.forever(Effect.andThen(connection.send(["x"]), connection.flush)),
      )
      assert.include(closed.reason, "EPIPE")
    }),
  )

  it.live(
    "L9 after the end of input a reader that takes nothing counts as gone after a fixed time",
    () =>
      Effect.gen(function* () {
        const { output } = gate()
        const input = new PassThrough()
        const connection = yield* StdioConnection.make({
          input,
          output,
          maxOutboxBytes: 8,
          maxStallMs: 50,
        })
        yield* connection.send(["12345678"])
        const waiting = yield* Effect.forkChild(Effect.flip(connection.send(["more"])), {
          startImmediately: true,
        })
        // While the input is open there is no time limit for the reader.
        yield* Effect.sleep("150 millis")
        assert.isUndefined(waiting.pollUnsafe())
        input.end()
        assert.strictEqual((yield* Fiber.join(waiting)).reason, "the other side stopped reading")
        yield* connection.flush
      }),
  )

  it.live(
    "L9 after the end of input a reader that takes a little now and then gets everything",
    () =>
      Effect.gen(function* () {
        const { output, settle, waiting, writes } = gate()
        const input = new PassThrough()
        const connection = yield* StdioConnection.make({ input, output, maxStallMs: 100 })
        // Each is a separate write.
        const texts = Array.from({ length: 6 }, (_, n) => String(n).repeat(300_000))
        yield* connection.send(texts)
        input.end()
        const flushed = yield* Effect.forkChild(connection.flush, { startImmediately: true })
        while (writes.length < texts.length || waiting.length > 0) {
          yield* Effect.sleep("50 millis")
          settle()
          yield* settled
        }
        yield* Fiber.join(flushed)
        assert.strictEqual(writes.join(""), `${texts.join("\n")}\n`)
        // Nothing is left to write, so no reader is waited for.
        yield* Effect.sleep("250 millis")
        yield* connection.send(["still open"])
      }),
  )

  it.live("the close of the output ends both directions", () =>
    Effect.gen(function* () {
      const output = new PassThrough()
      const connection = yield* StdioConnection.make({ input: new PassThrough(), output })
      const ended = yield* Effect.forkChild(receiveAll(connection), { startImmediately: true })
      output.destroy()
      assert.deepStrictEqual(yield* Fiber.join(ended), [])
      assert.strictEqual((yield* Effect.flip(connection.send(["x"])))._tag, "ConnectionClosed")
    }),
  )

  it.live("an output that was closed before is closed from the start", () =>
    Effect.gen(function* () {
      const output = new PassThrough()
      output.end()
      yield* settled
      const connection = yield* StdioConnection.make({ input: new PassThrough(), output })
      assert.strictEqual((yield* Effect.flip(connection.send(["x"])))._tag, "ConnectionClosed")
      assert.deepStrictEqual(yield* receiveAll(connection), [])
    }),
  )

  it.live.each([
    ["the end of the input", (input: PassThrough) => input.end(), false],
    ["the close of the input before its end", (input: PassThrough) => input.destroy(), true],
    ["the close of the output", (_: PassThrough, output: PassThrough) => output.destroy(), true],
    [
      "the close of the output after the end of the input",
      (input: PassThrough, output: PassThrough) => {
        input.end()
        input.once("end", () => output.destroy())
      },
      true,
    ],
  ] as const)("L9 reports whether the connection broke off after %s", ([, happen, breaks]) =>
    Effect.gen(function* () {
      const [input, output] = [new PassThrough(), new PassThrough()]
      const connection = yield* StdioConnection.make({ input, output })
      const broken = yield* Effect.forkChild(connection.broken ?? Effect.never, {
        startImmediately: true,
      })
      happen(input, output)
      yield* settled
      assert.strictEqual(broken.pollUnsafe() !== undefined, breaks)
    }),
  )

  it.live("closing the scope releases both streams and ends waiting senders and receivers", () =>
    Effect.gen(function* () {
      const { output, settle } = gate()
      const input = new PassThrough()
      const before = [listeners(input), listeners(output)]
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(
        StdioConnection.make({ input, output, maxOutboxBytes: 1 }),
        scope,
      )
      yield* connection.send(["under way"])
      const sender = yield* Effect.forkChild(Effect.flip(connection.send(["waiting"])), {
        startImmediately: true,
      })
      const receiver = yield* Effect.forkChild(receiveAll(connection), { startImmediately: true })
      yield* settled
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Fiber.join(sender))._tag, "ConnectionClosed")
      assert.deepStrictEqual(yield* Fiber.join(receiver), [])
      settle()
      yield* settled
      assert.deepStrictEqual([listeners(input), listeners(output)], before)
      assert.isTrue(input.isPaused())
    }),
  )

  it.live("a write that fails after the scope closed crashes nothing", () =>
    Effect.gen(function* () {
      const { output, settle } = gate()
      const before = listeners(output)
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(
        StdioConnection.make({ input: new PassThrough(), output }),
        scope,
      )
      yield* connection.send(["under way"])
      yield* settled
      yield* Scope.close(scope, Exit.void)
      settle(epipe)
      yield* settled
      assert.deepStrictEqual(listeners(output), before)
    }),
  )
})

describe("StdioConnection, in bulk", () => {
  it.live("transfers a line of 8 MB in both directions", () =>
    Effect.gen(function* () {
      const pipe = new PassThrough()
      const connection = yield* StdioConnection.make({ input: pipe, output: pipe })
      const line = "é".repeat(4 * 1024 * 1024)
      yield* Effect.forkChild(connection.send([line, "after"]))
      const frames: Array<Frame> = []
      while (frames.length < 2) frames.push(...(yield* connection.receive))
      assert.isTrue(frames[0]?._tag === "Text" && frames[0].text === line)
      assert.deepStrictEqual(frames[1], text("after"))
    }),
  )

  it.live("transfers 100,000 messages in order, sent by many fibers", () =>
    Effect.gen(function* () {
      const pipe = new PassThrough()
      const connection = yield* StdioConnection.make({ input: pipe, output: pipe })
      const fibers = 10
      const each = 10_000
      const done = yield* Deferred.make<void>()
      const seen = Array.from({ length: fibers }, () => 0)
      let total = 0
      const reader = connection.receive.pipe(
        Effect.flatMap((frames) => {
          for (const frame of frames) {
            if (frame._tag !== "Text") return Effect.die(frame)
            const message: { readonly fiber: number; readonly n: number } = JSON.parse(frame.text)
            if (seen[message.fiber] !== message.n) return Effect.die(`out of order: ${frame.text}`)
            seen[message.fiber] = message.n + 1
            total++
          }
          return total === fibers * each ? Deferred.succeed(done, undefined) : Effect.void
        }),
        Effect.forever,
      )
      yield* Effect.forkChild(reader)
      for (let fiber = 0; fiber < fibers; fiber++) {
        yield* Effect.forkChild(
          Effect.forEach(
            Array.from({ length: each }, (_, n) => JSON.stringify({ fiber, n, pad: "0123456789" })),
            (message) => connection.send([message]),
            { discard: true },
          ),
        )
      }
      yield* Deferred.await(done)
      assert.deepStrictEqual(
        seen,
        Array.from({ length: fibers }, () => each),
      )
    }),
  )
})
