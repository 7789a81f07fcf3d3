import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ChildProcess from "node:child_process"
import * as FS from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { canMark, leaving } from "../support/Leaving.ts"

const hasBwrap = FS.existsSync("/usr/bin/bwrap")
if (!hasBwrap) {
  process.stderr.write("bubblewrap is missing: apt-get install bubblewrap\n")
}

/** A server that runs one command and prints the output of the command. */
const server = `
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { seccompProgram } from "../../src/sandbox/linux/Seccomp.ts"
const options = {
  timeout: Duration.minutes(1),
  killGrace: Duration.seconds(1),
  onOutput: ({ bytes }) => Effect.sync(() => process.stdout.write(bytes)),
}
const asked = JSON.parse(process.argv[1])
const launch = {
  cwd: "/",
  env: { PATH: process.env.PATH },
  ...asked,
  inputs: new Map([
    ...(asked.inputs ?? []).map(([fd, text]) => [fd, new TextEncoder().encode(text)]),
    ...(asked.held === undefined ? [] : [[asked.held.inside, seccompProgram(process.arch)]]),
  ]),
}
const first = { ...launch, argv: ["echo", "first"], inputs: new Map(), diesWithParent: false, held: undefined, statusFd: undefined }
const program = Effect.flatMap(CommandRunner, (runner) =>
  Effect.andThen(
    asked.first === undefined ? Effect.void : Effect.andThen(runner.run(first, options), Effect.sleep(50)),
    runner.run(launch, options),
  ),
)
Effect.runFork(Effect.provide(program, Layer.provide(runnerLayer, NodeServices.layer)))
`

interface Found {
  readonly pid: number
  readonly parent: number
  readonly words: string
}

/** Leaves out zombies. The command line of a process that is just replacing its program is empty. */
const processes = (): ReadonlyArray<Found> =>
  FS.readdirSync("/proc").flatMap((name) => {
    try {
      const stat = FS.readFileSync(`/proc/${name}/stat`, "utf8")
      const words = FS.readFileSync(`/proc/${name}/cmdline`, "utf8")
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const isAlive = /^\d+$/.test(name) && state !== "Z" && state !== "X"
      return isAlive ? [{ pid: Number(name), parent: Number(parent), words }] : []
    } catch {
      return []
    }
  })

/** Descendants of `root` and processes with the word in their command line, except `root` and this process. */
const related = (root: number, word: string): ReadonlyArray<number> => {
  const all = processes()
  const found = new Set([root])
  for (let before = 0; before < found.size;) {
    before = found.size
    for (const { parent, pid, words } of all) {
      if (found.has(parent) || (words.includes(word) && pid !== process.pid)) found.add(pid)
    }
  }
  return [...found].filter((pid) => pid !== root)
}

let marks = 0

const childrenOf = (pid: number): ReadonlyArray<string> =>
  FS.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean)

const started = (launch: object) =>
  ChildProcess.spawn(
    process.execPath,
    ["--input-type=module", "-e", server, JSON.stringify(launch)],
    { cwd: import.meta.dirname, stdio: ["ignore", "pipe", "inherit"] },
  )

const nextOutput = (child: ReturnType<typeof started>) =>
  new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve())
    child.once("exit", () => reject(new Error("the server ended before its command was up")))
  })

/**
 * Checks for processes that are left, 20 ms apart: a minute, because the system may take long to end a process whose
 * namespaces it is still making. What is really left stays for a day.
 */
const maxTries = 3_000

/** Time limit of a test that starts several servers and may have to wait for one of them. */
const patient = { timeout: 180_000 }

/** What a process that should be gone is doing: its id, state, pending signals, place in the kernel and command line. */
const described = (pid: number): string => {
  const read = (name: string): string => {
    try {
      return FS.readFileSync(`/proc/${pid}/${name}`, "utf8")
    } catch (error) {
      return String(error)
    }
  }
  const facts = read("status").match(/^(State|PPid|NSpid|SigPnd|ShdPnd|SigBlk):.*$/gm) ?? []
  const words = read("cmdline").replaceAll("\0", " ").slice(0, 120)
  return [`process ${pid}`, ...facts, `wchan ${read("wchan")}`, words].join("; ")
}

/**
 * Waits until none of the processes lives and none has the word in its command line. Returns those that are left after
 * `tries` checks.
 */
const leftOf = async (
  before: ReadonlyArray<number>,
  word: string,
  tries: number,
): Promise<ReadonlyArray<number>> => {
  for (let left = tries; ; left--) {
    const now = new Set(processes().map(({ pid }) => pid))
    const found = new Set([...before.filter((pid) => now.has(pid)), ...related(-1, word)])
    if (found.size === 0 || left === 0) return [...found]
    await sleep(20)
  }
}

/**
 * Starts the server with the command, and kills it when the command has written and `atLeast` processes run. Counts the
 * processes before and after.
 */
const killed = async (
  command: object,
  script: string,
  atLeast: number,
  {
    prefix = [],
    tries: allowed = maxTries,
  }: { prefix?: ReadonlyArray<string>; tries?: number } = {},
) => {
  const word = `${80_000 + process.pid}.${++marks}`
  const argv = [...prefix, "bash", "-c", script.replaceAll("WORD", word)]
  const child = started({ argv, ...command })
  await nextOutput(child)
  let before = related(child.pid ?? 0, word)
  while (before.length < atLeast) {
    await sleep(20)
    before = related(child.pid ?? 0, word)
  }
  child.kill("SIGKILL")
  await new Promise((resolve) => child.once("close", resolve))
  return { before: before.length, left: await leftOf(before, word, allowed) }
}

/**
 * Kills the server `delayMs` milliseconds after it has begun to start the command, when its watchdog already runs.
 * Returns descriptions of the processes of the command that are left then.
 */
const killedAtStart = async (command: object, delayMs: number, prefix: ReadonlyArray<string>) => {
  const word = `${80_000 + process.pid}.${++marks}`
  const argv = [...prefix, "sleep", word]
  const child = started({ argv, ...command, first: true })
  await nextOutput(child)
  const pid = child.pid ?? 0
  while (childrenOf(pid).length > 1) await sleep(1)
  // Polls without a pause, because the command reports about a millisecond after it was created.
  while (childrenOf(pid).length === 1);
  for (const until = performance.now() + delayMs; performance.now() < until;);
  const before = childrenOf(pid).map(Number)
  child.kill("SIGKILL")
  await new Promise((resolve) => child.once("close", resolve))
  const left = await leftOf(before, word, maxTries)
  const descriptions = left.map(described)
  for (const stayer of left) process.kill(stayer, "SIGKILL")
  return descriptions
}

const own = { diesWithParent: false }

describe("Watchdog, a server killed by kill -9", () => {
  it("L8 leaves no command", async () => {
    const { before, left } = await killed(own, "echo up; exec sleep WORD", 2)
    // The command and the watchdog.
    assert.strictEqual(before, 2)
    assert.deepStrictEqual(left, [])
  })

  it("L8 leaves no grandchild, not even one that ignores signals", async () => {
    const script = `
      trap '' TERM HUP INT
      (bash -c "trap '' TERM HUP INT; sleep WORD & sleep WORD") &
      (while :; do sleep WORD; done) &
      echo up; sleep WORD`
    const { before, left } = await killed(own, script, 7)
    assert.isAtLeast(before, 7)
    assert.deepStrictEqual(left, [])
  })

  it("L8 leaves no command that it was just starting", patient, async () => {
    const left: Array<string> = []
    for (const delayMs of [0, 0, 0.2, 0.5, 0.8, 1.2])
      left.push(...(await killedAtStart(own, delayMs, [])))
    assert.deepStrictEqual(left, [])
  })

  it.skipIf(!hasBwrap)("L8 leaves no sandbox that it was just starting", patient, async () => {
    const options =
      "--new-session --die-with-parent --ro-bind / / --dev /dev --unshare-user --unshare-pid --json-status-fd 4 --seccomp 3"
    const prefix = ["bwrap", "--args", "5", "--"]
    const inputs = [
      [
        5,
        options
          .split(" ")
          .map((word) => `${word}\0`)
          .join(""),
      ],
    ]
    const held = { outside: 5, inside: 3 }
    const sandboxed = { diesWithParent: true, held, statusFd: 4, inputs }
    const left: Array<string> = []
    for (let delayMs = 0; delayMs < 6; delayMs += 0.4) {
      left.push(...(await killedAtStart(sandboxed, delayMs, prefix)))
    }
    assert.deepStrictEqual(left, [])
  })

  it("L8 without the watchdog a command does stay: what is counted here is real", async () => {
    const { left } = await killed({ diesWithParent: true }, "echo up; exec sleep WORD", 1, {
      tries: 40,
    })
    for (const pid of left) process.kill(pid, "SIGKILL")
    assert.strictEqual(new Set(left).size, 1)
  })

  for (const [name, script] of Object.entries(leaving)) {
    it.skipIf(!canMark)(`L8 leaves no process that left its group: ${name}`, async () => {
      const { before, left } = await killed(own, `${script("WORD")}\necho up; sleep WORD`, 3)
      assert.isAtLeast(before, 3)
      assert.deepStrictEqual(left, [])
    })
  }

  it.skipIf(!canMark)(
    "L8 leaves nothing of a server that is itself a command of another",
    async () => {
      const inner = JSON.stringify({
        ...own,
        argv: ["bash", "-c", "setsid sleep WORD & echo up; sleep WORD"],
      })
      const script = `exec "$NODE" --input-type=module -e "$SERVER" '${inner}'`
      const env = { PATH: process.env["PATH"], NODE: process.execPath, SERVER: server }
      const { before, left } = await killed({ ...own, cwd: import.meta.dirname, env }, script, 5)
      // Two watchdogs, the commands of two servers and their remaining processes.
      assert.isAtLeast(before, 5)
      assert.deepStrictEqual(left, [])
    },
  )

  it.skipIf(!hasBwrap)("L8 leaves nothing of a sandbox, separate sessions included", async () => {
    const { before, left } = await killed(
      { diesWithParent: true },
      "setsid sleep WORD & (sleep WORD; :) & echo up; sleep WORD",
      5,
      {
        prefix: [
          "bwrap",
          "--die-with-parent",
          "--ro-bind",
          "/",
          "/",
          "--dev",
          "/dev",
          "--unshare-pid",
        ],
      },
    )
    assert.isAtLeast(before, 5)
    assert.deepStrictEqual(left, [])
  })
})

const live = Layer.provide(runnerLayer, NodeServices.layer)

describe("Watchdog, a server that keeps running", () => {
  const sh = (script: string) => ({
    argv: ["bash", "-c", script] as const,
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    inputs: new Map<number, Uint8Array>(),
    diesWithParent: false,
  })
  const options = {
    timeout: Duration.seconds(10),
    killGrace: Duration.millis(200),
    onOutput: () => Effect.void,
  }
  const watchdogs = () =>
    processes().filter(
      ({ parent, words }) => parent === process.pid && words.includes("read -r line"),
    )

  it.live(
    "starts one watchdog for all commands, another one when it is killed, and none remains",
    () =>
      Effect.gen(function* () {
        yield* Effect.gen(function* () {
          const { run } = yield* CommandRunner
          yield* Effect.forEach(Array.from({ length: 20 }), () => run(sh("true"), options), {
            concurrency: 8,
          })
          const [first, ...more] = watchdogs()
          assert.deepStrictEqual(more, [])
          assert.isDefined(first)
          // A command that kills its watchdog only loses the protection that the watchdog gives.
          const result = yield* run(sh(`kill -9 ${first?.pid}; sleep 0.1; echo on`), options)
          assert.strictEqual(result.stdout.text, "on\n")
          // Its entry goes when this process has learned of its end.
          while (FS.existsSync(`/proc/${first?.pid}`)) yield* Effect.sleep(5)
          yield* run(sh("true"), options)
          const pids = watchdogs().map(({ pid }) => pid)
          assert.strictEqual(pids.length, 1)
          assert.notStrictEqual(pids[0], first?.pid)
        }).pipe(Effect.provide(live))
        assert.deepStrictEqual(watchdogs(), [])
      }),
  )
})
