/** The message of a test that waits for a screen that never comes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Home from "./Home.ts"
import * as Pty from "./Pty.ts"

describe("a program in a pseudo-terminal", () => {
  it.live("that never shows what is waited for fails the wait with the rows of its screen", () =>
    Effect.gen(function* () {
      const cwd = yield* Home.directory()
      const env = { HOME: cwd, COLLOQUY_HOME: cwd }
      const after = "echo the last row"
      const options = { columns: 80, cwd, env, after, patience: "100 millis" } as const
      const pty = yield* Pty.start(["no-such-command"], options)
      yield* pty.ended
      yield* pty.shows("the last row")
      const { message } = yield* Effect.flip(pty.shows("a row that never comes"))
      assert.match(message, /^expected a row with "a row that never comes"; the \d+ rows are:\n/)
      assert.include(message, "\n| the last row")
    }).pipe(Effect.scoped),
  )
})
