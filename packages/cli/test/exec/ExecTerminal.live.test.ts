/** `exec` as a person has it: its screen in a pseudo-terminal. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { widthOf } from "../../src/terminal/Width.ts"
import * as Home from "../support/Home.ts"
import * as Pty from "../support/Pty.ts"

const full = ["-s", "danger-full-access"]

/** Runs one turn outside of a repository, in a new state directory unless one is given. */
const exec = Effect.fnUntraced(function* (
  columns: number,
  args: ReadonlyArray<string>,
  state?: string,
) {
  const home = state ?? (yield* Home.home())
  const cwd = yield* Home.directory()
  const env = { HOME: home, COLLOQUY_HOME: home }
  return yield* Pty.start(["exec", ...args], { columns, cwd, env })
})

const free = "--skip-git-repo-check"

describe.each([80, 120])("exec in a terminal of %i columns", (columns) => {
  it.live("shows the conversation in rows that fit, and the answer once", () =>
    Effect.gen(function* () {
      const text = "wide ".repeat(60).trim()
      const pty = yield* exec(columns, [free, `say ${text}`])
      assert.strictEqual(yield* pty.ended, 0)
      const rows = pty.rows()
      for (const row of rows) assert.isAtMost(widthOf(row), columns)
      const agent = rows.indexOf("agent")
      const user = rows.indexOf("user")
      assert.strictEqual(rows.slice(user + 1, agent).join(" "), `say ${text}`)
      const end = rows.indexOf("", agent)
      assert.strictEqual(rows.slice(agent + 1, end).join(" "), text)
      assert.match(rows.at(-1) ?? "", /^tokens used: \d+$/)
    }).pipe(Effect.scoped),
  )

  it.live("says how long the turn runs while a command runs, and erases it", () =>
    Effect.gen(function* () {
      const pty = yield* exec(columns, [free, ...full, "run: echo begun; sleep 2; echo done"])
      yield* pty.shows("$ ")
      const rows = yield* pty.shows("working, 1")
      assert.include(rows.at(-1) ?? "", "Ctrl-C interrupts")
      assert.strictEqual(yield* pty.ended, 0)
      const last = pty.rows()
      assert.includeMembers([...last], ["begun", "done", "ended with exit code 0"])
      assert.isFalse(last.some((row) => row.includes("working")))
      for (const row of last) assert.isAtMost(widthOf(row), columns)
    }).pipe(Effect.scoped),
  )

  it.live("Ctrl-C interrupts the turn and shows its end", () =>
    Effect.gen(function* () {
      const pty = yield* exec(columns, [free, ...full, "run: sleep 60"])
      yield* pty.shows("$ ")
      pty.type("\u0003")
      assert.strictEqual(yield* pty.ended, 130)
      assert.isTrue(pty.rows().some((row) => row.startsWith("failed: ")))
      assert.isFalse(pty.rows().some((row) => row.includes("working")))
    }).pipe(Effect.scoped),
  )

  it.live("says why nothing was started, once", () =>
    Effect.gen(function* () {
      const pty = yield* exec(columns, ["say hello"])
      assert.strictEqual(yield* pty.ended, 1)
      const text = pty.rows().join("")
      assert.match(text, /^Error: Not inside a trusted directory/)
      assert.strictEqual(text.split("trusted").length, 2)
    }).pipe(Effect.scoped),
  )

  it.live("says why the turn failed, once", () =>
    Effect.gen(function* () {
      const error = { message: "no such model", retryable: false }
      const pty = yield* exec(columns, [free, "hello"], yield* Home.scripted([[{ error }]]))
      assert.strictEqual(yield* pty.ended, 1)
      const rows = pty.rows()
      assert.deepStrictEqual(
        rows.filter((row) => row.includes("no such model")),
        ["Error: no such model"],
      )
    }).pipe(Effect.scoped),
  )

  it.live("a usage error fits and ends with 2", () =>
    Effect.gen(function* () {
      const pty = yield* exec(columns, ["--jsno", "hello"])
      assert.strictEqual(yield* pty.ended, 2)
      assert.isTrue(pty.rows().some((row) => row.includes("--jsno")))
      for (const row of pty.rows()) assert.isAtMost(widthOf(row), columns)
    }).pipe(Effect.scoped),
  )

  it.live("--json prints events only", () =>
    Effect.gen(function* () {
      const pty = yield* exec(columns, [free, "--json", "say hello"])
      assert.strictEqual(yield* pty.ended, 0)
      for (const line of pty.raw().trim().split("\r\n")) assert.property(JSON.parse(line), "type")
    }).pipe(Effect.scoped),
  )
})

describe("colours", () => {
  it.live("are written on a terminal, unless they are declined", () =>
    Effect.gen(function* () {
      const colored = yield* exec(80, [free, "say hello"])
      yield* colored.ended
      assert.include(colored.raw(), "\u001B[36m")
      const plain = yield* exec(80, [free, "--color", "never", "say hello"])
      yield* plain.ended
      assert.notInclude(plain.raw(), "\u001B[36m")
    }).pipe(Effect.scoped),
  )
})
