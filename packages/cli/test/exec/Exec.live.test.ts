/** The command `exec` of the built program, as a script uses it. */
import * as MockProvider from "@colloquy/testing/MockProvider"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Cli from "../CliProcess.ts"
import { buildIfMissing, entry } from "../support/BuiltProgram.ts"
import { directory, home, provided, scripted } from "../support/Home.ts"

beforeAll(buildIfMissing)

interface Given {
  readonly args: ReadonlyArray<string>
  /** The state directory. Default: a new one, with the offline model. */
  readonly state?: string
  readonly cwd?: string
  readonly input?: string
}

/** Runs `exec` outside of a repository. */
const exec = ({ args, cwd, input = "", state }: Given) =>
  Effect.gen(function* () {
    const place = cwd ?? (yield* directory())
    const cli = yield* Cli.start(["exec", "--skip-git-repo-check", "-C", place, ...args], {
      COLLOQUY_HOME: state ?? (yield* home()),
    })
    cli.child.stdin.end(input)
    return yield* cli.outcome
  })

type Line = {
  readonly type: string
  readonly thread_id?: string
  readonly item?: { text?: string; message?: string }
}

const linesOf = ({ stdout }: Cli.Outcome): ReadonlyArray<Line> =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line)

/** The lines on stderr by which a script finds an error. */
const errorsOf = ({ stderr }: Cli.Outcome) =>
  stderr.split("\n").filter((line) => line.startsWith("Error: "))

const typesOf = (outcome: Cli.Outcome) => linesOf(outcome).map(({ type }) => type)
const textOf = (outcome: Cli.Outcome) => linesOf(outcome).findLast(({ item }) => item)?.item?.text

/** The id of no conversation. */
const noId = "00000000-0000-4000-8000-000000000000"

const whole = ["thread.started", "turn.started", "item.completed", "turn.completed"]

describe("colloquy exec --json", () => {
  it.live.each(["--json", "--experimental-json"])("%s prints one event per line", (option) =>
    Effect.gen(function* () {
      const outcome = yield* exec({ args: [option, "say hi"] })
      assert.deepStrictEqual(typesOf(outcome), whole)
      assert.strictEqual(textOf(outcome), "hi")
      assert.strictEqual(outcome.code, 0)
    }),
  )

  it.live("goes on with a conversation by its id, and with the last one of the directory", () =>
    Effect.gen(function* () {
      const state = yield* home()
      const cwd = yield* directory()
      const first = yield* exec({ state, cwd, args: ["--json", "say one"] })
      const id = linesOf(first)[0]?.thread_id ?? ""
      const second = yield* exec({ state, cwd, args: ["--json", "resume", id, "say two"] })
      const third = yield* exec({ state, cwd, args: ["--json", "resume", "--last", "say three"] })
      const fourth = yield* exec({ state, cwd, args: ["--json", "resume", id], input: "say four" })
      assert.deepStrictEqual([second, third, fourth].map(textOf), ["two", "three", "four"])
      assert.deepStrictEqual(
        [second, third, fourth].map((outcome) => linesOf(outcome)[0]?.thread_id),
        [id, id, id],
      )
    }),
  )

  it.live("goes on with the provider that the command line names, whichever was stored", () =>
    Effect.gen(function* () {
      const state = yield* directory({ "config.toml": "" })
      const set = (...keys: ReadonlyArray<string>) => keys.flatMap((key) => ["-c", key])
      const table = ['name="Gone"', 'base_url="http://127.0.0.1:9"', "request_max_retries=0"]
      const gone = set(
        "model_provider=gone",
        "model=its-model",
        "model_reasoning_effort=low",
        ...table.map((key) => `model_providers.gone.${key}`),
      )
      const first = yield* exec({ state, args: [...gone, "--json", "say one"] })
      const id = linesOf(first)[0]?.thread_id ?? ""
      const resume = (...args: ReadonlyArray<string>) =>
        exec({ state, args: [...args, "resume", id, "say two"] })
      assert.include((yield* resume()).stderr, "its model provider `gone` is not configured")
      const named = yield* resume("-c", "model_provider=offline")
      assert.include(named.stderr, "model: offline (offline)\n")
      assert.deepStrictEqual([named.code, named.stdout], [0, "two\n"])
      // It has that provider from now on, also where none is configured.
      const again = yield* resume("-m", "my-model")
      assert.include(again.stderr, "model: my-model (offline)\n")
      assert.deepStrictEqual([again.code, again.stdout], [0, "two\n"])
    }),
  )

  it.live.each<[what: string, args: ReadonlyArray<string>, message: string]>([
    ["an id of no conversation", ["resume", noId, "x"], "no conversation"],
    ["an id that is none", ["resume", "not-an-id", "x"], "invalid conversation id `not-an-id`"],
    ["a directory without conversations", ["--last", "x"], "there is no conversation to resume"],
    ["a missing image", ["-i", "no.png", "x"], "Failed to read image no.png"],
    ["an image that is none", ["-i", "/etc/passwd", "x"], "expected a PNG, JPEG, GIF or WebP"],
    ["a directory as image", ["-i", "/tmp", "x"], "Failed to read image /tmp: expected a file"],
    ["a missing schema", ["--output-schema", "/no/s.json", "x"], "Failed to read output schema"],
    ["a schema that is no JSON", ["--output-schema", "/etc/passwd", "x"], "is not valid JSON"],
    ["a directory as schema", ["--output-schema", "/tmp", "x"], "/tmp: EISDIR: it is a directory"],
    [
      "a last message for a directory that is missing",
      ["-o", "/nonexistent/last", "x"],
      "Error: Failed to write the last message to /nonexistent/last: ENOENT",
    ],
    ["a directory for the last message", ["-o", "/tmp", "x"], "/tmp: it is a directory"],
    ["a configuration that is not valid", ["-c", "model=5", "x"], "Error: "],
    ["an endless schema", ["--output-schema", "/dev/zero", "x"], "is not a regular file"],
    ["a schema that is none", ["--output-schema", "/proc/self/uid_map", "x"], "Output schema file"],
    ["an empty prompt", [" "], "The prompt is empty."],
  ])("%s is an error, and starts nothing", ([, args, message]) =>
    Effect.gen(function* () {
      const outcome = yield* exec({ args: ["--json", ...args] })
      assert.include(outcome.stderr, message)
      assert.match(outcome.stderr.trimEnd().split("\n").at(-1) ?? "", /^Error: /)
      assert.deepStrictEqual([outcome.code, outcome.stdout], [1, ""])
    }),
  )

  it.live("a wrong value of a key that it does not use is an error, as every other", () =>
    Effect.gen(function* () {
      for (const key of ["cluster", "http", "login"]) {
        const outcome = yield* exec({ args: ["-c", `${key}=1`, "x"] })
        assert.deepStrictEqual(
          [outcome.code, outcome.stderr],
          [
            1,
            `Error: error loading config: invalid type: integer \`1\`, expected a map in \`${key}\`\n`,
          ],
        )
      }
    }),
  )

  it.live("a directory that is missing is an error, as every other", () =>
    Effect.gen(function* () {
      const cli = yield* Cli.start(["exec", "-C", "/nonexistent", "x"], {
        COLLOQUY_HOME: yield* home(),
      })
      const { code, stderr } = yield* cli.outcome
      assert.match(stderr, /^Error: .*\/nonexistent.*\n$/)
      assert.strictEqual(code, 1)
    }),
  )

  it.live.each<[args: ReadonlyArray<string>, message: string]>([
    [["--jsn", "x"], "--json"],
    [["a", "b"], "put the prompt in quotes"],
    [["resume"], "colloquy: resume needs the id of a conversation, or --last\n"],
    [["--color", "red", "x"], "red"],
    [["-c", "nonsense", "x"], "missing '='"],
    [["-o", "", "x"], "Missing value for flag --output-last-message"],
    [["-m", " ", "x"], "--model"],
    [["-a", "untrusted", "x"], "Expected never: exec cannot ask"],
  ])("%s is a usage error", ([args, message]) =>
    Effect.gen(function* () {
      const outcome = yield* exec({ args })
      assert.include(outcome.stderr, message)
      assert.deepStrictEqual([outcome.code, outcome.stdout], [2, ""])
    }),
  )

  it.live.each<[args: ReadonlyArray<string>, one: string, other: string]>([
    [["--last", "resume", noId, "say x"], "--last", "the id of a conversation"],
    [["--ephemeral", "--last", "x"], "--ephemeral", "--last"],
    [["--ephemeral", "resume", "--last", "x"], "--ephemeral", "--last"],
    [["--ephemeral", "resume", noId, "x"], "--ephemeral", "resume"],
  ])("%s is an error that names what excludes each other, and no value", ([args, one, other]) =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* exec({ args })
      const message = `colloquy: ${one} cannot be used with ${other}\n`
      assert.strictEqual(stderr, `${message}See \`colloquy exec --help\`\n`)
      assert.deepStrictEqual([code, stdout], [2, ""])
    }),
  )

  it.live("reads the prompt from stdin, and adds stdin to a prompt", () =>
    Effect.gen(function* () {
      const piped = yield* exec({ args: ["--json"], input: "say piped" })
      const dash = yield* exec({ args: ["--json", "-"], input: "say dashed" })
      const both = yield* exec({ args: ["--json", "say"], input: "more" })
      const none = yield* exec({ args: ["--json"] })
      assert.deepStrictEqual([piped, dash].map(textOf), ["piped", "dashed"])
      assert.strictEqual(textOf(both), "<stdin>\nmore\n</stdin>")
      assert.include(none.stderr, "No prompt provided via stdin.")
      assert.strictEqual(none.code, 1)
    }),
  )

  it.live("outside of a repository it has to be told so", () =>
    Effect.gen(function* () {
      const cwd = yield* directory()
      const state = yield* home()
      const run = Cli.run(["exec", "--json", "-C", cwd, "say hi"], { COLLOQUY_HOME: state })
      assert.include((yield* run).stderr, "--skip-git-repo-check was not specified")
      execFileSync("git", ["init", "-q"], { cwd })
      assert.strictEqual((yield* run).code, 0)
    }),
  )

  it.live(
    "asks the provider for an answer of the schema, and writes the last message to a file",
    () =>
      Effect.gen(function* () {
        const provider = yield* MockProvider.make([Script.reply(Script.text('{"a":"b"}'))])
        const state = yield* provided(provider.baseUrl, "responses")
        const cwd = yield* directory({ "s.json": '{"type":"object","properties":{}}' })
        const last = join(cwd, "last.txt")
        const args = ["--json", "--output-schema", join(cwd, "s.json"), "-o", last, "json"]
        const outcome = yield* exec({ state, cwd, args })
        assert.strictEqual(outcome.code, 0)
        assert.strictEqual(readFileSync(last, "utf8"), '{"a":"b"}')
        const [request] = yield* provider.requests
        assert.deepStrictEqual((request?.body as { text?: unknown } | undefined)?.text, {
          format: {
            type: "json_schema",
            strict: true,
            schema: { type: "object", properties: {} },
            name: "codex_output_schema",
          },
        })
      }),
  )

  it.live("L5 a failed turn ends with turn.failed and exit code 1", () =>
    Effect.gen(function* () {
      const state = yield* scripted([[{ error: { message: "no\n \u001B[2J", retryable: false } }]])
      const cwd = yield* directory()
      const last = join(cwd, "last.txt")
      const outcome = yield* exec({ state, cwd, args: ["--json", "-o", last, "x"] })
      assert.deepStrictEqual(typesOf(outcome).slice(-2), ["error", "turn.failed"])
      assert.strictEqual(outcome.code, 1)
      assert.strictEqual(readFileSync(last, "utf8"), "")
      assert.deepStrictEqual(errorsOf(outcome), ["Error: no \\x1b[2J"])
    }),
  )

  it.live.each<[NodeJS.Signals, number]>([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ])("L5 L8 %s interrupts the turn, which reports its end", ([signal, code]) =>
    Effect.gen(function* () {
      const cwd = yield* directory()
      const args = ["exec", "--json", "--skip-git-repo-check", "-C", cwd, "run: echo on; sleep 600"]
      const cli = yield* Cli.start(args, { COLLOQUY_HOME: yield* home() })
      cli.child.stdin.end()
      yield* cli.stdoutHas("command_execution")
      cli.child.kill(signal)
      const outcome = yield* cli.outcome
      assert.deepStrictEqual(typesOf(outcome).slice(-2), ["item.completed", "turn.failed"])
      assert.strictEqual(outcome.code, code)
      assert.deepStrictEqual(errorsOf(outcome), [])
    }),
  )

  it.live.each<[NodeJS.Signals, number]>([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("%s ends it while it waits for stdin", ([signal, code]) =>
    Effect.gen(function* () {
      for (const args of [["say hi"], []]) {
        const cli = yield* Cli.start(["exec", "--json", "--skip-git-repo-check", ...args], {
          COLLOQUY_HOME: yield* home(),
        })
        yield* cli.stderrHas("from stdin...")
        cli.child.kill(signal)
        const outcome = yield* cli.outcome
        assert.deepStrictEqual([outcome.code, outcome.stdout], [code, ""])
        assert.include(outcome.stderr, "interrupted: nothing was started")
      }
    }),
  )

  it.live("goes on without a stdin that its program has left open", () =>
    Effect.gen(function* () {
      const cli = yield* Cli.start(["exec", "--json", "--skip-git-repo-check", "say hi"], {
        COLLOQUY_HOME: yield* home(),
      })
      const outcome = yield* cli.outcome
      assert.deepStrictEqual([outcome.code, textOf(outcome)], [0, "hi"])
      assert.include(outcome.stderr, "Nothing has come from stdin: going on without it.")
    }),
  )

  it.live.each(["--json", "--color=never"])("fails with %s where stdout is a full disk", (option) =>
    Effect.gen(function* () {
      const state = yield* home()
      const words = [process.execPath, entry, "exec", "--skip-git-repo-check", option, "'say hi'"]
      const { status, stderr } = spawnSync("sh", ["-c", `${words.join(" ")} > /dev/full`], {
        env: { PATH: process.env["PATH"], HOME: state, COLLOQUY_HOME: state },
        stdio: ["ignore", "pipe", "pipe"],
        encoding: "utf8",
      })
      assert.strictEqual(status, 1)
      assert.deepStrictEqual(stderr.match(/^Error: .*$/gm), [
        "Error: stdout cannot be written (ENOSPC)",
      ])
    }),
  )

  it.live("refuses pipes as files before it starts anything, and a schema that is not UTF-8", () =>
    Effect.gen(function* () {
      const cwd = yield* directory()
      const [pipe, latin1] = [join(cwd, "pipe"), join(cwd, "latin1.json")]
      execFileSync("mkfifo", [pipe])
      writeFileSync(latin1, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))
      const outcomes = yield* Effect.forEach(
        [
          ["--output-schema", pipe, "x"],
          ["--output-schema", latin1, "x"],
          ["-o", pipe, "x"],
          ["-o", cwd, "x"],
        ],
        (args) => exec({ cwd, args: ["--json", ...args] }),
      )
      assert.deepStrictEqual(
        outcomes.map(({ code, stdout }) => [code, stdout]),
        outcomes.map(() => [1, ""]),
      )
      const [schema, encoding, message, folder] = outcomes.map(({ stderr }) => stderr)
      assert.include(schema, `Failed to read output schema file ${pipe}`)
      assert.include(encoding, `Failed to read output schema file ${latin1}`)
      assert.include(message, `to ${pipe}: expected a file or a device, it is a pipe`)
      assert.include(folder, `to ${cwd}: it is a directory`)
    }),
  )

  it.live("says that stdin is a directory", () =>
    Effect.gen(function* () {
      const state = yield* home()
      const words = [process.execPath, entry, "exec", "--skip-git-repo-check", "'say hi'"]
      const { status, stderr } = spawnSync("sh", ["-c", `${words.join(" ")} < /`], {
        env: { PATH: process.env["PATH"], HOME: state, COLLOQUY_HOME: state },
        encoding: "utf8",
      })
      assert.strictEqual(status, 1)
      assert.include(stderr, "Failed to read prompt from stdin: it is a directory")
    }),
  )

  it.live(
    "ends like a program that writes on a closed pipe where the reader of stdout has gone",
    () =>
      Effect.gen(function* () {
        const cwd = yield* directory()
        const args = ["exec", "--json", "--skip-git-repo-check", "-C", cwd, "run: sleep 2; seq 9"]
        const cli = yield* Cli.start(args, { COLLOQUY_HOME: yield* home() })
        cli.child.stdin.end()
        yield* cli.stdoutHas("thread.started")
        cli.child.stdout.destroy()
        const { code, stderr } = yield* cli.outcome
        assert.deepStrictEqual([code, stderr], [141, "Reading additional input from stdin...\n"])
      }),
  )

  it.live("completes a turn whose tool server does not start, with a warning", () =>
    Effect.gen(function* () {
      const outcome = yield* exec({
        args: ["--json", "-c", "mcp_servers.none.command=/no/such", "say hi"],
      })
      assert.deepStrictEqual(typesOf(outcome).slice(2), [
        "item.completed",
        "item.completed",
        "turn.completed",
      ])
      assert.include(linesOf(outcome)[2]?.item?.message ?? "", "failed to start")
      assert.strictEqual(outcome.code, 0)
      assert.notInclude(outcome.stderr, "level=")
    }),
  )

  it.live.each<[args: ReadonlyArray<string>]>([[[]], [["-c", "conversation_store=files"]]])(
    "stores nothing with --ephemeral, whatever the configuration names: %s",
    ([args]) =>
      Effect.gen(function* () {
        const state = yield* home()
        const { code } = yield* exec({ state, args: ["--ephemeral", ...args, "say hi"] })
        assert.strictEqual(code, 0)
        assert.isFalse(existsSync(join(state, "sessions")))
      }),
  )
})

describe("colloquy exec", () => {
  it.live("prints the last message on stdout and a transcript on stderr", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* exec({ args: ["run: echo one; exit 3"] })
      assert.include(stdout, "exit code 3")
      assert.include(stderr, "approval: never")
      assert.include(stderr, "$ bash -lc 'echo one; exit 3'")
      assert.include(stderr, "ended with exit code 3")
      assert.notInclude(stderr, "\u001B[")
      assert.strictEqual(code, 0)
    }),
  )

  it.live("says why a turn failed, in one line", () =>
    Effect.gen(function* () {
      const state = yield* scripted([[{ error: { message: "no\nkey", retryable: false } }]])
      const outcome = yield* exec({ state, args: ["--color", "always", "x"] })
      assert.deepStrictEqual([outcome.code, outcome.stdout], [1, ""])
      assert.deepStrictEqual(errorsOf(outcome), ["Error: no key"])
      assert.isTrue(outcome.stderr.endsWith("\nError: no key\n"))
    }),
  )

  it.live("shows nothing of a model that a terminal would interpret", () =>
    Effect.gen(function* () {
      const state = yield* scripted([[{ text: "a\u001B[2Jb" }]])
      const { stderr } = yield* exec({ state, args: ["x"] })
      assert.include(stderr, "a\\x1b[2Jb")
    }),
  )

  it.live("has colours where they are wanted", () =>
    Effect.gen(function* () {
      const { stderr } = yield* exec({ args: ["--color", "always", "say hi"] })
      assert.include(stderr, "\u001B[")
    }),
  )
})
