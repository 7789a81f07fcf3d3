/** The page for users of the original names everything that they may have used, and says what is not used here. */
import { keysOf } from "@colloquy/config/ConfigKeys"
import { Config } from "@colloquy/config/ConfigSchema"
import { CodexArguments, CodexReplyArguments } from "@colloquy/protocol/mcp/CodexTools"
import { ElicitParams } from "@colloquy/protocol/mcp/Elicitation"
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"

const page = readFileSync(new URL("../../../docs/migrate.md", import.meta.url), "utf8")

const topOf = (path: string): string => path.split(".")[0] ?? ""
const keys = keysOf(Config)

/** Keys of Colloquy that the original does not have. */
const own = new Set(["on_restart", "approval_timeout_sec"])

describe("the page on the move from codex mcp-server", () => {
  it.each([
    ["tool", serverTools.map(({ name }) => name)],
    ["argument of codex", Object.keys(CodexArguments.fields)],
    ["argument of codex-reply", Object.keys(CodexReplyArguments.fields)],
    [
      "member of a question",
      Object.keys(ElicitParams.fields).filter(
        // Those of an application's own tools are not in the original.
        (name) => /^codex_(?!tool|arguments)/.test(name),
      ),
    ],
    [
      "key of the configuration",
      [...new Set(keys.map(({ path }) => topOf(path)))].filter((name) => !own.has(name)),
    ],
  ])("names every %s", (_, names) => {
    assert.isNotEmpty(names)
    assert.deepStrictEqual(
      names.filter((name) => !page.includes(`\`${name}\``)),
      [],
    )
  })

  it("says of the keys that are not used here that they are not used, and of no others", () => {
    const unused = keys.filter(({ description }) => description.endsWith("Read and not used here."))
    const [row = ""] = page
      .split("\n")
      .filter((line) => line.includes("read and checked, and not used"))
    const named = Array.from(row.matchAll(/`([^`]+)`/g), ([, name = ""]) => name)
    const whole = unused.filter(({ path }) =>
      keys.every((key) => topOf(key.path) !== topOf(path) || unused.includes(key)),
    )
    assert.sameMembers(named, [...new Set(whole.map(({ path }) => topOf(path)))])
    for (const { path } of unused) {
      assert.isTrue(
        named.includes(topOf(path)) || page.includes(`\`${path}\` is read and not used`),
      )
    }
  })
})
