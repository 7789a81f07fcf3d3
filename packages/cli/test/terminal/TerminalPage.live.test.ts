/** The commands of the page on the terminal, run one after the other as they are written there. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing, entry } from "../support/BuiltProgram.ts"
import { blocksOf } from "../support/CodeBlocks.ts"
import { directory, home } from "../support/Home.ts"
import { helpLines, slashCommands } from "../../src/terminal/chat/SlashCommands.ts"

beforeAll(buildIfMissing)

const page = readFileSync(new URL("../../../docs/terminal.md", import.meta.url), "utf8")

describe("the page on the terminal", () => {
  it.live("has commands that work", () =>
    Effect.gen(function* () {
      const state = yield* home()
      const cwd = yield* directory()
      const commands = blocksOf(page).flatMap(({ language, text }) =>
        language === "sh" ? [text.trim()] : [],
      )
      assert.lengthOf(commands, 5)
      const program = commands
        .join("\n")
        .replaceAll("npx colloquy", `"${process.execPath}" "${entry}"`)
      const { status, stderr, stdout } = spawnSync("sh", ["-e", "-c", program], {
        cwd,
        encoding: "utf8",
        env: {
          PATH: process.env["PATH"],
          HOME: state,
          COLLOQUY_HOME: state,
          OPENAI_API_KEY: "sk-example",
        },
      })
      assert.deepStrictEqual([status, stderr], [0, ""])
      assert.include(stdout, "  hello\n")
      assert.match(stdout, /ID +CREATED[^]*say hello\n/)
      assert.include(stdout, "Logged in.")
      assert.include(stdout, "provider: offline, built in")
      assert.notInclude(stdout, "sk-example")
      for (const file of ["completions.bash", "_colloquy", "colloquy.fish"]) {
        assert.include(readFileSync(join(cwd, file), "utf8"), "sessions")
      }
    }).pipe(Effect.scoped),
  )

  it("names every command of a chat", () => {
    for (const name of Object.keys(slashCommands)) assert.include(page, `\`/${name}\``)
    for (const line of helpLines) assert.isAtMost(line.length, 76)
  })
})
