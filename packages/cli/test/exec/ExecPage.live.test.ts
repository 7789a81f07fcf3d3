/** The commands of the page on `exec`, run as they are written there. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { buildIfMissing, entry } from "../support/BuiltProgram.ts"
import { blocksOf } from "../support/CodeBlocks.ts"
import { directory, home } from "../support/Home.ts"

beforeAll(buildIfMissing)

const page = readFileSync(new URL("../../../docs/exec.md", import.meta.url), "utf8")
const commands = blocksOf(page).flatMap(({ language, text }) =>
  language === "sh" ? [text.trim()] : [],
)

describe("the page on exec", () => {
  it.live.each(commands)("%s says hello", (command) =>
    Effect.gen(function* () {
      const state = yield* home()
      const cwd = yield* directory()
      const run = command.replace("npx colloquy", `"${process.execPath}" "${entry}"`)
      const output = execFileSync("sh", ["-c", run], {
        cwd,
        encoding: "utf8",
        env: { PATH: process.env["PATH"], HOME: state, COLLOQUY_HOME: state },
        stdio: ["ignore", "pipe", "ignore"],
      })
      assert.include(output, "hello")
    }),
  )

  it("has commands", () => {
    assert.lengthOf(commands, 3)
  })
})
