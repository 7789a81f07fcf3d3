import * as ConfigTree from "@colloquy/config/ConfigTree"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { faultOf } from "../../src/config/ReplacedValues.ts"

const overridesOf = (...args: ReadonlyArray<string>) =>
  Result.getOrThrow(ConfigTree.parseOverrides(args))

describe("values that a deeper key replaces by a table", () => {
  for (const table of ["cluster", "http", "telemetry", "mcp_servers", "model_providers", "login"]) {
    it.effect(`are refused for \`${table}\`, on the command line and in the file`, () =>
      Effect.gen(function* () {
        const message = `invalid type: integer \`1\`, expected a map\nin \`${table}\`\n`
        const deeper = `${table}.x=2`
        const given = yield* faultOf(ConfigTree.empty, overridesOf(`${table}=1`, deeper))
        assert.deepStrictEqual([given?.key, given?.message], [table, message])
        const inFile = yield* faultOf(ConfigTree.fromRecord({ [table]: 1 }), overridesOf(deeper))
        assert.strictEqual(inFile?.message, message)
      }),
    )
  }

  it.effect("are refused inside of a table", () =>
    Effect.gen(function* () {
      const fault = yield* faultOf(
        ConfigTree.empty,
        overridesOf("mcp_servers.x=1", "mcp_servers.x.command=c"),
      )
      assert.strictEqual(fault?.key, "mcp_servers.x")
    }),
  )

  it.effect("are permitted where the key takes both, or is overridden as a whole", () =>
    Effect.gen(function* () {
      const permitted = [
        ["approval_policy=never", "approval_policy.granular.rules=true"],
        ["http=1", "http={}", "http.hosts=[]"],
        ["unknown=1", "unknown.x=2"],
        ["http.hosts=[]", "http.origins=[]"],
      ]
      for (const args of permitted) {
        assert.isUndefined(yield* faultOf(ConfigTree.empty, overridesOf(...args)))
      }
    }),
  )
})
