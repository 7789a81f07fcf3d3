import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Server, type SharedState } from "../src/Server.ts"
import { withCore } from "./support/Harness.ts"

describe("Server", () => {
  it.effect(
    "creates a shared state once, also when the caller of the first use is interrupted",
    () =>
      withCore([], () =>
        Effect.gen(function* () {
          const server = yield* Server
          const creating = yield* Deferred.make<void>()
          const proceed = yield* Deferred.make<void>()
          let created = 0
          const state: SharedState<number> = {
            make: () =>
              Effect.gen(function* () {
                yield* Deferred.succeed(creating, undefined)
                yield* Deferred.await(proceed)
                return ++created
              }),
          }
          const first = yield* Effect.forkChild(server.shared(state))
          yield* Deferred.await(creating)
          const interrupting = yield* Effect.forkChild(Fiber.interrupt(first), {
            startImmediately: true,
          })
          // Enough time for the first caller to leave, if it can.
          for (let round = 0; round < 10; round++) yield* Effect.yieldNow
          const second = yield* Effect.forkChild(server.shared(state), { startImmediately: true })
          yield* Deferred.succeed(proceed, undefined)
          yield* Fiber.join(interrupting)
          assert.strictEqual(yield* Fiber.join(second), 1)
          assert.strictEqual(yield* server.shared(state), 1)
          assert.strictEqual(created, 1)
        }),
      ),
  )
})
