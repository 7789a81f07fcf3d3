import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as StdioCommand from "../src/StdioCommand.ts"

/**
 * A program that prints its process id, then echoes its input, and keeps running when its input
 * ends if an argument asks for it.
 */
const echo = `
  process.stdout.write(process.pid + "\\n")
  process.stdin.pipe(process.stdout, { end: false })
  if (process.argv[1] === "stay") setInterval(() => {}, 1000)
`

const command = (...words: ReadonlyArray<string>): StdioCommand.StdioCommand => ({
  command: process.execPath,
  args: ["-e", echo, ...words],
  stderr: "ignore",
})

const texts = (frames: ReadonlyArray<{ readonly _tag: string }>) =>
  frames.map((frame) => ("text" in frame ? frame.text : frame._tag))

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe("StdioCommand", () => {
  for (const words of [[], ["stay"]]) {
    it.live(
      `L8 exchanges texts with the process, which does not outlive the scope: ${words.join(" ")}`,
      () =>
        Effect.gen(function* () {
          const pid = yield* Effect.scoped(
            Effect.gen(function* () {
              const connection = yield* StdioCommand.open({ ...command(...words), maxLeaveMs: 100 })
              const [born] = texts(yield* connection.receive)
              yield* connection.send(['{"a":1}'])
              assert.deepStrictEqual(texts(yield* connection.receive), ['{"a":1}'])
              assert.isTrue(isAlive(Number(born)))
              return Number(born)
            }),
          )
          assert.isFalse(isAlive(pid))
        }),
    )
  }

  it.live.each<readonly [what: string, server: StdioCommand.StdioCommand, reason: string]>([
    [
      "a command that does not exist",
      { command: "/nowhere/at-all" },
      "`/nowhere/at-all` cannot be started (ENOENT)",
    ],
    [
      "a command that is not a program",
      { command: "/dev/null" },
      "`/dev/null` cannot be started (EACCES)",
    ],
    [
      "a directory that does not exist",
      { ...command(), cwd: "/nowhere" },
      `\`${process.execPath}\` cannot be started in /nowhere (ENOENT)`,
    ],
  ])("%s: says what cannot be started, and why", ([, server, reason]) =>
    Effect.gen(function* () {
      const closed = yield* Effect.flip(StdioCommand.open(server))
      assert.deepStrictEqual([closed._tag, closed.message], ["ConnectionClosed", reason])
    }),
  )

  const dying = (script: string): StdioCommand.StdioCommand => ({
    command: process.execPath,
    args: ["-e", script],
    stderr: "ignore",
  })

  it.live.each<readonly [what: string, script: string, why: string]>([
    [
      "exits with a code",
      `console.error("no such\\nsetting: x"); process.exit(3)`,
      "exited with code 3; the last lines of its standard error:\nno such\nsetting: x",
    ],
    ["exits without a word", "process.exit(0)", "exited with code 0"],
    ["is killed", `process.kill(process.pid, "SIGKILL")`, "was ended by SIGKILL"],
  ])("a process that %s: says so, with its last lines", ([, script, why]) =>
    Effect.gen(function* () {
      const connection = yield* StdioCommand.open(dying(script))
      yield* Effect.ignore(Effect.forever(connection.receive))
      assert.strictEqual(yield* connection.whyEnded, `\`${process.execPath}\` ${why}`)
    }),
  )

  it.live("keeps only the end of a long error output", () =>
    Effect.gen(function* () {
      const script = `for (let n = 0; n < 20000; n++) console.error("line " + n)`
      const connection = yield* StdioCommand.open(dying(script))
      yield* Effect.ignore(Effect.forever(connection.receive))
      const lines = (yield* connection.whyEnded).split("\n").slice(1)
      assert.deepStrictEqual([lines.length, lines.at(-1)], [10, "line 19999"])
    }),
  )
})
