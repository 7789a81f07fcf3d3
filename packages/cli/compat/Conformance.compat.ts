/**
 * Runs the protocol's conformance suite, `@modelcontextprotocol/conformance` (the referee), against a server built from
 * these packages, over HTTP.
 */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "rolldown"
import { describe, inject } from "vitest"
import { type Check, type Findings, judge } from "./conformance/Referee.ts"
import { type Run, runs } from "./conformance/Scenarios.ts"
import { serving } from "./conformance/Serving.ts"
import { describeClient } from "./Driver.ts"

const bundle = () => join(inject("installed").folder, "fixture.mjs")

/** Bundles the server as embedding programs do. */
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
    const url = yield* serving(bundle())
    return yield* Effect.promise(() => judge(url, words))
  }).pipe(Effect.scoped, Effect.runPromise)

/** The failed checks. A recommendation that is not followed counts as a failure, too. */
const faults = (checks: ReadonlyArray<Check>) =>
  checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage }) => `${status} ${id}: ${errorMessage ?? ""}`)

describeClient("@modelcontextprotocol/conformance", () => {
  beforeAll(async () => {
    await buildServer()
  })

  describe.for(runs)("$name", (run) => {
    let findings: Findings = new Map()
    beforeAll(async () => {
      findings = await judged(run)
    }, maxRunMs)

    it(`ran these ${run.passed.length} scenarios and no others`, () => {
      assert.deepStrictEqual([...findings.keys()].toSorted(), run.passed.toSorted())
    })

    it.each(run.passed)("%s", (scenario) => {
      const checks = findings.get(scenario) ?? []
      assert.isNotEmpty(checks)
      assert.deepStrictEqual(faults(checks), [])
    })
  })
})
