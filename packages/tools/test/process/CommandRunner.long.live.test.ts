import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as FS from "node:fs"
import * as OS from "node:os"
import * as Path from "node:path"
import type { Launch } from "../../src/process/Command.ts"
import { CommandRunner, type RunOptions } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"

const hasBwrap = FS.existsSync("/usr/bin/bwrap")
if (!hasBwrap) {
  process.stderr.write("bubblewrap is missing: apt-get install bubblewrap\n")
}

const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" }

const launchOf = (argv: Launch["argv"], more: Partial<Launch> = {}): Launch => ({
  argv,
  cwd: OS.tmpdir(),
  env,
  inputs: new Map(),
  diesWithParent: true,
  ...more,
})

const sh = (script: string, more?: Partial<Launch>) => launchOf(["bash", "-c", script], more)

const sandboxed = (...argv: ReadonlyArray<string>) =>
  launchOf(
    [
      ...(["bwrap", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc"] as const),
      ...(["--dev", "/dev", "--unshare-pid", "--json-status-fd", "4", "--"] as const),
      ...argv,
    ],
    { statusFd: 4 },
  )

const defaults: RunOptions = {
  timeout: Duration.seconds(10),
  killGrace: Duration.millis(200),
  onOutput: () => Effect.void,
}

const run = (launch: Launch, options: Partial<RunOptions> = {}) =>
  Effect.flatMap(CommandRunner, (runner) => runner.run(launch, { ...defaults, ...options }))

const failureOf = (launch: Launch) =>
  Effect.map(Effect.flip(run(launch)), ({ message, reason }) => ({ reason, message }))

/** Processes with the word in their command line. Zombies have no command line and are not included. */
const alive = (word: string): ReadonlyArray<string> =>
  FS.readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => {
      try {
        return FS.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word)
      } catch {
        return false
      }
    })

let marks = 0
/** A number of seconds for which no other process sleeps. */
const mark = () => `${70_000 + process.pid}.${++marks}`

const temporary = Effect.acquireRelease(
  Effect.sync(() => FS.mkdtempSync(Path.join(OS.tmpdir(), "runner-"))),
  (directory) => Effect.sync(() => FS.rmSync(directory, { recursive: true })),
)

const live = runnerLayer.pipe(Layer.provide(NodeServices.layer))

describe("CommandRunner, real processes", () => {
  /** Writes `1`, `2`, … to both outputs in turn, with a pause of `pause` seconds after each. */
  const alternating = (count: number, pause?: string) =>
    `for i in $(seq ${count}); do if [ $((i % 2)) = 0 ]; then echo $i; else echo $i >&2; fi; ${pause === undefined ? ":" : `sleep ${pause}`}; done`
  const counted = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}\n`).join("")

  for (const [name, script, expected] of [
    ["1,000 times without a pause", alternating(1000), counted(1000)],
    ["100 times with a pause of 2 ms", alternating(100, "0.002"), counted(100)],
    ["standard error first", "echo 1 >&2; echo 2", "1\n2\n"],
    ["by other programs", "/bin/echo 1; /bin/echo 2 >&2; /bin/echo 3", "1\n2\n3\n"],
    ["in lines without an end", "printf 1; printf 2 >&2; printf 3", "123"],
  ] as const) {
    it.live.each([false, true])(
      `joined outputs keep the order of writing: ${name}, watched: %j`,
      (watched) =>
        Effect.gen(function* () {
          for (let time = 0; time < 20; time++) {
            const events: Array<number> = []
            const result = yield* run(sh(script, { joinsOutput: true, diesWithParent: !watched }), {
              onOutput: ({ bytes, stream }) =>
                Effect.sync(() => {
                  assert.strictEqual(stream, "stdout")
                  events.push(...bytes)
                }),
            })
            assert.strictEqual(result.aggregated.text, expected)
            assert.strictEqual(result.stdout.text, expected)
            assert.strictEqual(result.stderr.text, "")
            assert.strictEqual(Buffer.from(events).toString(), expected)
          }
        }).pipe(Effect.provide(live)),
      // 2,000 processes are started for each pause: seconds on an idle machine.
      120_000,
    )
  }

  it.live("joined outputs change nothing else: environment, input, directory, exit code", () =>
    Effect.gen(function* () {
      const script = "env | sort; pwd; cat; echo $0; exit 7"
      const launch = sh(script, {
        env: { ...env, PWD: "/elsewhere", "odd-name": "kept", IFS: "x", SHLVL: "3" },
        stdin: new TextEncoder().encode("given\n"),
      })
      const apart = yield* run(launch)
      const together = yield* run({ ...launch, joinsOutput: true })
      assert.deepStrictEqual(together.exit, apart.exit)
      assert.strictEqual(together.stdout.text, apart.stdout.text)
    }).pipe(Effect.provide(live)),
  )

  it.live("joined outputs: a program that does not start is reported as without them", () =>
    Effect.gen(function* () {
      for (const argv of [["/no/such/program"], ["/etc/passwd"], ["/tmp"]] as const) {
        for (const diesWithParent of [true, false]) {
          const launch = launchOf(argv, { diesWithParent })
          const { message, reason } = yield* failureOf({ ...launch, joinsOutput: true })
          assert.deepStrictEqual({ message, reason }, yield* failureOf(launch))
        }
      }
    }).pipe(Effect.provide(live)),
  )

  it.live("returns the exit code, both streams and their order", () =>
    Effect.gen(function* () {
      const script = "echo out; sleep 0.05; echo err >&2; sleep 0.05; echo more; exit 3"
      const result = yield* run(sh(script))
      assert.deepStrictEqual(result.exit, { _tag: "Exited", code: 3 })
      assert.strictEqual(result.stdout.text, "out\nmore\n")
      assert.strictEqual(result.stderr.text, "err\n")
      assert.strictEqual(result.aggregated.text, "out\nerr\nmore\n")
      assert.isAbove(Duration.toMillis(result.duration), 90)
    }).pipe(Effect.provide(live)),
  )

  it.live("closes standard input, or feeds it, and feeds further file descriptors", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* run(launchOf(["cat"]))).stdout.text, "")
      const bytes = (text: string) => new TextEncoder().encode(text)
      const fed = sh("cat; cat <&3", {
        stdin: bytes("in "),
        inputs: new Map([[3, bytes("three")]]),
      })
      assert.strictEqual((yield* run(fed)).stdout.text, "in three")
      const deaf = launchOf(["true"], { stdin: new Uint8Array(1_000_000) })
      assert.deepStrictEqual((yield* run(deaf)).exit, { _tag: "Exited", code: 0 })
    }).pipe(Effect.provide(live)),
  )

  it.live("gives the program only the environment that it is launched with", () =>
    Effect.gen(function* () {
      const result = yield* run(launchOf(["env"], { env: { ...env, ONLY: "this" } }))
      assert.deepStrictEqual(result.stdout.text.trim().split("\n").toSorted(), [
        "ONLY=this",
        `PATH=${env.PATH}`,
      ])
    }).pipe(Effect.provide(live)),
  )

  it.live("distinguishes a program killed by a signal from one that exits", () =>
    Effect.gen(function* () {
      const exits = yield* Effect.forEach(["kill -9 $$", "kill -TERM $$", "exit 137"], (script) =>
        Effect.map(run(sh(script)), (result) => result.exit),
      )
      assert.deepStrictEqual(exits, [
        { _tag: "Signaled", signal: "SIGKILL" },
        { _tag: "Signaled", signal: "SIGTERM" },
        { _tag: "Exited", code: 137 },
      ])
    }).pipe(Effect.provide(live)),
  )

  it.live("reports why a program did not start", () =>
    Effect.gen(function* () {
      const directory = yield* temporary
      const file = Path.join(directory, "file")
      FS.writeFileSync(file, "text")
      const script = Path.join(directory, "script")
      FS.writeFileSync(script, "#!/no/such/thing\n", { mode: 0o755 })
      const long = "x".repeat(3_000_000)
      const empty = { ...launchOf(["x"]), argv: [] } as unknown as Launch
      const failures = yield* Effect.forEach(
        [
          launchOf(["no-such-program"]),
          launchOf([script]),
          launchOf([`${file}/program`]),
          launchOf([file]),
          launchOf([directory]),
          launchOf(["true"], { cwd: `${directory}/gone` }),
          launchOf(["true"], { cwd: file }),
          launchOf(["echo", "a\0b"]),
          launchOf(["true"], { env: { A: "\0" } }),
          launchOf([""]),
          launchOf(["echo", long]),
          empty,
        ],
        failureOf,
      )
      assert.deepStrictEqual(
        failures.map(({ message, reason }) => `${reason}: ${message.replaceAll(directory, "DIR")}`),
        [
          'NotFound: program not found, or what its first line asks for: "no-such-program"',
          'NotFound: program not found, or what its first line asks for: "DIR/script"',
          'NotFound: program not found, or what its first line asks for: "DIR/file/program"',
          'NotExecutable: not an executable program: "DIR/file"',
          'NotExecutable: not an executable program: "DIR"',
          'Directory: the working directory does not exist: "DIR/gone"',
          'Directory: the working directory is not a directory: "DIR/file"',
          "Arguments: word 2 of the command has a NUL character",
          'Arguments: environment variable "A" has a NUL character',
          "Arguments: the name of the program is empty",
          "Arguments: the words and environment of the command are too long",
          "Arguments: the command is empty",
        ],
      )
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 ends a program that outlives its timeout with all of its group", () =>
    Effect.gen(function* () {
      const word = mark()
      const timeout = Duration.millis(200)
      const result = yield* run(sh(`echo start; sleep ${word} & sleep ${word}`), { timeout })
      assert.deepStrictEqual(result.exit, { _tag: "TimedOut", after: timeout })
      assert.strictEqual(result.stdout.text, "start\n")
      assert.deepStrictEqual(alive(word), [])
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 kills a program that ignores the signal to end, after its grace", () =>
    Effect.gen(function* () {
      const word = mark()
      const result = yield* run(sh(`trap '' TERM; while :; do sleep ${word}; done`), {
        timeout: Duration.millis(100),
      })
      assert.strictEqual(result.exit._tag, "TimedOut")
      assert.isAtLeast(Duration.toMillis(result.duration), 300)
      assert.isBelow(Duration.toMillis(result.duration), 20_000)
      assert.deepStrictEqual(alive(word), [])
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 returns from an interrupt only when no process is left", () =>
    Effect.gen(function* () {
      const word = mark()
      const begun = Promise.withResolvers<void>()
      const onOutput = () => Effect.sync(() => begun.resolve())
      const script = `trap '' TERM; (trap '' TERM; while :; do sleep ${word}; done) & echo up; wait`
      const fiber = yield* Effect.forkChild(run(sh(script), { onOutput }))
      yield* Effect.promise(() => begun.promise)
      const [waited] = yield* Effect.timed(Fiber.interrupt(fiber))
      assert.deepStrictEqual(alive(word), [])
      assert.isBelow(Duration.toMillis(waited), 10_000)
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 waits two seconds for a pipe held in the background, then ends its holder", () =>
    Effect.gen(function* () {
      const word = mark()
      const result = yield* run(sh(`trap '' TERM; sleep ${word} & echo done`))
      assert.deepStrictEqual(result.exit, { _tag: "Exited", code: 0 })
      assert.strictEqual(result.stdout.text, "done\n")
      assert.isAtLeast(Duration.toMillis(result.duration), 1_900)
      assert.isBelow(Duration.toMillis(result.duration), 20_000)
      assert.deepStrictEqual(alive(word), [])
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 kills a growing tree of processes completely, and stays responsive meanwhile", () =>
    Effect.gen(function* () {
      const word = mark()
      let ticks = 0
      const timer = setInterval(() => ticks++, 10)
      // Each process starts two more, to a bounded depth: an endless fork bomb would exhaust the machine of the tests.
      const script = `b() { trap '' TERM; [ $1 -gt 0 ] && { b $(($1-1)) & b $(($1-1)) & }; sleep ${word}; }; b 6`
      const timeout = Duration.millis(400)
      const result = yield* run(sh(script), { timeout })
      clearInterval(timer)
      assert.strictEqual(result.exit._tag, "TimedOut")
      assert.deepStrictEqual(alive(word), [])
      assert.isAbove(ticks, 10)
    }).pipe(Effect.provide(live)),
  )

  it.live("keeps a flood within bounds while everything else continues", () =>
    Effect.gen(function* () {
      let ticks = 0
      const timer = setInterval(() => ticks++, 10)
      const before = process.memoryUsage().rss
      const result = yield* run(launchOf(["yes"]), { timeout: Duration.seconds(1) })
      clearInterval(timer)
      assert.isAbove(result.stdout.totalBytes, 10_000_000)
      assert.isBelow(result.stdout.text.length, 1_048_576 + 100)
      assert.isAbove(ticks, 20)
      assert.isBelow(process.memoryUsage().rss - before, 250_000_000)
    }).pipe(Effect.provide(live)),
  )

  it.live("fails as a defect of the caller when a listener fails, not silently", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(run(sh("echo x"), { onOutput: () => Effect.die("broken") }))
      assert.isTrue(exit._tag === "Failure" && Cause.hasDies(exit.cause))
    }).pipe(Effect.provide(live)),
  )
})

describe.skipIf(!hasBwrap)("CommandRunner, in a sandbox", () => {
  it.live("returns the exit code of the program, and its signal as the shell would", () =>
    Effect.gen(function* () {
      const exits = yield* Effect.forEach(["exit 7", "kill -9 $$"], (script) =>
        Effect.map(run(sandboxed("sh", "-c", script)), (result) => result.exit),
      )
      assert.deepStrictEqual(exits, [
        { _tag: "Exited", code: 7 },
        { _tag: "Exited", code: 137 },
      ])
    }).pipe(Effect.provide(live)),
  )

  it.live("distinguishes a program that never ran from one that failed", () =>
    Effect.gen(function* () {
      const broken = launchOf(
        ["bwrap", "--bind", "/no/such", "/x", ...sandboxed("true").argv.slice(1)],
        {
          statusFd: 4,
        },
      )
      const badDirectory = launchOf(
        ["bwrap", "--chdir", "/no/such", ...sandboxed("true").argv.slice(1)],
        {
          statusFd: 4,
        },
      )
      assert.deepStrictEqual(
        yield* Effect.forEach(
          [sandboxed("no-such-program"), sandboxed("/etc/passwd"), badDirectory, broken],
          failureOf,
        ),
        [
          {
            reason: "NotFound",
            message: 'program not found, or what its first line asks for: "no-such-program"',
          },
          { reason: "NotExecutable", message: 'not an executable program: "/etc/passwd"' },
          {
            reason: "Directory",
            message: "cannot use the working directory /no/such: No such file or directory",
          },
          {
            reason: "Sandbox",
            message:
              "the sandbox did not start: bwrap: Can't find source path /no/such: No such file or directory",
          },
        ],
      )
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 ends separate sessions and a fork bomb with the sandbox", () =>
    Effect.gen(function* () {
      const word = mark()
      const timeout = Duration.millis(300)
      // The script limits the number of processes, in case the sandbox does not.
      const script = `setsid sleep ${word} & for i in $(seq 300); do (trap '' TERM; sleep ${word}) & done; wait`
      const result = yield* run(sandboxed("bash", "-c", script), { timeout })
      assert.deepStrictEqual(result.exit, { _tag: "TimedOut", after: timeout })
      assert.deepStrictEqual(alive(word), [])
    }).pipe(Effect.provide(live)),
  )
})
