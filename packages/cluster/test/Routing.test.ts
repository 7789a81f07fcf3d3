import { parseConversationId } from "@colloquy/protocol/Ids"
import { ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import { LeaseHeld, StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { Routing, type RoutingParts } from "../src/internal/Routing.ts"
import { Elsewhere, NodeUnreachable } from "../src/NodeErrors.ts"

const parsed = parseConversationId("0000000f-4240-7102-8a3f-5dad18a505f8")
if ("problem" in parsed) throw new Error(parsed.problem)
const { id } = parsed

const held = new LeaseHeld({ id, holder: { host: "a", pid: 1 } })
const elsewhere = new Elsewhere({ id, held })
const unreachable = new NodeUnreachable({ id, reason: "the connection is lost" })

/** Another node has every conversation; the calls themselves are not used. */
const calls = {} as RoutingParts["own"]
const routing = new Routing({
  nodes: {
    self: "b",
    owns: () => false,
    sameOwner: () => false,
    calls: () => calls,
    serve: () => Effect.void,
    leave: Effect.void,
  },
  own: calls,
  patience: Duration.seconds(1),
  isClosed: () => false,
  isHere: () => false,
  hasLeft: () => false,
})

/** Why an operation was given up whose attempts failed with these, the last one again and again. */
const givenUp = (
  failures: ReadonlyArray<Elsewhere | NodeUnreachable>,
  lost?: NodeUnreachable,
): Effect.Effect<ConversationUnavailable["because"]> =>
  Effect.gen(function* () {
    let attempts = 0
    const use = () => Effect.fail(failures[Math.min(attempts++, failures.length - 1)] ?? elsewhere)
    const running = yield* Effect.forkChild(Effect.flip(routing.call(id, use, lost)))
    yield* TestClock.adjust("2 seconds")
    const error = yield* Fiber.join(running)
    return error instanceof ConversationUnavailable ? error.because : undefined
  })

describe("L10 an operation that is given up", () => {
  it.effect("names the holder where no attempt was carried out", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* givenUp([elsewhere]), held)
    }),
  )

  it.effect("says that its node does not respond where an attempt may have been carried out", () =>
    Effect.gen(function* () {
      for (const because of [
        yield* givenUp([unreachable, elsewhere]),
        yield* givenUp([elsewhere, unreachable, elsewhere]),
        yield* givenUp([elsewhere], unreachable),
      ]) {
        assert.instanceOf(because, StoreError)
        assert.strictEqual(because?._tag === "StoreError" ? because.reason : "", "Unreachable")
        assert.include(because?.message ?? "", unreachable.message)
      }
    }),
  )
})
