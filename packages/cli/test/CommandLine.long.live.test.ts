/** Tests the command lines with which clients of the original start the server, on the built program. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, mkdirSync, readFileSync, realpathSync } from "node:fs"
import * as CliProcess from "./CliProcess.ts"
import { version } from "../src/server/Version.ts"

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
  const last = requests.findLast(({ id }) => id !== undefined)?.["id"]
  // The end of the input gives a running turn only so much time, which a busy machine may use up.
  yield* Effect.race(cli.stdoutHas(`"id":${String(last)},"result"`), cli.outcome)
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
        assert.match(config.stdout, /^sandbox_mode = "workspace-write" .*# --sandbox$/m)
        assert.match(config.stdout, /^approval_policy = "never" .*# --ask-for-approval$/m)
      }).pipe(Effect.scoped),
    )
  }

  for (const [name, file, args] of [
    ["-p", "", ["-p", "d"]],
    ["config.toml", 'profile = "d"\n', []],
    ["-c", "", ["-c", "profile=d"]],
  ] as const) {
    it.live(`L13 -m, -s and -a override the profile that ${name} selects, which overrides -c`, () =>
      Effect.gen(function* () {
        const home = yield* CliProcess.stateDirectory(
          `${file}model_provider = "offline"\n[profiles.d]\nmodel = "profiled"\nsandbox_mode = "danger-full-access"\napproval_policy = "never"\n`,
        )
        const variables = { COLLOQUY_HOME: home }
        const started = (args: ReadonlyArray<string>) =>
          Effect.map(
            converse(
              [...args, "mcp", "-c", "mcp_events=on"],
              [
                initialize,
                {
                  id: 2,
                  method: "tools/call",
                  params: {
                    name: "codex",
                    arguments: { prompt: "run: touch made", cwd: home },
                  },
                },
              ],
              variables,
            ),
            () => existsSync(`${home}/made`),
          )
        const strict = ["-s", "read-only", "-a", "never", "-m", "chosen"]
        assert.isFalse(yield* started([...strict, ...args]))
        assert.isTrue(yield* started(["-c", "sandbox_mode=read-only", ...args]))
        const { stdout } = yield* CliProcess.run([...strict, ...args, "config"], variables)
        assert.match(stdout, /^model = "chosen" .*# --model$/m)
        assert.match(stdout, /^sandbox_mode = "read-only" .*# --sandbox$/m)
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

  for (const [name, file, args, problem] of [
    [
      "a bad compatibility_version",
      "compatibility_version = 'new'\n",
      [],
      /HOME\/config\.toml:1: .*`compatibility_version`/,
    ],
    [
      "a bad -c compatibility_version",
      "",
      ["-c", "compatibility_version=new"],
      /`compatibility_version`/,
    ],
    ["a broken config.toml", "model = \n", [], /HOME\/config\.toml: TOML parse error/],
    ["a missing directory", "", ["-C", "/no/such"], /\/no\/such is not a directory/],
  ] as const) {
    it.live(`--version with ${name} prints the version, and a warning on stderr`, () =>
      Effect.gen(function* () {
        const home = yield* CliProcess.stateDirectory(file)
        const { code, stderr, stdout } = yield* CliProcess.run([...args, "--version"], {
          COLLOQUY_HOME: home,
        })
        assert.deepStrictEqual([code, stdout], [0, `colloquy 0.153.4+colloquy.${version}\n`])
        assert.match(stderr, /^colloquy: warning: /)
        assert.match(stderr.replace(home, "HOME"), problem)
      }).pipe(Effect.scoped),
    )
  }

  it.live("an invalid compatibility_version is refused with the key", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* CliProcess.run(["mcp", "-c", "compatibility_version=new"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /expected a version `x\.y\.z` in `compatibility_version`/)
    }),
  )
})
