import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { offer, parse } from "../../src/project/SkillText.ts"

const fileOf = (...lines: ReadonlyArray<string>) => lines.join("\n")

describe("SkillText", () => {
  it("reads name, description and instructions", () => {
    const text = fileOf(
      "---",
      "name: deploy",
      "description: >",
      "  How to",
      "  deploy.",
      "---",
      "",
      "Run it.",
      "",
    )
    assert.deepStrictEqual(
      parse(text),
      Result.succeed({ name: "deploy", description: "How to deploy.", body: "Run it." }),
    )
  })

  it("names what is missing or too long", () => {
    const faultOf = (text: string) => Result.getOrElse(Result.flip(parse(text)), () => "no fault")
    assert.include(faultOf("name: x"), "first line `---`")
    assert.include(faultOf(fileOf("---", "name: x", "---")), "description: expected a text")
    assert.include(faultOf(fileOf("---", "description: x", "---")), "name: expected a text")
    assert.include(faultOf(fileOf("---", "name: [", "---")), "not valid YAML")
    const long = fileOf("---", `name: ${"x".repeat(65)}`, "description: x", "---")
    assert.strictEqual(faultOf(long), "name: expected at most 64 characters, got 65")
  })

  it("offers the files of projects, and the instructions of the user's skills", () => {
    const skill = { name: "a", description: "About a.", body: "Do a." }
    const text = offer([
      { ...skill, path: "/state/skills/a/SKILL.md", scope: "user" },
      { ...skill, name: "b", path: "/w/.agents/skills/b/SKILL.md", scope: "repo" },
    ])
    assert.include(text, "- a: About a. (instructions below)")
    assert.include(text, "- b: About a. (file: /w/.agents/skills/b/SKILL.md)")
    assert.include(text, "### Skill a\n\nDo a.")
    assert.notInclude(text, "/state")
    assert.isUndefined(offer([]))
  })

  it("leaves out what exceeds the limits", () => {
    const skill = { description: "x".repeat(1000), body: "", path: "/p", scope: "repo" as const }
    const many = Array.from({ length: 50 }, (_, i) => ({ ...skill, name: `s${i}` }))
    assert.isBelow(offer(many)?.length ?? 0, 17_000)
  })
})
