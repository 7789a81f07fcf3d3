import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import type { Command } from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Launch, OutputChunk } from "../../src/process/Command.ts"
import { CommandRunner, type RunOptions } from "../../src/process/CommandRunner.ts"
import { StartTurns } from "../../src/process/StartTurns.ts"
import { ProcessGroup } from "../../src/process/ProcessGroup.ts"
import { Watchdog } from "../../src/process/Watchdog.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

type Ended = "SIGTERM" | "SIGKILL" | "SIGSEGV" | number

/** One process. The test decides what it prints and when it ends; `heeds` names the signals that end it. */
class World {
  readonly log: Array<string> = []
  alive = true
  /** True while another process of the group still runs and holds the pipes. */
  background = false
  readonly stdout = Effect.runSync(Queue.bounded<Uint8Array, Cause.Done>(16))
  readonly status = Effect.runSync(Queue.bounded<Uint8Array, Cause.Done>(16))
  private readonly ended = Deferred.makeUnsafe<Ended>()
  command: Command | undefined
  /** When the watchdog acknowledges a group. */
  acknowledged: Effect.Effect<void> = Effect.void
  private readonly heeds: ReadonlySet<string>

  constructor(...heeds: ReadonlyArray<"SIGTERM" | "SIGKILL">) {
    this.heeds = new Set(heeds)
  }

  end(how: Ended): void {
    this.alive = false
    Deferred.doneUnsafe(this.ended, Effect.succeed(how))
    if (!this.background) this.closePipes()
  }

  private closePipes(): void {
    Queue.endUnsafe(this.stdout)
    Queue.endUnsafe(this.status)
  }

  private readonly signal = (name: "SIGTERM" | "SIGKILL") =>
    Effect.sync(() => {
      if (!this.alive && !this.background) return false
      this.log.push(name)
      if (!this.heeds.has(name)) return true
      if (name === "SIGKILL") this.background = false
      if (this.alive) this.end(name)
      else this.closePipes()
      return true
    })

  private readonly exitCode = Effect.flatMap(Deferred.await(this.ended), (how) =>
    typeof how === "number"
      ? Effect.succeed(ChildProcessSpawner.ExitCode(how))
      : Effect.fail(
          PlatformError.systemError({
            _tag: "Unknown",
            module: "ChildProcess",
            method: "exitCode",
            cause: new Error(`Process interrupted due to receipt of signal: '${how}'`),
          }),
        ),
  )

  readonly layer = CommandRunner.layerOfGroups.pipe(
    Layer.provide(
      Layer.mergeAll(
        FileSystem.layerNoop({}),
        Layer.succeed(ProcessGroup)({
          signal: (_group, name) => this.signal(name),
          lives: () => Effect.sync(() => this.alive || this.background),
          ids: () => Effect.succeed([]),
          limitsOf: () => Effect.succeed(""),
          kill: () => Effect.succeed(true),
        }),
        Layer.succeed(Watchdog)({
          ready: Effect.sync(() => {
            this.log.push("watchdog")
            return true
          }),
          mark: Effect.succeed("123456789000000001"),
          add: (group) =>
            Effect.suspend(() => {
              this.log.push(`add ${group}`)
              return this.acknowledged
            }),
          remove: (group) => Effect.sync(() => void this.log.push(`remove ${group}`)),
          addDirectory: () => Effect.void,
          removeDirectory: () => Effect.void,
        }),
        Layer.succeed(ChildProcessSpawner.ChildProcessSpawner)(
          ChildProcessSpawner.make((command) =>
            Effect.sync(() => {
              this.command = command
              return ChildProcessSpawner.makeHandle({
                pid: ChildProcessSpawner.ProcessId(42),
                exitCode: this.exitCode,
                isRunning: Effect.succeed(true),
                kill: () => Effect.die("the group is signalled instead"),
                stdin: Sink.drain,
                stdout: Stream.fromQueue(this.stdout),
                stderr: Stream.empty,
                all: Stream.empty,
                getInputFd: () => Sink.drain,
                getOutputFd: () => Stream.fromQueue(this.status),
                unref: Effect.succeed(Effect.void),
              })
            }),
          ),
        ),
      ),
    ),
  )
}

const launch: Launch = {
  argv: ["program"],
  cwd: "/",
  env: {},
  inputs: new Map(),
  diesWithParent: true,
}

const options: RunOptions = {
  timeout: Duration.seconds(10),
  killGrace: Duration.millis(500),
  onOutput: () => Effect.void,
}

/** Starts the program of the world by a runner of its own, with these turns to start. */
const started = (
  world: World,
  more: Partial<Launch & RunOptions> = {},
  turns = StartTurns.makeUnsafe(),
) =>
  Effect.flatMap(CommandRunner, ({ run }) =>
    run({ ...launch, ...more }, { ...options, ...more }),
  ).pipe(
    Effect.provide(world.layer),
    Effect.provideService(StartTurns, turns),
    Effect.forkChild({ startImmediately: true }),
    Effect.tap(TestClock.adjust(0)),
  )

const none = { text: "", totalBytes: 0, omittedBytes: 0 }

describe("CommandRunner, on a virtual clock", () => {
  it.effect("several runners of one process start four programs at once, not four each", () =>
    Effect.gen(function* () {
      const worlds = Array.from({ length: 6 }, () => new World("SIGTERM"))
      const turns = StartTurns.makeUnsafe()
      yield* Effect.forEach(worlds, (world) => started(world, {}, turns))
      const haveStarted = () => worlds.map(({ command }) => command !== undefined)
      assert.deepStrictEqual(haveStarted(), [true, true, true, true, false, false])
      worlds[2]?.end(0)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(haveStarted(), [true, true, true, true, true, false])
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual(haveStarted(), [true, true, true, true, true, true])
    }),
  )

  it.effect("returns the output of a program that ends in time", () =>
    Effect.gen(function* () {
      const world = new World()
      const chunks: Array<OutputChunk> = []
      const fiber = yield* started(world, {
        onOutput: (chunk) => Effect.sync(() => void chunks.push(chunk)),
      })
      yield* Queue.offer(world.stdout, bytes("hi"))
      yield* TestClock.adjust("9999 millis")
      world.end(3)
      const hi = { text: "hi", totalBytes: 2, omittedBytes: 0 }
      assert.deepStrictEqual(yield* Fiber.join(fiber), {
        exit: { _tag: "Exited", code: 3 },
        stdout: hi,
        stderr: none,
        aggregated: hi,
        duration: Duration.nanos(9_999_000_000n),
      })
      assert.deepStrictEqual(chunks, [{ stream: "stdout", bytes: bytes("hi") }])
      assert.deepStrictEqual(world.log, [])
    }),
  )

  it.effect("signals a program to end when its time is up, and not before", () =>
    Effect.gen(function* () {
      const world = new World("SIGTERM")
      const fiber = yield* started(world)
      yield* TestClock.adjust("9999 millis")
      assert.deepStrictEqual(world.log, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).exit, {
        _tag: "TimedOut",
        after: options.timeout,
      })
      assert.deepStrictEqual(world.log, ["SIGTERM"])
    }),
  )

  it.effect("counts the time from when the program may run, not from its start", () =>
    Effect.gen(function* () {
      const world = new World("SIGTERM")
      world.acknowledged = Effect.sleep("8 seconds")
      const fiber = yield* started(world, { diesWithParent: false })
      yield* TestClock.adjust("17999 millis")
      assert.deepStrictEqual(world.log, ["watchdog", "add 42"])
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).exit._tag, "TimedOut")
    }),
  )

  it.effect("ends a program that is held back without end", () =>
    Effect.gen(function* () {
      const world = new World("SIGTERM")
      world.acknowledged = Effect.never
      const fiber = yield* started(world, { diesWithParent: false })
      yield* TestClock.adjust("39999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).exit._tag, "TimedOut")
    }),
  )

  it.effect("L14 a program that waits for its turn is ended at once, and nothing of it runs", () =>
    Effect.gen(function* () {
      const world = new World("SIGTERM")
      world.acknowledged = Effect.never
      yield* Effect.gen(function* () {
        const { run } = yield* CommandRunner
        const holders = Effect.all(
          Array.from({ length: 4 }, () => run({ ...launch, diesWithParent: false }, options)),
          { concurrency: "unbounded" },
        )
        yield* Effect.forkChild(holders)
        yield* TestClock.adjust(0)
        const made: Array<string> = []
        const one = Effect.sync(() => {
          made.push("made")
          return launch
        })
        const waiting = yield* Effect.forkChild(run(one, options))
        yield* TestClock.adjust("1 second")
        const interrupting = yield* Effect.forkChild(Fiber.interrupt(waiting))
        yield* TestClock.adjust(0)
        assert.isDefined(interrupting.pollUnsafe())
        assert.deepStrictEqual(made, [])
        yield* Effect.forkChild(run(one, options))
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(made, ["made"])
      }).pipe(Effect.provide(Layer.provide(world.layer, StartTurns.layer)))
    }),
  )

  it.effect("L8 kills it when it does not end within its grace", () =>
    Effect.gen(function* () {
      const world = new World("SIGKILL")
      const fiber = yield* started(world)
      yield* TestClock.adjust("10499 millis")
      assert.deepStrictEqual(world.log, ["SIGTERM"])
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(fiber)).exit._tag, "TimedOut")
      assert.deepStrictEqual(world.log, ["SIGTERM", "SIGKILL"])
    }),
  )

  it.effect("L14 resolves even when nothing ends the program", () =>
    Effect.gen(function* () {
      const world = new World()
      const fiber = yield* started(world)
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber), {
        startImmediately: true,
      })
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(interrupting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(world.log, ["SIGTERM", "SIGKILL"])
    }),
  )

  it.effect("waits two seconds for pipes that are still held, then ends their holders", () =>
    Effect.gen(function* () {
      const world = new World("SIGKILL")
      world.background = true
      const fiber = yield* started(world)
      world.end(0)
      yield* TestClock.adjust("1999 millis")
      assert.deepStrictEqual(world.log, [])
      yield* Queue.offer(world.stdout, bytes("late"))
      yield* TestClock.adjust("1 millis")
      const result = yield* Fiber.join(fiber)
      assert.deepStrictEqual(result.exit, { _tag: "Exited", code: 0 })
      assert.strictEqual(result.stdout.text, "late")
      assert.deepStrictEqual(world.log, ["SIGKILL"])
    }),
  )

  it.effect("names the signal that killed the program", () =>
    Effect.gen(function* () {
      const world = new World()
      const fiber = yield* started(world)
      world.end("SIGSEGV")
      assert.deepStrictEqual((yield* Fiber.join(fiber)).exit, {
        _tag: "Signaled",
        signal: "SIGSEGV",
      })
    }),
  )

  it.effect(
    "L8 registers a group with the watchdog from before its first output until its end",
    () =>
      Effect.gen(function* () {
        const world = new World("SIGTERM")
        const fiber = yield* started(world, { diesWithParent: false })
        assert.deepStrictEqual(world.log, ["watchdog", "add 42"])
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(world.log, ["watchdog", "add 42", "SIGTERM", "remove 42"])
      }),
  )

  it.effect("treats a sandbox without an exit code as one that did not start", () =>
    Effect.gen(function* () {
      const silent = new World()
      const failing = yield* started(silent, { statusFd: 4 })
      yield* Queue.offer(silent.status, bytes('{ "child-pid": 7 }\n'))
      silent.end(1)
      const { message, reason } = yield* Effect.flip(Fiber.join(failing))
      assert.deepStrictEqual(
        { message, reason },
        {
          reason: "Sandbox",
          message: "the sandbox did not start: it gave no reason",
        },
      )
      const telling = new World()
      const running = yield* started(telling, { statusFd: 4 })
      yield* Queue.offer(telling.status, bytes('{ "child-pid": 7 }\n{ "exit-code": 1 }\n'))
      telling.end(1)
      assert.deepStrictEqual((yield* Fiber.join(running)).exit, { _tag: "Exited", code: 1 })
    }),
  )

  it.effect("starts the program in its own environment, with its input closed", () =>
    Effect.gen(function* () {
      const world = new World()
      const fiber = yield* started(world, { argv: ["a", "b c"], env: { A: "1" }, cwd: "/w" })
      world.end(0)
      yield* Fiber.join(fiber)
      const command = world.command
      assert(command?._tag === "StandardCommand")
      const { cwd, env, extendEnv, shell, stdin } = command.options
      assert.deepStrictEqual([command.command, command.args], ["a", ["b c"]])
      assert.deepStrictEqual(
        { cwd, env, extendEnv, shell, stdin },
        { cwd: "/w", env: { A: "1" }, extendEnv: undefined, shell: undefined, stdin: "ignore" },
      )
    }),
  )
})
