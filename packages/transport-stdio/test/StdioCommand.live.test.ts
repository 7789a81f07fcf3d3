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

  it.live("a process that exits is reported with its exit code and its last words", () =>
    Effect.gen(function* () {
      const words =
        'console.error("reading the configuration"); console.error("no such key"); process.exit(3)'
      const server = { command: process.execPath, args: ["-e", words], stderr: "ignore" } as const
      const connection = yield* StdioCommand.open(server)
      yield* Effect.flip(Effect.forever(connection.receive))
      assert.strictEqual(
        yield* connection.whyEnded ?? Effect.undefined,
        `the server \`${process.execPath}\` exited with code 3; the end of its standard error:\nreading the configuration\nno such key`,
      )
    }),
  )
})
