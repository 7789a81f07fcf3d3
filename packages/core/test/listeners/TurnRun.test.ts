import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { keep, none, type Receipts, withoutIds } from "../../src/decider/Receipts.ts"
import { runTurn } from "../../src/listeners/TurnRun.ts"

/** The place from which a turn with the id `turn` is followed, in a conversation with these receipts. */
const followedFrom = (receipts: Receipts, id: string | undefined) =>
  Effect.flip(
    runTurn(
      { state: Effect.succeed({ seq: 7, receipts }), attach: ({ from }) => Effect.fail(from) },
      Effect.die("not submitted without a listener"),
      id,
    ),
  )

describe("runTurn", () => {
  it.effect("L5 follows from the beginning what may have been submitted before", () =>
    Effect.gen(function* () {
      const known = keep(none, "turn", { id: "turn", disposition: "started" })
      assert.strictEqual(yield* followedFrom(known, "turn"), 0)
      assert.strictEqual(yield* followedFrom(withoutIds(known), "turn"), 0)
      assert.strictEqual(yield* followedFrom(known, "other"), 7)
      assert.strictEqual(yield* followedFrom(withoutIds(known), undefined), 7)
    }),
  )
})
