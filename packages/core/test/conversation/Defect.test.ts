/** A program without types can submit what is no op: its caller is told, and so is everybody who waits. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Op } from "@colloquy/protocol/Op"
import { answer, open, says, settle } from "../support.ts"

const malformed = { type: "user_input", items: [{ type: "text" }] } as unknown as Op

describe("L1 a submission that the conversation cannot decide", () => {
  it.effect("ends its call, and those that were read together with it", () =>
    Effect.gen(function* () {
      const { conversation } = yield* open([answer("yes")])
      const calls = yield* Effect.forEach([malformed, says("hi"), malformed], (op) =>
        Effect.forkChild(Effect.exit(conversation.submit(op)), { startImmediately: true }),
      )
      yield* settle
      const exits = yield* Effect.forEach(calls, Fiber.join)
      assert.deepStrictEqual(
        exits.map(({ _tag }) => _tag),
        ["Failure", "Failure", "Failure"],
      )
    }),
  )
})
