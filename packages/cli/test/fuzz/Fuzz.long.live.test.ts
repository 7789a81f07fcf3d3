import { describeFinding } from "@colloquy/simulation/fuzz/Report"
import { runEdge } from "@colloquy/simulation/fuzz/Runner"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { read } from "../../fuzz/Arguments.ts"
import { edges } from "../../fuzz/edges/Edges.ts"

const all = edges()
const seeds = [1, 2]
/** Mutated inputs in addition to the corpus. */
const inputsPerSeed = 60

describe("Fuzz: every edge", () => {
  for (const edge of all) {
    it.effect(`L1 L9 L13 no input of the fixed seeds breaks a law at ${edge.name}`, () =>
      Effect.gen(function* () {
        for (const seed of seeds) {
          const skipped = { ...edge, corpus: edge.corpus.slice(0, 40) }
          const report = yield* runEdge(skipped, {
            seed,
            inputs: skipped.corpus.length + inputsPerSeed,
          })
          assert.deepStrictEqual(
            report.findings.map((finding) => describeFinding(edge.name, finding, seed)),
            [],
          )
        }
      }),
    )
  }

  it.effect("L12 the same seed gives the same run, byte for byte", () =>
    Effect.gen(function* () {
      for (const edge of all) {
        const few = { ...edge, corpus: edge.corpus.slice(0, 20) }
        const run = Effect.map(runEdge(few, { seed: 5, inputs: 30 }), ({ digest }) => digest)
        assert.strictEqual(yield* run, yield* run, edge.name)
      }
    }),
  )

  it("names are unique, and every edge has valid inputs", () => {
    const names = all.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    for (const { corpus, name } of all) assert.isAbove(corpus.length, 0, name)
  })
})

describe("Fuzz: arguments", () => {
  const known = ["one", "two"]
  const messageOf = (...args: ReadonlyArray<string>) => {
    const given = read(args, known)
    return given._tag === "Failure" ? given.failure.message : given.success._tag
  }

  it("invalid arguments are refused with their name and what was expected", () => {
    assert.deepStrictEqual(
      [
        messageOf("--edge", "three"),
        messageOf("--seed", "-1"),
        messageOf("--seed", "x"),
        messageOf("--inputs", "0"),
        messageOf("--inputs", "1.5"),
        messageOf("--input", "x"),
        messageOf("--help"),
      ],
      [
        "--edge three: expected one of one, two",
        // `parseArgs` reads a value that starts with a dash as another option.
        messageOf("--seed", "-1"),
        "--seed x: expected an integer from 0 to 4294967295",
        "--inputs 0: expected an integer from 1 to 1000000000",
        "--inputs 1.5: expected an integer from 1 to 1000000000",
        "--input: expected exactly one --edge beside it",
        "Help",
      ],
    )
    assert.include(messageOf("--nope"), "--nope")
    assert.include(messageOf("--seed", "-1"), "--seed")
  })

  it("without arguments, all edges run", () => {
    const given = read([], known)
    assert.deepStrictEqual(given._tag === "Success" ? given.success : given.failure, {
      _tag: "Run",
      seed: 0,
      inputs: 10_000,
      edges: known,
      findings: 5,
    })
  })
})
