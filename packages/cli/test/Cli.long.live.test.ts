import * as Script from "@colloquy/testing/ProviderScript"
import * as MockProvider from "@colloquy/testing/MockProvider"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { version } from "../src/server/Version.ts"
import * as CliProcess from "./CliProcess.ts"
import { isRunning } from "./support/Processes.ts"

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
}
const codex = (id: number, args: unknown) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "codex", arguments: args },
})

interface Line {
  readonly id?: number
  readonly result?: { readonly content?: ReadonlyArray<{ readonly text: string }> }
}
/** Every line must be one JSON value (L9). */
const lines = (stdout: string): ReadonlyArray<Line> =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line)

const answer = (stdout: string, id: number) =>
  lines(stdout).find((line) => line.id === id)?.result?.content?.[0]?.text

const entry = fileURLToPath(new URL("../bin/colloquy.mjs", import.meta.url))

/** Exit code and stderr of a command whose output goes through a shell. */
const inShell = (script: string) => {
  const { status, stderr } = spawnSync("bash", ["-c", script, process.execPath, entry], {
    encoding: "utf8",
  })
  return [status, stderr]
}

describe("colloquy", () => {
  for (const command of ["generate-json-schema app-server", "--help"]) {
    it(`${command}: a reader that leaves early is not an error, and no stack is shown`, () => {
      const left = `"$0" "$1" ${command} | true; exit "\${PIPESTATUS[0]}"`
      assert.deepStrictEqual(inShell(left), [0, ""])
    })

    it.skipIf(!existsSync("/dev/full"))(
      `${command}: an output that cannot be written is reported in one line`,
      () => {
        assert.deepStrictEqual(inShell(`"$0" "$1" ${command} > /dev/full`), [
          1,
          "colloquy: stdout cannot be written (ENOSPC)\n",
        ])
      },
    )
  }

  it.live("--version prints the version", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* CliProcess.run(["--version"]), {
        code: 0,
        signal: null,
        stdout: `colloquy 0.153.4+colloquy.${version}\n`,
        stderr: "",
      })
    }),
  )

  it.live("a bad -c is a usage error", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* CliProcess.run(["mcp", "-c", "novalue"]), {
        code: 2,
        signal: null,
        stdout: "",
        stderr: "colloquy: Invalid override (missing '='): \"novalue\"; see `colloquy --help`\n",
      })
    }),
  )

  it.live("--help and no command at all print the same page", () =>
    Effect.gen(function* () {
      const [help, bare] = yield* Effect.all([CliProcess.run(["--help"]), CliProcess.run([])])
      assert.deepStrictEqual(help, bare)
      assert.strictEqual(help.code, 0)
      assert.include(help.stdout, "Usage: colloquy <command>")
    }),
  )

  it.live("an option that the command does not take is one line on stderr, exit code 2", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* CliProcess.run(["generate-ts", "-c", "model=x"]), {
        code: 2,
        signal: null,
        stdout: "",
        stderr:
          "colloquy: `--config` and the options that set one key are not valid with `generate-ts`, which reads no configuration; see `colloquy --help`\n",
      })
    }),
  )

  it.live("an unknown command is one line on stderr, nothing on stdout, exit code 2", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* CliProcess.run(["mpc"]), {
        code: 2,
        signal: null,
        stdout: "",
        stderr: "colloquy: unknown command `mpc`, did you mean `mcp`?; see `colloquy --help`\n",
      })
    }),
  )
})

describe.skipIf(!existsSync("/proc/self"))("a state directory that cannot be created", () => {
  it.live("is reported at once by a command that has to write there", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* CliProcess.run(["generate-ts", "-o", "/proc/colloquy/made"])
      assert.deepStrictEqual(
        { code, stderr },
        { code: 1, stderr: "colloquy: /proc/colloquy/made cannot be written (ENOENT)\n" },
      )
    }),
  )

  it.live("L9 does not prevent the server from responding or from ending", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(["mcp", "-c", "model_provider=offline"], {
        COLLOQUY_HOME: "/proc/colloquy",
      })
      cli.write({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "codex", arguments: { prompt: "hi" } },
      })
      const stdout = yield* cli.stdoutHas('"id":1')
      assert.include(stdout, "set COLLOQUY_HOME to use another directory")
      cli.child.stdin.end()
      assert.strictEqual((yield* cli.outcome).code, 0)
    }),
  )
})

describe("colloquy mcp", () => {
  for (const [name, config, args, message] of [
    [
      "a broken config.toml",
      'model = "x"\nkey = sk-secret\n',
      [],
      "error loading config: DIR/config.toml: TOML parse error: Invalid value at line 2, column 16",
    ],
    [
      "a bad value in config.toml",
      'model_reasoning_effort = "bogus"',
      [],
      "error loading config: DIR/config.toml:1: unknown variant `bogus`, expected one of `none`, `minimal`, `low`, `medium`, `high`, `xhigh` in `model_reasoning_effort`",
    ],
    [
      "a misspelt key that decides where prompts go",
      'model = "x"\nmodel_providr = "local"\n',
      [],
      "error loading config: DIR/config.toml:2: unknown field `model_providr`, did you mean `model_provider`? in `model_providr`",
    ],
    [
      "such a key in a profile that is not selected",
      '[profiles.d]\nmodel_providr = "local"\n',
      [],
      "error loading config: DIR/config.toml:2: unknown field `model_providr`, did you mean `model_provider`? in `profiles.d.model_providr`",
    ],
    [
      "such a key of -c",
      "",
      ["-c", "model_providr=local"],
      "error loading config: unknown field `model_providr`, did you mean `model_provider`? in `model_providr`",
    ],
    [
      "a misspelt key of a login",
      '[login]\nbase_ulr = "http://local"\n',
      [],
      "error loading config: DIR/config.toml:2: unknown field `base_ulr`, did you mean `base_url`? in `login.base_ulr`",
    ],
    [
      "an empty model",
      'model = ""',
      [],
      "error loading config: DIR/config.toml:1: invalid value: string, expected a name that is not empty in `model`",
    ],
    [
      "an unknown profile",
      "",
      ["-c", "profile=nope"],
      "error loading config: config profile `nope` not found",
    ],
    [
      "a script that is missing",
      "",
      ["-c", "offline.script=/no/such.json"],
      "error loading config: /no/such.json: cannot be read (ENOENT) in `offline.script`",
    ],
  ] as const) {
    it.live(`${name} ends it with one line on stderr and exit code 1`, () =>
      Effect.gen(function* () {
        const directory = yield* CliProcess.stateDirectory(config)
        const outcome = yield* CliProcess.run(["mcp", ...args], { COLLOQUY_HOME: directory })
        assert.deepStrictEqual(outcome, {
          code: 1,
          signal: null,
          stdout: "",
          stderr: `${message.replace("DIR", directory)}\n`,
        })
      }),
    )
  }

  it.live("the warning about a misspelt key precedes the error that it causes", () =>
    Effect.gen(function* () {
      const directory = yield* CliProcess.stateDirectory('[mcp_servers.a]\ncomand = "x"\n')
      const { code, stderr } = yield* CliProcess.run(["mcp"], { COLLOQUY_HOME: directory })
      assert.strictEqual(code, 1)
      const [warning, error, ...more] = stderr.trimEnd().split("\n")
      assert.strictEqual(
        warning,
        `colloquy: ${directory}/config.toml:2: \`mcp_servers.a.comand\`: unknown key, ignored; did you mean \`mcp_servers.a.command\`?`,
      )
      assert.match(error ?? "", /^error loading config: .*`mcp_servers\.a`/)
      assert.deepStrictEqual(more, [])
    }),
  )

  it.live(
    "L9 it serves until the end of its input, answers by the offline model when that is requested, and exits with 0",
    () =>
      Effect.gen(function* () {
        const cli = yield* CliProcess.start(["mcp", "-c", "modle=x"])
        cli.write(initialize, codex(2, { prompt: "hi" }))
        yield* cli.stdoutHas('"id":2,"result"')
        cli.child.stdin.end()
        const outcome = yield* cli.outcome
        assert.strictEqual(outcome.code, 0)
        assert.strictEqual(
          answer(outcome.stdout, 2),
          "This is the offline model `offline`. It received: hi",
        )
        assert.deepStrictEqual(outcome.stderr.split("\n"), [
          "colloquy: -c modle: unknown key, ignored; did you mean `model`?",
          "",
        ])
      }),
  )

  it.live("the offline model follows the script it is given", () =>
    Effect.gen(function* () {
      const directory = yield* CliProcess.stateDirectory()
      const script = join(directory, "script.json")
      writeFileSync(script, JSON.stringify([[{ text: "scripted" }]]))
      const cli = yield* CliProcess.start(["mcp", "-c", `offline.script=${script}`])
      cli.write(initialize, codex(2, { prompt: "hi" }))
      yield* cli.stdoutHas('"id":2,"result"')
      cli.child.stdin.end()
      assert.strictEqual(answer((yield* cli.outcome).stdout, 2), "scripted")
    }),
  )

  it.live("a provider of config.toml is called over HTTP with the key in its variable", () =>
    Effect.gen(function* () {
      const provider = yield* MockProvider.make([Script.reply(Script.deltas("from ", "afar"))])
      const directory = yield* CliProcess.stateDirectory(
        `model = "m"\nmodel_provider = "mock"\n[model_providers.mock]\nname = "Mock"\nwire_api = "responses"\nbase_url = "${provider.baseUrl}"\nenv_key = "MOCK_KEY"\n`,
      )
      const cli = yield* CliProcess.start(["mcp"], { CODEX_HOME: directory, MOCK_KEY: "sk-mock" })
      cli.write(initialize, codex(2, { prompt: "hi" }))
      yield* cli.stdoutHas('"id":2,"result"')
      cli.child.stdin.end()
      const outcome = yield* cli.outcome
      assert.strictEqual(answer(outcome.stdout, 2), "from afar")
      assert.strictEqual(outcome.stderr, "")
      const [request] = yield* provider.requests
      assert.strictEqual(request?.headers["authorization"], "Bearer sk-mock")
    }),
  )

  for (const [signal, code] of [
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const) {
    it.live(
      `L9 ${signal} during a turn ends it like the end of the input, with exit code ${code}`,
      () =>
        Effect.gen(function* () {
          const cli = yield* CliProcess.start([
            "mcp",
            "-coffline.delta_delay_ms=60000",
            "-cshutdown_grace_ms=50",
          ])
          cli.write(initialize, codex(2, { prompt: "hi" }))
          yield* cli.stdoutHas("task_started")
          cli.child.kill(signal)
          const outcome = yield* cli.outcome
          assert.strictEqual(outcome.code, code)
          assert.deepStrictEqual(
            lines(outcome.stdout).filter((line) => line.id === 2).length,
            1,
            "the call in flight is answered",
          )
        }),
    )
  }

  it.live("L9 a second signal does not wait for the shutdown", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start([
        "mcp",
        "-coffline.delta_delay_ms=60000",
        "-cshutdown_grace_ms=60000",
      ])
      cli.write(initialize, codex(2, { prompt: "hi" }))
      yield* cli.stdoutHas("task_started")
      cli.child.kill("SIGTERM")
      // The process must have received the first signal before the second is sent, or both count as one.
      yield* Effect.sleep("100 millis")
      cli.child.kill("SIGTERM")
      assert.strictEqual((yield* cli.outcome).code, 143)
    }),
  )

  it.live("L9 a client that no longer reads ends it with 0", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(["mcp"])
      cli.write(initialize)
      yield* cli.stdoutHas('"id":1')
      cli.child.stdout.destroy()
      cli.write({ jsonrpc: "2.0", id: 2, method: "ping" })
      assert.strictEqual((yield* cli.outcome).code, 0)
    }),
  )

  /** Code that runs inside the server after a moment, as the code of a faulty dependency might. */
  const inside = (code: string) => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`setTimeout(()=>{${code}},200)`)}`,
  })

  it.live("L9 what a dependency prints goes to stderr", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(
        ["mcp"],
        inside('console.log("noise");process.stdout.write("more\\n")'),
      )
      cli.write(initialize)
      yield* cli.stderrHas("more")
      cli.child.stdin.end()
      const { code, stdout } = yield* cli.outcome
      assert.deepStrictEqual([code, lines(stdout).length], [0, 1])
    }),
  )

  it.live("L13 an unhandled rejection is logged in one line and the server continues", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(["mcp"], inside('Promise.reject(new Error("boom\\nat"))'))
      yield* cli.stderrHas("colloquy: unhandled rejection: Error: boom\n")
      cli.write(initialize)
      yield* cli.stdoutHas('"id":1,"result"')
      cli.child.stdin.end()
      assert.strictEqual((yield* cli.outcome).code, 0)
    }),
  )

  it.live("an uncaught exception is logged in one line and shuts the server down with 1", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(["mcp"], inside('throw new TypeError("boom\\nat")'))
      const { code, stderr } = yield* cli.outcome
      assert.strictEqual(code, 1)
      assert.strictEqual(
        stderr.split("\n").at(-2),
        "colloquy: uncaught exception, shutting down: TypeError: boom",
      )
    }),
  )

  it.live("L6 a stderr that no process reads blocks nothing", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(["mcp"], { COLLOQUY_LOG: "trace" })
      cli.child.stderr.pause()
      cli.write(initialize)
      // Each invalid line is logged. The log is larger than the pipe, its reader and the queue before it hold together.
      for (let n = 0; n < 10_000; n++) cli.child.stdin.write("x\n")
      cli.write({ jsonrpc: "2.0", id: "last", method: "ping" })
      yield* cli.stdoutHas('"id":"last"')
      cli.child.stdin.end()
      cli.child.stderr.resume()
      assert.strictEqual((yield* cli.outcome).code, 0)
    }),
  )
})

describe("colloquy demo", () => {
  it.live("four turns are shown in plain lines without a terminal", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* CliProcess.run(["demo"])
      assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
      assert.strictEqual(stdout.match(/^› /gm)?.length, 4)
      assert.strictEqual(
        stdout.match(/^ {2}— \d+ tokens in, \d+ out · first word after /gm)?.length,
        4,
      )
      assert.match(stdout, /^ {2}thread {2}[0-9a-f-]{36}$/m)
      assert.match(stdout, /^ {2}model {3}offline, built in/m)
      assert.include(stdout, "All turns completed.")
      assert.notInclude(stdout, "\u001b")
    }),
  )

  it.live(
    "a command and a patch are put as questions, approved and run, and leave nothing behind",
    () =>
      Effect.gen(function* () {
        const { stdout } = yield* CliProcess.run(["demo"])
        const script = "echo 'to do: try Colloquy' > notes.txt; cat notes.txt"
        assert.match(
          stdout,
          /^ {2}\? Allow Colloquy to run `bash -lc .* in `.*`\?\n {4}If approved, it runs without the sandbox: /m,
        )
        assert.include(
          stdout,
          [
            "  ✓ approved by the demo",
            `  $ ${script}`,
            "  │ to do: try Colloquy",
            "  exit 0 · ",
          ].join("\n"),
        )
        const changed = / {6}update "(\S+)"\n {2}✓ approved by the demo\n {2}± 1 file\n {2}applied/
        const file = changed.exec(stdout)?.[1]
        assert.isString(file)
        assert.include(stdout, "  │ -to do: try Colloquy\n  │ +done: tried Colloquy\n")
        assert.isFalse(existsSync(dirname(file ?? "")))
      }),
  )

  it.live("a failed turn is reported with its reason, exit code 1", () =>
    Effect.gen(function* () {
      const outcome = yield* CliProcess.run(["demo", "-c", "model_provider=openai"])
      assert.strictEqual(outcome.code, 1)
      assert.include(outcome.stdout, "✗ ")
      assert.include(outcome.stderr, "OPENAI_API_KEY")
    }),
  )

  it.live("an invalid configuration is reported before a server starts", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* CliProcess.run(["demo", "-c", "model="]), {
        code: 1,
        signal: null,
        stdout: "",
        stderr:
          "error loading config: invalid value: string, expected a name that is not empty in `model`\n",
      })
    }),
  )

  it.live("L8 leaves no server behind when it is stopped half way", () =>
    Effect.gen(function* () {
      const cli = yield* CliProcess.start(["demo", "-c", "offline.delta_delay_ms=60000"])
      const server = Number(/process (\d+)/.exec(yield* cli.stdoutHas("› Hello"))?.[1])
      assert.isTrue(isRunning(server))
      cli.child.kill("SIGINT")
      assert.strictEqual((yield* cli.outcome).code, 130)
      assert.isFalse(isRunning(server))
    }),
  )
})

describe("colloquy doctor", () => {
  it.live("reports what confines commands here and where the helper programs are", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* CliProcess.run(["doctor"])
      assert.strictEqual(stderr, "")
      const [sandbox, ...lines] = stdout.trimEnd().split("\n")
      assert.match(
        sandbox ?? "",
        code === 0
          ? /^ok {6}sandbox: \S+ [\d.]+$/
          : /^broken {2}sandbox: not available: .+ Advice: .+$/,
      )
      const helpers = lines.slice(code === 0 ? 1 : 0, -4)
      assert.match(lines.at(-5) ?? "", /^ok {6}state: \//)
      assert.match(lines.at(-4) ?? "", /^ok {6}config: \/\S+config\.toml$/)
      assert.strictEqual(
        lines.at(-3),
        "ok      provider: offline, built in, with the model offline",
      )
      assert.strictEqual(lines.at(-2), "ok      key: none needed")
      assert.match(lines.at(-1) ?? "", /^missing login: none found in \S+ or \S+$/)
      if (code === 0) {
        assert.match(
          lines[0] ?? "",
          /^(?:ok {6}named pipes: .+ keeps|missing named pipes: commands can write to those .+: .+ Advice:) .+$/,
        )
      }
      for (const line of helpers) assert.match(line, /^(ok {6}\w+: \/|missing \w+: not found\. )/)
      assert.isAbove(helpers.length, 1)
    }),
  )
})
