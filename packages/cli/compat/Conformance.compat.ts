/**
 * Runs the protocol's conformance suite, `@modelcontextprotocol/conformance` (the referee), against a server built from
 * these packages. The suite supports only HTTP, so a bridge connects it to the server; scenarios that test the bridge
 * are excluded by name.
 */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import { describe, inject } from "vitest"
import { bridge } from "./conformance/Bridge.ts"
import { type Check, type Findings, judge } from "./conformance/Referee.ts"
import { leftOut, type Run, runs } from "./conformance/Scenarios.ts"
import { describeClient } from "./Driver.ts"

const bundle = () => join(inject("installed").folder, "fixture.mjs")

/** Bundles the server: each of the many sessions has a separate process, and a bundle starts in a sixth of the time. */
const buildServer = () =>
  build({
    input: fileURLToPath(new URL("conformance/main.ts", import.meta.url)),
    platform: "node",
    output: { file: bundle(), format: "esm", codeSplitting: false },
    logLevel: "silent",
  })

const maxRunMs = 120_000

const judged = ({ words }: Run): Promise<Findings> =>
  Effect.gen(function* () {
    const { url } = yield* bridge({
      command: process.execPath,
      args: [bundle()],
      env: { PATH: process.env["PATH"] ?? "", HOME: tmpdir() },
    })
    return yield* Effect.promise(() => judge(url, words))
  }).pipe(Effect.scoped, Effect.runPromise)

/** The failed checks. A recommendation that is not followed counts as a failure, too. */
const faults = (checks: ReadonlyArray<Check>) =>
  checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage ?? ""}`)

const isLeftOut = (scenario: string) => Object.hasOwn(leftOut, scenario)

describeClient("@modelcontextprotocol/conformance", () => {
  beforeAll(async () => {
    await buildServer()
  })

  describe.for(runs)("$name", (run) => {
    let findings: Findings = new Map()
    beforeAll(async () => {
      findings = await judged(run)
    }, maxRunMs)

    it(`ran ${run.passed.length + run.leftOut} scenarios, of which ${run.leftOut} say nothing of the server`, () => {
      const ran = [...findings.keys()]
      assert.deepStrictEqual(
        ran.filter((scenario) => !isLeftOut(scenario)).toSorted(),
        run.passed.toSorted(),
      )
      assert.lengthOf(ran.filter(isLeftOut), run.leftOut)
    })

    it.each(run.passed)("%s", (scenario) => {
      const checks = findings.get(scenario) ?? []
      assert.isNotEmpty(checks)
      assert.deepStrictEqual(faults(checks), [])
    })
  })
})
