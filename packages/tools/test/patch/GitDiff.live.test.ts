import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { applyPatch } from "diff/lib/patch/apply.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as GitDiff from "../../src/patch/GitDiff.ts"
import * as UnifiedDiff from "../../src/patch/UnifiedDiff.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"

const services = Layer.provideMerge(CommandRunner.layer, NodeServices.layer)

const hunks = (searchPath: string, before: string, after: string) =>
  Effect.gen(function* () {
    const make = yield* GitDiff.make(yield* CommandRunner, searchPath)
    return yield* make(before, after, 3)
  }).pipe(Effect.provide(services))

/** Too different for jsdiff in its time, and with much in common all the same. */
const text = (word: string): string =>
  "function top()\n".repeat(6) +
  Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? `function ${word}${i}()\n` : "}\n")).join(
    "",
  )

describe("GitDiff", () => {
  it.live("asks git for what takes jsdiff too long, and shows no function names", () =>
    Effect.gen(function* () {
      const [before, after] = [text("a"), text("b")]
      const found = yield* hunks(process.env["PATH"] ?? "", before, after)
      assert.notStrictEqual(found, UnifiedDiff.replaced(before, after))
      assert.match(found, /^@@ -4,20003 \+4,20003 @@\n( function top\(\)\n){3}-function a0\(\)\n/)
      assert.strictEqual(applyPatch(before, `--- a\n+++ b\n${found}`), after)
    }),
  )

  it.live("replaces everything where there is no git", () =>
    Effect.gen(function* () {
      const [before, after] = [text("a"), text("b")]
      const found = yield* hunks("/nonexistent", before, after)
      assert.strictEqual(found, UnifiedDiff.replaced(before, after))
    }),
  )

  it.live("asks nobody for what is quick", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* hunks("/nonexistent", "a\n", "b\n"), "@@ -1 +1 @@\n-a\n+b\n")
    }),
  )
})
