import type { ProgressToken } from "@colloquy/protocol/mcp/CodexMcp"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as TestClock from "effect/testing/TestClock"
import { type CallProgress, make } from "../../../src/mcp/codex/CallProgress.ts"
import type { PeerControl } from "../../../src/jsonrpc/Caller.ts"
import { callContext } from "../../support/CallContext.ts"

const settled = Effect.forEach(Array.from({ length: 100 }), () => Effect.yieldNow, {
  discard: true,
})

interface SentProgress {
  readonly progressToken: ProgressToken
  readonly progress: number
  readonly message: string
}

/** A client that reads while the latch is open. */
const client = (reading: Latch.Latch) => {
  const sent: Array<SentProgress> = []
  let waiting = 0
  let mostWaiting = 0
  const peer: PeerControl = {
    notify: (_, params) =>
      Effect.suspend(() => {
        mostWaiting = Math.max(mostWaiting, ++waiting)
        return Effect.ensuring(
          Effect.andThen(reading.await, () => {
            sent.push(...(params as ReadonlyArray<unknown> as ReadonlyArray<SentProgress>))
            return Effect.void
          }),
          Effect.sync(() => waiting--),
        )
      }),
    request: () => Effect.die("not asked here"),
    cancel: () => Effect.void,
    passed: () => Effect.void,
  }
  return { sent, peer, mostWaiting: () => mostWaiting }
}

/** Runs a call that reports items until `body` ends. */
const during = <A>(
  peer: PeerControl,
  body: (progress: CallProgress) => Effect.Effect<A>,
): Effect.Effect<A> =>
  Effect.scoped(
    Effect.gen(function* () {
      const connection = yield* make
      const opened = connection.open(callContext(peer, { progressToken: "t" }))
      return yield* body(yield* opened ?? assert.fail("the call named a token"))
    }),
  )

describe("CallProgress: a client that does not read", () => {
  it.effect("L6 gets one batch, however long it waits, and the numbers rise when it reads", () =>
    Effect.gen(function* () {
      const reading = yield* Latch.make(false)
      const { sent, peer, mostWaiting } = client(reading)
      yield* during(peer, (progress) =>
        Effect.gen(function* () {
          const notifying = yield* Effect.forkChild(Effect.orDie(progress.notify(["a"])), {
            startImmediately: true,
          })
          yield* settled
          yield* TestClock.adjust("10 minutes")
          yield* settled
          assert.deepStrictEqual([sent, mostWaiting()], [[], 1])
          yield* reading.open
          yield* Fiber.join(notifying)
          yield* Effect.orDie(progress.notify(["b", "c"]))
          assert.deepStrictEqual(
            sent.map(({ progress: n, message }) => [n, message]),
            [
              [1, "a"],
              [2, "b"],
              [3, "c"],
            ],
          )
        }),
      )
    }),
  )

  it.effect("L6 sends only the last of more items at once than could be read", () =>
    Effect.gen(function* () {
      const { sent, peer } = client(yield* Latch.make(true))
      yield* during(peer, (progress) =>
        Effect.orDie(progress.notify(Array.from({ length: 1000 }, (_, i) => `item ${i}`))),
      )
      assert.deepStrictEqual(
        sent.map(({ message }) => message),
        ["item 999"],
      )
    }),
  )

  it.effect("L2 sends nothing once the call has returned, not even a pending reminder", () =>
    Effect.gen(function* () {
      const reading = yield* Latch.make(false)
      const { sent, peer } = client(reading)
      yield* during(peer, () => TestClock.adjust("10 seconds"))
      yield* settled
      yield* reading.open
      yield* TestClock.adjust("1 minute")
      yield* settled
      assert.deepStrictEqual(sent, [])
    }),
  )

  it.effect("sends nothing after its end", () =>
    Effect.gen(function* () {
      const { sent, peer } = client(yield* Latch.make(true))
      yield* during(peer, (progress) =>
        Effect.gen(function* () {
          progress.end()
          yield* Effect.orDie(progress.notify(["late"]))
          yield* TestClock.adjust("1 minute")
          yield* settled
        }),
      )
      assert.deepStrictEqual(sent, [])
    }),
  )
})
