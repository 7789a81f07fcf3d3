/** Checks `@modelcontextprotocol/inspector --cli`, with which people inspect a server. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { execFile } from "node:child_process"
import { join } from "node:path"
import { describe } from "vitest"
import { buildIfMissing } from "../test/support/BuiltProgram.ts"
import type { ToolResult } from "../test/support/Server.ts"
import { inspectorLine } from "./ClientsPage.ts"
import { describeClient, folderOf, server } from "./Driver.ts"
import { listening } from "./Listening.ts"
import { run } from "./Program.ts"

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

/** The words that name the server. */
type Named = (
  overrides: ReadonlyArray<string>,
) => Effect.Effect<ReadonlyArray<string>, never, Scope.Scope>

const overStdio: Named = (overrides) =>
  Effect.map(server(overrides), ({ args, command, env }) => {
    const pairs = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`])
    return [command, ...args, ...pairs]
  })

const overHttp =
  (path: string, ...more: ReadonlyArray<string>): Named =>
  (overrides) =>
    Effect.map(listening(overrides), ({ token, url }) => {
      const header = ["--header", `Authorization: Bearer ${token}`]
      return [`${url}${path}`, ...more, ...header]
    })

const inspect = (
  named: Named,
  words: ReadonlyArray<string>,
  overrides: ReadonlyArray<string> = [],
) =>
  Effect.gen(function* () {
    const target = yield* named(overrides)
    const folder = folderOf("@modelcontextprotocol/inspector")
    // The server first: `--tool-arg` takes every word that follows it.
    const all = [join(folder, bin), "--cli", ...target, ...words]
    const env = { PATH: process.env["PATH"], HOME: folder }
    return yield* Effect.promise(
      () =>
        new Promise<Ran>((resolve) => {
          // The inspector keeps a catalogue of servers in the home directory.
          const options = { cwd: folder, env, timeout: 20_000 }
          execFile(process.execPath, all, options, (error, stdout, stderr) =>
            resolve({
              code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1,
              output: stdout === "" ? stderr : stdout,
            }),
          )
        }),
    )
  })

const checks = (named: Named) => {
  it.live("tools/list finds nothing to complain of in the schemas", () =>
    Effect.gen(function* () {
      const { code, output } = yield* inspect(named, ["--method", "tools/list", "--strict"])
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
      const { code, output } = yield* inspect(named, [
        ...call,
        "--tool-arg",
        "prompt=say hello inspector",
      ])
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
        named,
        [...call, "--tool-arg", "prompt=run: touch x"],
        ['approval_policy="untrusted"', "approval_timeout_sec=1"],
      )
      assert.strictEqual(code, 0, output)
      assert.include((JSON.parse(output) as ToolResult).content[0]?.text, "exec command rejected")
    }),
  )
}

describeClient("@modelcontextprotocol/inspector", () => {
  describe("standard streams", () => checks(overStdio))
  describe("HTTP with the handshake", () =>
    checks(overHttp("/mcp", "--transport", "http", "--protocol-era", "legacy")))
  describe("HTTP without a handshake", () =>
    checks(overHttp("/mcp", "--transport", "http", "--protocol-era", "modern")))
  describe("SSE", () => checks(overHttp("/sse", "--transport", "sse")))

  it.live("the line of the page lists the tools over HTTP", () =>
    Effect.gen(function* () {
      const { token, url } = yield* listening()
      const line = inspectorLine({ PORT: Number(new URL(url).port), TOKEN: token })
      const folder = folderOf("@modelcontextprotocol/inspector")
      const program = `'${process.execPath}' '${join(folder, bin)}'`
      const words = line.replace(/^mcp-inspector/, program)
      const env = { PATH: process.env["PATH"] ?? "", HOME: folder }
      const launch = { command: "/bin/sh", args: ["-c", words], cwd: folder, env }
      const { code, stderr, stdout } = yield* Effect.promise(() => run(launch, 20_000))
      assert.strictEqual(code, 0, stderr)
      assert.include(stdout, '"codex-reply"')
    }),
  )

  it.live("over HTTP without the token it says that a login is required", () =>
    Effect.gen(function* () {
      const withoutToken: Named = () =>
        Effect.map(listening(), ({ url }) => [`${url}/mcp`, "--transport", "http"])
      const words = ["--stored-auth-only", "--method", "tools/list"]
      const { code, output } = yield* inspect(withoutToken, words)
      assert.strictEqual(code, 3)
      assert.include(output, "auth_required")
    }),
  )
})
