import { assert, describe, it } from "@effect/vitest"
import { qualifiedName, qualifyAll } from "../../src/mcp/QualifiedNames.ts"
import * as Effect from "effect/Effect"

describe("QualifiedNames", () => {
  it.effect.each([
    ["files", "read", "files__read"],
    ["a", "b".repeat(61), `a__${"b".repeat(61)}`],
    ["a", "b".repeat(62), `a__${"b".repeat(21)}f891ae4a53eb9c21af2b153531a5bbd0b184e1f3`],
    ["s", "weather in paris?", "s__weather_in_paris_"],
    ["s", "", "s__"],
  ] as const)("the tool %s %s is called %s", ([server, tool, name]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* qualifiedName(server, tool), name)
      assert.isAtMost(name.length, 64)
    }),
  )

  it.effect("names that differ after the cut stay different", () =>
    Effect.gen(function* () {
      const long = "x".repeat(80)
      const name = yield* qualifiedName("s", `${long}a`)
      assert.notStrictEqual(name, yield* qualifiedName("s", `${long}b`))
      assert.strictEqual(name.length, 64)
    }),
  )

  it.effect("tools are sorted by name, later duplicates are skipped", () =>
    Effect.gen(function* () {
      const tool = (name: string, from: string) => ({ name, from })
      assert.deepStrictEqual(
        yield* qualifyAll([
          ["b", [tool("z", "1"), tool("a", "2"), tool("z", "3")]],
          ["a__b", [tool("c", "4")]],
          ["a", [tool("b__c", "5")]],
        ]),
        [
          { qualifiedName: "a__b__c", server: "a", tool: tool("b__c", "5") },
          { qualifiedName: "b__a", server: "b", tool: tool("a", "2") },
          { qualifiedName: "b__z", server: "b", tool: tool("z", "1") },
        ],
      )
    }),
  )
})
