import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as LogLayer from "../../src/log/LogLayer.ts"
import * as StderrLog from "../../src/log/StderrLog.ts"

describe("StderrLog", () => {
  it("a reader that does not read costs bounded memory, and gets a note about the lines it missed", () => {
    const lines: Array<string> = []
    const target = { writableLength: 0, write: (text: string) => lines.push(text) > 0 }
    const write = StderrLog.lineWriter(target)
    write("one")
    target.writableLength = 300 * 1024
    write("two")
    write("three")
    target.writableLength = 0
    write("four")
    assert.deepStrictEqual(lines, ["one\n", "colloquy: 2 log lines were dropped\nfour\n"])
  })

  it("L7 writes no control characters for a terminal", () => {
    const lines: Array<string> = []
    const target = { writableLength: 0, write: (text: string) => lines.push(text) > 0 }
    StderrLog.lineWriter(target)("call \u001b[2J\u202e denied\nnext")
    assert.deepStrictEqual(lines, ["call \\x1b[2J\\u202e denied\nnext\n"])
  })

  it("the level is read from COLLOQUY_LOG, in the original's form too", () => {
    assert.deepStrictEqual(
      [undefined, "info", " DEBUG ", "codex_core=trace", "a=info,error", "off", "loud"].map(
        StderrLog.levelOf,
      ),
      ["Warn", "Info", "Debug", "Trace", "Error", "None", "Warn"],
    )
  })

  it("an unknown level is reported with the known ones", () => {
    assert.deepStrictEqual([undefined, "info", "a=info,error"].map(StderrLog.levelWarning), [
      undefined,
      undefined,
      undefined,
    ])
    assert.strictEqual(
      StderrLog.levelWarning("verbose"),
      "COLLOQUY_LOG: unknown level, using `warn`; expected one of `off`, `error`, `warn`, `info`, `debug`, `trace`",
    )
  })

  it.effect("an entry below the level is not written and any other is one line", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const layer = LogLayer.layer({ write: (line) => lines.push(line), level: undefined })
      yield* Effect.provide(
        Effect.andThen(Effect.logInfo("quiet"), Effect.logWarning("two\nlines")),
        layer,
      )
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], "level=WARN")
      assert.include(lines[0], 'message="two\\nlines"')
      assert.notInclude(lines[0], "\n")
    }),
  )
})
