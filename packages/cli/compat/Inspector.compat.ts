/** Checks `@modelcontextprotocol/inspector --cli`, with which people inspect a server. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import type { ToolResult } from "../test/support/Server.ts"
import { describeClient, folderOf, server } from "./Driver.ts"

beforeAll(buildIfMissing)

const bin = join(
  "node_modules",
  "@modelcontextprotocol",
  "inspector",
  "clients/launcher/build/index.js",
)

interface Ran {
  readonly code: number
  readonly output: string
}

const inspect = (words: ReadonlyArray<string>, overrides: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const { command, args, env } = yield* server(overrides)
    const folder = folderOf("@modelcontextprotocol/inspector")
    const pairs = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`])
    // The server's command first: `--tool-arg` takes every word that follows it.
    const all = [join(folder, bin), "--cli", command, ...args, ...pairs, ...words]
    return yield* Effect.promise(
      () =>
        new Promise<Ran>((resolve) => {
          // The inspector keeps a catalogue of servers in the home directory.
          const options = { cwd: folder, env: { ...env, HOME: folder }, timeout: 20_000 }
          execFile(process.execPath, all, options, (error, stdout, stderr) =>
            resolve({
              code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1,
              output: stdout === "" ? stderr : stdout,
            }),
          )
        }),
    )
  })

describeClient("@modelcontextprotocol/inspector", () => {
  it.live("tools/list finds nothing to complain of in the schemas", () =>
    Effect.gen(function* () {
      const { code, output } = yield* inspect(["--method", "tools/list", "--strict"])
      assert.strictEqual(code, 0, output)
      const { tools } = JSON.parse(output) as {
        readonly tools: ReadonlyArray<{ readonly name: string; readonly inputSchema: object }>
      }
      assert.includeMembers(
        tools.map(({ name }) => name),
        ["codex", "codex-reply"],
      )
    }),
  )

  it.live("tools/call runs a turn", () =>
    Effect.gen(function* () {
      const call = ["--method", "tools/call", "--tool-name", "codex"]
      const { code, output } = yield* inspect([...call, "--tool-arg", "prompt=say hello inspector"])
      assert.strictEqual(code, 0, output)
      const { content, structuredContent } = JSON.parse(output) as ToolResult
      assert.strictEqual(content[0]?.text, "hello inspector")
      assert.strictEqual(structuredContent?.content, "hello inspector")
    }),
  )

  it.live("tools/call of a command that would be asked for ends", () =>
    Effect.gen(function* () {
      const call = ["--method", "tools/call", "--tool-name", "codex"]
      const { code, output } = yield* inspect(
        [...call, "--tool-arg", "prompt=run: touch x"],
        ['approval_policy="untrusted"', "approval_timeout_sec=1"],
      )
      assert.strictEqual(code, 0, output)
      assert.include((JSON.parse(output) as ToolResult).content[0]?.text, "exec command rejected")
    }),
  )
})
