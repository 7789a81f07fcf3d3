import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { encode } from "../src/fuzz/Bytes.ts"
import { type Edge, type Target, Violation } from "../src/fuzz/Edge.ts"
import { escapeBytes, unescapeBytes } from "../src/fuzz/Escaped.ts"
import { inputOf } from "../src/fuzz/Inputs.ts"
import * as Tree from "../src/fuzz/JsonTree.ts"
import { mutateLines } from "../src/fuzz/LineMutators.ts"
import { describeFinding } from "../src/fuzz/Report.ts"
import { runEdge, runInputs } from "../src/fuzz/Runner.ts"

const utf8 = new TextDecoder()

const line = '{"id":1,"method":"m","params":{"a":[1,"x"]}}'

const edgeOf = (run: Target["run"], more: Partial<Target> = {}): Edge => ({
  name: "toy",
  summary: "for tests",
  corpus: [encode(`${line}\n`)],
  mutate: mutateLines([line]),
  inputsPerTarget: 50,
  open: Effect.succeed({ run, ...more }),
})

const parses = (input: Uint8Array) =>
  Effect.sync(() =>
    Result.isSuccess(Result.try(() => JSON.parse(utf8.decode(input)) as unknown))
      ? ("accepted" as const)
      : ("rejected" as const),
  )

/** The findings of a run of the edge. */
const found = (edge: Edge, inputs = 400) =>
  Effect.map(runEdge(edge, { seed: 7, inputs }), ({ findings }) => findings)

describe("Fuzz: the runner", () => {
  it.effect("L12 the same seed gives the same run, another seed gives another run", () =>
    Effect.gen(function* () {
      const run = (seed: number) => runEdge(edgeOf(parses), { seed, inputs: 300 })
      const [first, again, other] = [yield* run(1), yield* run(1), yield* run(2)]
      assert.deepStrictEqual(again, first)
      assert.notStrictEqual(other.digest, first.digest)
      assert.strictEqual(first.accepted + first.rejected, 300)
      assert.isAbove(Math.min(first.accepted, first.rejected), 10)
      assert.deepStrictEqual(first.findings, [])
    }),
  )

  it.effect("L13 a defect is reported with the shortest input that causes it", () =>
    Effect.gen(function* () {
      const edge = edgeOf((input) =>
        utf8.decode(input).includes("1e400") ? Effect.die(new Error("no")) : parses(input),
      )
      const [finding, ...others] = yield* found(edge, 2_000)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(finding?.law, "L13")
      assert.include(finding?.message, "Error: no")
      assert.deepStrictEqual(finding?.inputs.map(escapeBytes), ["1e400"])
      const again = yield* runInputs(edge, finding?.inputs ?? [])
      assert.strictEqual(again?.law, "L13")
    }),
  )

  it.effect("L13 a defect of a detached fiber is reported", () =>
    Effect.gen(function* () {
      const edge = edgeOf((input) =>
        Effect.andThen(Effect.forkDetach(Effect.die("lost")), parses(input)),
      )
      assert.include((yield* found(edge, 3))[0]?.message, "lost")
    }),
  )

  it.effect("L13 an input that never returns and an input that runs for ever are reported", () =>
    Effect.gen(function* () {
      const [stuck] = yield* found(
        edgeOf(() => Effect.never),
        1,
      )
      assert.include(stuck?.message, "never returns")
      const [endless] = yield* found(
        edgeOf(() => Effect.forever(Effect.sleep("1 second"))),
        1,
      )
      assert.include(endless?.message, "within its bounds")
    }),
  )

  it.effect("memory: leaked fibers and counts are reported", () =>
    Effect.gen(function* () {
      const leaking = edgeOf((input) =>
        Effect.andThen(Effect.forkDetach(Effect.never), parses(input)),
      )
      const [fiber] = yield* found(leaking, 1)
      assert.deepStrictEqual(
        [fiber?.law, fiber?.message],
        ["memory", "left behind: fibers: 0 before, 1 after"],
      )
      let pending = 0
      const counting = edgeOf(
        (input) =>
          Effect.andThen(
            Effect.sync(() => pending++),
            parses(input),
          ),
        { sizes: () => ({ pending }) },
      )
      assert.include((yield* found(counting, 1))[0]?.message, "pending: 0 before, 1 after")
    }),
  )

  it.effect("memory: a growing heap is reported", () =>
    Effect.gen(function* () {
      let bytes = 0
      const report = yield* runEdge(edgeOf(parses), {
        seed: 0,
        inputs: 10,
        heapBytes: Effect.sync(() => (bytes += 1_000)),
        maxHeapGrowthBytes: 900,
      })
      assert.deepStrictEqual(
        report.findings.map(({ law }) => law),
        ["memory"],
      )
      assert.strictEqual(report.heapGrowthBytes, 1_000)
    }),
  )

  it.effect("a violation that needs several inputs is shrunk to those inputs", () =>
    Effect.gen(function* () {
      const edge: Edge = {
        ...edgeOf(parses),
        open: Effect.sync(() => {
          let seen = 0
          return {
            run: (input) => {
              if (utf8.decode(input).includes("method")) seen++
              return seen < 3
                ? parses(input)
                : Effect.fail(new Violation({ law: "L1", message: "the third one" }))
            },
          }
        }),
      }
      const [finding] = yield* found(edge)
      assert.deepStrictEqual(finding?.inputs.map(escapeBytes), ["method", "method", "method"])
      assert.include(
        describeFinding("toy", finding ?? { law: "L1", message: "", index: 0, inputs: [] }, 7),
        "npm run fuzz -- --edge toy --input 'method' --input 'method' --input 'method'",
      )
    }),
  )

  it.effect("a violation at the end of a target is reported", () =>
    Effect.gen(function* () {
      const edge = edgeOf(parses, {
        end: Effect.fail(new Violation({ law: "L9", message: "does not end" })),
      })
      const [finding] = yield* found(edge, 1)
      assert.deepStrictEqual([finding?.law, finding?.message], ["L9", "does not end"])
    }),
  )
})

describe("Fuzz: inputs", () => {
  it("JSON is printed as it was read: digits, repeated members, escapes", () => {
    const text = '{"a":9007199254740993,"a":-0,"__proto__":[1e400,"\\ud800"]}'
    const tree = Tree.parse(text)
    assert.strictEqual(tree === undefined ? undefined : Tree.print(tree), text)
    assert.isUndefined(Tree.parse('{"a":}'))
    assert.isUndefined(Tree.parse("[".repeat(2_000)))
  })

  it("escaped bytes are read as the same bytes", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    assert.deepStrictEqual(unescapeBytes(escapeBytes(bytes)), bytes)
    assert.deepStrictEqual(unescapeBytes("é\\u00e9"), encode("éé"))
  })

  it("mutations reach limits of numbers, names of prototypes, repeated members, lone surrogates and broken UTF-8", () => {
    const edge = edgeOf(parses)
    const inputs = Array.from({ length: 4_000 }, (_, index) => inputOf(edge, 3, index))
    const texts = inputs.map((input) => utf8.decode(input))
    const reached = (pattern: RegExp) => texts.some((text) => pattern.test(text))
    for (const pattern of [
      /9007199254740993/,
      /1e308/,
      /1e400/,
      /-0[,}\]]/,
      /1e-400/,
      /9{400}/,
      /"__proto__"/,
      /"constructor"/,
      /"id":[^,]*,"id":/,
      /\\ud800/,
      /\\u0000/,
      /(?:\[){250}/,
      /a{1025}/,
      /\r\n/,
      /^\ufeff/m,
      /\]\n/,
      /\}\{/,
      /^\[\{/,
    ]) {
      assert.isTrue(reached(pattern), String(pattern))
    }
    assert.isTrue(texts.some((text) => text.includes("\0")))
    const isUtf8 = (input: Uint8Array) =>
      Result.isSuccess(Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(input)))
    assert.isTrue(inputs.some((input) => !isUtf8(input)))
    assert.isTrue(inputs.every(({ length }) => length <= 16 * 1024))
  })
})
