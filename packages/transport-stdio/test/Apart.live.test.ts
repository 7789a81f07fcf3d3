import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { PassThrough, Writable } from "node:stream"
import * as StdioConnection from "../src/StdioConnection.ts"

/** An output whose writes complete when the test says so. */
const gate = () => {
  const writes: Array<string> = []
  const waiting: Array<() => void> = []
  const output = new Writable({
    write: (chunk: Buffer, _encoding, callback) => {
      writes.push(chunk.toString())
      waiting.push(callback)
    },
  })
  return { output, writes, settle: () => waiting.shift()?.() }
}

/** Lets streams, microtasks and fibers run until they have nothing left to do. */
const settled = Effect.promise(async () => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
})

const elapsedMs = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const startMs = performance.now()
    yield* effect
    return performance.now() - startMs
  })

describe("StdioConnection, texts sent apart", () => {
  it.live("are in a later write than texts sent before, which share one", () =>
    Effect.gen(function* () {
      const { output, settle, writes } = gate()
      const input = new PassThrough()
      const connection = yield* StdioConnection.make({ input, output, apartMs: 0 })
      const send = (text: string, before: Effect.Effect<void> = Effect.void) =>
        Effect.forkChild(Effect.andThen(before, connection.send([text])), {
          startImmediately: true,
        })
      const apart = connection.apart ?? Effect.die("this transport writes in batches")
      yield* send("progress 1")
      yield* send("response 1", apart)
      yield* send("progress 2")
      yield* send("response 2", apart)
      yield* send("response 3")
      yield* settled
      assert.deepStrictEqual(writes, ["progress 1\nprogress 2\nresponse 3\n"])
      settle()
      yield* settled
      assert.deepStrictEqual(writes.slice(1), ["response 1\nresponse 2\n"])
    }),
  )

  it.live("wait a fixed time after the last write, and not if that was long ago", () =>
    Effect.gen(function* () {
      const output = new PassThrough().resume()
      const input = new PassThrough()
      const connection = yield* StdioConnection.make({ input, output, apartMs: 60 })
      const apart = connection.apart ?? Effect.die("this transport writes in batches")
      const leastOfTenMs = Effect.map(Effect.replicateEffect(elapsedMs(apart), 10), (all) =>
        Math.min(...all),
      )
      assert.isBelow(yield* leastOfTenMs, 30)
      yield* connection.send(["a"])
      assert.isAtLeast(yield* elapsedMs(apart), 55)
      assert.isBelow(yield* leastOfTenMs, 30)
    }),
  )

  it.live("wait no longer when the output is gone", () =>
    Effect.gen(function* () {
      const { output } = gate()
      const input = new PassThrough()
      const connection = yield* StdioConnection.make({ input, output, apartMs: 3_600_000 })
      const apart = connection.apart ?? Effect.die("this transport writes in batches")
      yield* connection.send(["a"])
      const waiting = yield* Effect.forkChild(apart, { startImmediately: true })
      yield* settled
      assert.isUndefined(waiting.pollUnsafe())
      output.destroy()
      yield* Fiber.join(waiting)
    }),
  )
})
