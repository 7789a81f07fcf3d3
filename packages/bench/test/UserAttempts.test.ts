import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { attempted } from "../src/user/Attempts.ts"
import type { Contender } from "../src/user/Contender.ts"
import type { Scenario, Setting } from "../src/user/Scenarios.ts"
import { NoAnswer } from "../src/user/Session.ts"

const setting: Setting = {
  baseUrl: "http://127.0.0.1",
  plain: () => Effect.succeed(1),
  sizes: {
    conversations: 1,
    replies: 1,
    sequence: 1,
    atOnce: 1,
    growth: 1,
    deltas: 1,
    deltaTurns: 1,
  },
}

/** Adds the number of its attempt; the first `silent` ones are not answered after that. */
const answeredAfter = (silent: number) => {
  let made = 0
  const scenario: Scenario = (_contender, _setting, add) =>
    Effect.suspend(() => {
      made += 1
      add("reply", made)
      return made <= silent ? Effect.die(new NoAnswer("no answer")) : Effect.void
    })
  return scenario
}

const run = (kind: Contender["kind"], silent: number) =>
  Effect.suspend(() => {
    const added: Array<number> = []
    let unanswered = 0
    return Effect.map(
      Effect.exit(
        attempted(answeredAfter(silent), { name: "server", kind, argv: ["server"] }, setting, {
          add: (_key, value) => added.push(value),
          unanswered: () => {
            unanswered += 1
          },
        }),
      ),
      ({ _tag }) => ({ _tag, added, unanswered }),
    )
  })

describe("a scenario of the benchmark user", () => {
  it.effect("is run again where a peer does not answer, without its samples", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("peer", 2), {
        _tag: "Success",
        added: [3],
        unanswered: 2,
      })
    }),
  )

  it.effect("has no samples of a peer that never answers", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("peer", 9), { _tag: "Success", added: [], unanswered: 3 })
    }),
  )

  it.effect("ends the benchmark where the program itself does not answer", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run("ours", 1), { _tag: "Failure", added: [], unanswered: 0 })
    }),
  )
})
