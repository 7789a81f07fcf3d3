import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdirSync, writeFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { buildIfMissing, entry } from "./support/BuiltProgram.ts"
import { home } from "./support/Home.ts"
import { environment } from "./support/Server.ts"

beforeAll(buildIfMissing)

/** Runs a shell command with a ping on its input, with `$ENTRY` and `$NODE` to start the server by. */
const sh = (command: string, env: Readonly<Record<string, string | undefined>>, cwd: string) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>(
        (resolve) => {
          const child = execFile(
            "sh",
            ["-c", command],
            {
              cwd,
              env: { ...environment({ home: cwd, env }), NODE: process.execPath, ENTRY: entry },
            },
            (error, stdout, stderr) =>
              resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
          )
          child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        },
      ),
  )

const pong = '{"jsonrpc":"2.0","id":1,"result":{}}\n'
const mcp = '"$NODE" "$ENTRY" mcp'

describe("colloquy mcp, started in unusual conditions", () => {
  it.live("a directory removed under it is reported in one line, exit code 1", () =>
    Effect.gen(function* () {
      const directory = yield* home()
      const gone = join(directory, "gone")
      mkdirSync(gone)
      assert.deepStrictEqual(yield* sh(`rmdir "${gone}"; ${mcp}`, {}, gone), {
        code: 1,
        stdout: "",
        stderr: "colloquy: the current directory was removed\n",
      })
    }),
  )

  for (const value of ["", "."]) {
    it.live(
      `no configuration is taken from the directory where HOME is ${JSON.stringify(value)}`,
      () =>
        Effect.gen(function* () {
          const directory = yield* home()
          mkdirSync(join(directory, ".colloquy"))
          writeFileSync(join(directory, ".colloquy", "config.toml"), "not = toml = at all")
          const { code, stdout } = yield* sh(
            mcp,
            { HOME: value, COLLOQUY_HOME: undefined },
            directory,
          )
          assert.deepStrictEqual({ code, stdout }, { code: 0, stdout: pong })
        }),
    )
  }

  for (const [name, redirections] of [
    ["stderr is closed", "2>&-"],
    ["stderr is full", "2>/dev/full"],
  ] as const) {
    it.live(`it serves when ${name}`, () =>
      Effect.gen(function* () {
        const { code, stdout } = yield* sh(`${mcp} ${redirections}`, {}, yield* home())
        assert.deepStrictEqual({ code, stdout }, { code: 0, stdout: pong })
      }),
    )
  }

  for (const [name, redirections] of [
    ["stdin is closed", "<&-"],
    ["stdin is /dev/null", "</dev/null"],
    ["stdout is closed", ">&-"],
    ["stdout is full", ">/dev/full"],
  ] as const) {
    it.live(`L9 it ends at once when ${name}`, () =>
      Effect.gen(function* () {
        const { code, stdout } = yield* sh(`${mcp} ${redirections}`, {}, yield* home())
        assert.deepStrictEqual({ code, stdout }, { code: 0, stdout: "" })
      }),
    )
  }

  it.live("a config.toml that is a directory is reported in one line, exit code 1", () =>
    Effect.gen(function* () {
      const directory = yield* home()
      rmSync(join(directory, "config.toml"))
      mkdirSync(join(directory, "config.toml"))
      assert.deepStrictEqual(yield* sh(mcp, {}, directory), {
        code: 1,
        stdout: "",
        stderr: `error loading config: ${join(directory, "config.toml")}: cannot be read (EISDIR)\n`,
      })
    }),
  )
})
