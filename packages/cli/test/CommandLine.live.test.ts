/** The command lines that clients of the original start, against the built program. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { mkdirSync, readFileSync, realpathSync } from "node:fs"
import * as CliProcess from "./CliProcess.ts"
import { version } from "../src/Version.ts"

type Members = Readonly<Record<string, unknown>>

const initialize = {
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
}

/** The results of `requests`, by id, of a server that is started with `args`. */
const converse = Effect.fnUntraced(function* (
  args: ReadonlyArray<string>,
  requests: ReadonlyArray<Members>,
  variables?: Readonly<Record<string, string>>,
) {
  const cli = yield* CliProcess.start(args, variables)
  cli.write(...requests.map((request) => ({ jsonrpc: "2.0", ...request })))
  cli.child.stdin.end()
  const { code, stderr, stdout } = yield* cli.outcome
  assert.strictEqual(code, 0, stderr)
  const responses = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Members => JSON.parse(line))
  return (id: number): unknown => responses.find((response) => response["id"] === id)?.["result"]
})

const flags = ["-m", "gpt-x", "-s", "workspace-write", "-a", "never", "-c", "mcp_events=off"]

const commands: ReadonlyArray<ReadonlyArray<string>> = [
  ["mcp"],
  ["mcp-server"],
  ["mcp", "serve"],
  ["app-server"],
]

describe("the command line of the original", () => {
  for (const command of commands) {
    it.live(`options before \`${command.join(" ")}\` set what conversations start with`, () =>
      Effect.gen(function* () {
        const directory = realpathSync(yield* CliProcess.stateDirectory())
        mkdirSync(`${directory}/project`)
        const result = yield* converse(
          [...flags, "-C", `${directory}/project`, ...command, "--listen", "stdio://"],
          [initialize, { method: "initialized" }, { id: 2, method: "newConversation", params: {} }],
        )
        const made = result(2) as Members
        assert.strictEqual(made["model"], "gpt-x")
        const config = yield* CliProcess.run([...flags, "--cd", `${directory}/project`, "config"])
        assert.match(config.stdout, /^sandbox_mode = "workspace-write" .*# -c/m)
        assert.match(config.stdout, /^approval_policy = "never" .*# -c/m)
      }).pipe(Effect.scoped),
    )
  }

  it.live("-C names the directory that conversations start in, from the current one", () =>
    Effect.gen(function* () {
      const directory = realpathSync(yield* CliProcess.stateDirectory())
      mkdirSync(`${directory}/project`)
      const prompt = "run: pwd > here"
      const result = yield* converse(
        ["-C", `${directory}/project`, "-s", "danger-full-access", "-a", "never", "mcp"].concat([
          "-c",
          "shutdown_grace_ms=20000",
        ]),
        [
          initialize,
          { id: 2, method: "tools/call", params: { name: "codex", arguments: { prompt } } },
        ],
      )
      assert.notProperty(result(2), "isError")
      assert.strictEqual(
        readFileSync(`${directory}/project/here`, "utf8"),
        `${directory}/project\n`,
      )
      const missing = yield* CliProcess.run(["-C", `${directory}/absent`, "mcp"])
      assert.deepStrictEqual(
        [missing.code, missing.stdout, missing.stderr],
        [1, "", `colloquy: ${directory}/absent is not a directory\n`],
      )
    }).pipe(Effect.scoped),
  )

  it.live("--version, userAgent and serverInfo.version state the compatible version first", () =>
    Effect.gen(function* () {
      for (const [args, compatible] of [
        [[], "0.153.4"],
        [["-c", "compatibility_version=1.2.3"], "1.2.3"],
      ] as const) {
        const printed = yield* CliProcess.run([...args, "--version"])
        const mcp = (yield* converse(["mcp", ...args], [initialize]))(1) as Members
        const app = (yield* converse(["app-server", ...args], [initialize]))(1) as Members
        const { version: stated } = mcp["serverInfo"] as Members
        const texts = [printed.stdout, String(stated), String(app["userAgent"])]
        for (const text of texts) {
          assert.strictEqual(/\d+\.\d+\.\d+/.exec(text)?.[0], compatible)
          assert.match(text, /colloquy/)
          assert.include(text, version)
        }
      }
    }).pipe(Effect.scoped),
  )

  it.live("a compatibility_version that is no version is refused with the key", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* CliProcess.run(["mcp", "-c", "compatibility_version=new"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /expected a version `x\.y\.z` in `compatibility_version`/)
    }),
  )
})
