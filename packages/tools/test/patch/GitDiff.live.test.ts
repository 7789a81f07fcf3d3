import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { applyPatch } from "diff/lib/patch/apply.js"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as GitDiff from "../../src/patch/GitDiff.ts"
import * as UnifiedDiff from "../../src/patch/UnifiedDiff.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { ProgramNotTrusted, TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"

const machine = { platform: process.platform, processor: process.arch }

const services = runnerLayer.pipe(
  Layer.merge(SandboxLayer.layer({ machine, environment: {}, hiddenPaths: [] })),
  Layer.provideMerge(TrustedPrograms.layer({ environment: {} })),
  Layer.provideMerge(NodeServices.layer),
)

const noGit = new ProgramNotTrusted({ program: "git", searched: [], refusals: [], message: "none" })

const hunks = (before: string, after: string, options: { readonly hasGit: boolean }) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const programs = yield* TrustedPrograms
    const make = yield* GitDiff.make(
      {
        runner: yield* CommandRunner,
        sandbox: yield* Sandbox,
        programs: options.hasGit ? programs : { ...programs, resolve: () => Effect.fail(noGit) },
      },
      yield* fs.makeTempDirectoryScoped(),
    )
    return yield* make(before, after, 3)
  }).pipe(Effect.scoped, Effect.provide(services))

/** Two such texts differ too much for jsdiff's time limit, although they have many lines in common. */
const text = (word: string): string =>
  "function top()\n".repeat(6) +
  Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? `function ${word}${i}()\n` : "}\n")).join(
    "",
  )

describe("GitDiff", () => {
  it.live("uses git for diffs that take jsdiff too long, and shows no function names", () =>
    Effect.gen(function* () {
      const [before, after] = [text("a"), text("b")]
      const found = yield* hunks(before, after, { hasGit: true })
      assert.notStrictEqual(found, UnifiedDiff.replaced(before, after))
      assert.match(found, /^@@ -4,20003 \+4,20003 @@\n( function top\(\)\n){3}-function a0\(\)\n/)
      assert.strictEqual(applyPatch(before, `--- a\n+++ b\n${found}`), after)
    }),
  )

  it.live("replaces everything when there is no git", () =>
    Effect.gen(function* () {
      const [before, after] = [text("a"), text("b")]
      const found = yield* hunks(before, after, { hasGit: false })
      assert.strictEqual(found, UnifiedDiff.replaced(before, after))
    }),
  )

  it.live("starts no git for a quick diff", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* hunks("a\n", "b\n", { hasGit: false }), "@@ -1 +1 @@\n-a\n+b\n")
    }),
  )
})
