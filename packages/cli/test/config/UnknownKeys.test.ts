import * as ConfigTree from "@colloquy/config/ConfigTree"
import { meantRoutingKey } from "@colloquy/config/RoutingKeys"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { allKeys } from "../../src/config/AllKeys.ts"
import { warningsOf } from "../../src/config/UnknownKeys.ts"

const file = (text: string) => ({
  path: "/state/config.toml",
  text,
  tree: Result.getOrThrow(ConfigTree.parseToml(text)),
})

describe("UnknownKeys", () => {
  it.effect("reports an unknown key with its line and the nearest known one", () =>
    Effect.gen(function* () {
      const text = `model = "m"
hide_agent_reasoning = true
released = 2025-09-01

[profiles.fast]
aproval_policy = "never"
`
      assert.deepStrictEqual(yield* warningsOf(file(text), []), [
        "/state/config.toml:3: `released`: unknown key, ignored",
        "/state/config.toml:6: `profiles.fast.aproval_policy`: unknown key, ignored; did you mean `profiles.fast.approval_policy`?",
      ])
    }),
  )

  it.effect("reports an unknown key of an argument without a line", () =>
    Effect.gen(function* () {
      const overrides = ConfigTree.parseOverrides([
        "mcp_event=off",
        "approval-policy=never",
        "modle_providers.x.name=1",
        "model=x",
        "profiles.p.model=x",
        "hide_agent_reasoning=true",
        "mcp_events=off",
        "zzz=1",
      ])
      assert.deepStrictEqual(yield* warningsOf(file(""), Result.getOrThrow(overrides)), [
        "-c mcp_event: unknown key, ignored; did you mean `mcp_events`?",
        "-c approval-policy: unknown key, ignored; did you mean `approval_policy`?",
        "-c zzz: unknown key, ignored",
      ])
    }),
  )

  it.effect("reports no misspelt key that is an error, and the others of the same tables", () =>
    Effect.gen(function* () {
      const tables = ["login", "cluster", "telemetry", "model_providers.x"]
      const misspelt = ["login.base_ulr=x", "cluster.drain=1", "telemetry.signal=x"]
      const errors = ConfigTree.parseOverrides([...misspelt, "model_providers.x.base_ulr=x"])
      assert.deepStrictEqual(yield* warningsOf(file(""), Result.getOrThrow(errors)), [])
      const unknown = ConfigTree.parseOverrides(tables.map((table) => `${table}.zzz=1`))
      assert.deepStrictEqual(
        yield* warningsOf(file(""), Result.getOrThrow(unknown)),
        tables.map((table) => `-c ${table}.zzz: unknown key, ignored`),
      )
    }),
  )

  it("L13 no key that only the server process has is mistaken for one that decides about the host", () => {
    for (const key of Object.keys(allKeys().fields)) assert.isUndefined(meantRoutingKey(key), key)
  })

  it.effect("a file for another program gives some warnings and a count", () =>
    Effect.gen(function* () {
      const text = Array.from({ length: 30 }, (_, i) => `zzz${i} = 1`).join("\n")
      const warnings = yield* warningsOf(file(text), [])
      assert.strictEqual(warnings.length, 21)
      assert.strictEqual(warnings.at(-1), "and 10 more keys were ignored")
    }),
  )
})
