/** The chat as a person has it: typed in a pseudo-terminal, read from its screen. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { widthOf } from "../../src/terminal/Width.ts"
import * as Home from "../support/Home.ts"
import * as Pty from "../support/Pty.ts"

const enter = "\r"

/** A chat in a new state directory. */
const chat = Effect.fnUntraced(function* (
  columns: number,
  {
    args = [],
    config = "",
    env = {},
    rows = 24,
  }: {
    readonly args?: ReadonlyArray<string>
    readonly config?: string
    readonly env?: Readonly<Record<string, string>>
    readonly rows?: number
  } = {},
) {
  const home = yield* Home.home({ "config.toml": config })
  const cwd = yield* Home.directory()
  const options = { columns, rows, cwd, env: { HOME: home, COLLOQUY_HOME: home, ...env } }
  return { home, cwd, options, pty: yield* Pty.start(["chat", ...args], options) }
})

describe.each([80, 120])("a chat in a terminal of %i columns", (columns) => {
  it.live("streams an answer, and ends with Ctrl-D", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns)
      yield* pty.shows("/help lists the commands")
      pty.type(`say hello${enter}`)
      const rows = yield* pty.shows("  hello")
      assert.include(rows, "› say hello")
      yield* pty.until((now) => now.at(-1)?.trim() === "›")
      pty.type("\u0004")
      assert.strictEqual(yield* pty.ended, 0)
      assert.match(pty.rows().at(-1) ?? "", /^Go on with: colloquy sessions resume \S+$/)
      for (const row of pty.rows()) assert.isAtMost(widthOf(row), columns)
    }).pipe(Effect.scoped),
  )

  it.live("asks before a command, and runs it after one key", () =>
    Effect.gen(function* () {
      const { pty } = yield* chat(columns, { args: ["-a", "untrusted", "-s", "workspace-write"] })
      yield* pty.shows("/help")
      pty.type(`run: echo made > file.txt; cat file.txt${enter}`)
      const asked = yield* pty.shows("[y] yes")
      assert.isTrue(asked.some((row) => row.includes("? Allow Codex to run")))
      yield* Effect.sleep(500)
      pty.type("y")
      const rows = yield* pty.shows("exit 0")
      assert.isTrue(rows.some((row) => row.trim() === "│ made"))
      assert.isTrue(rows.some((row) => row.trim() === "✓ approved"))
      pty.type(`/quit${enter}`)
      assert.strictEqual(yield* pty.ended, 0)
    }).pipe(Effect.scoped),
  )
})
