import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { differences, laterDifferences } from "../../server/test/support/differences.ts"
import { Agents, ask } from "./support/ReadmeExample.ts"

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
const readme = read("../../../README.md")

describe("README", () => {
  it("shows the program that is compiled and run here, to the letter", () => {
    assert.include(readme, `\`\`\`ts\n${read("./support/ReadmeExample.ts")}\`\`\``)
  })

  it.effect("the program runs a turn on the offline model", () =>
    Effect.gen(function* () {
      const messages = yield* ask("say hello from an embedded agent")
      assert.deepStrictEqual(messages.at(-1), {
        type: "task_complete",
        last_agent_message: "hello from an embedded agent",
      })
    }).pipe(Effect.provide(Agents)),
  )

  it("lists exactly the differences that the replays of the recordings show", () => {
    const section = readme.split("## Differences from the original")[1]?.split("\n## ")[0] ?? ""
    const tables = section.split("\n### ").map((part) =>
      part
        .split("\n")
        .filter((line) => line.startsWith("| "))
        .slice(2),
    )
    const rows = [differences, laterDifferences].map((list) =>
      list.map(({ original, colloquy, why }) => `| ${original} | ${colloquy} | ${why} |`),
    )
    assert.deepStrictEqual(tables, rows)
  })
})
