/** A listener whose conversation moves. */
import { parseConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { attach } from "../src/internal/ClusterListener.ts"
import { Elsewhere } from "../src/NodeErrors.ts"

const parsed = parseConversationId("0000000f-4240-76d0-ac60-ec41c2a31f77")
const id = "id" in parsed ? parsed.id : assert.fail(parsed.problem)

describe("a listener of a cluster", () => {
  it.effect("L6 waits before it attaches again where the node ends it at once", () =>
    Effect.gen(function* () {
      let attachments = 0
      const listener = yield* attach(id, 3, () =>
        Effect.sync(() => {
          attachments++
          return { from: 3, take: Effect.fail(new Elsewhere({ id })) }
        }),
      )
      const taking = yield* Effect.forkChild(Effect.forever(listener.take), {
        startImmediately: true,
      })
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(taking)
      assert.isAbove(attachments, 30)
      assert.isBelow(attachments, 40)
    }).pipe(Effect.scoped),
  )
})
