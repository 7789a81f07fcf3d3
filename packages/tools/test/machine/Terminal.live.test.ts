/** Commands in a terminal on a real machine. */
import { assert, describe, it } from "@effect/vitest"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Done } from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as ClientCommand from "../../src/machine/ClientCommand.ts"
import type { TerminalSize } from "../../src/machine/Terminal.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { isRunning } from "../support/Census.ts"

const python = ["/usr/bin/python3", "/usr/local/bin/python3"].find((path) => Fs.existsSync(path))

const environment = { PATH: process.env["PATH"], HOME: "/home" }
const options = { environment, secretNames: [], node: process.execPath, hiddenPaths: [] }

const live = SandboxLayer.layer({
  machine: { platform: process.platform, processor: process.arch },
  ...options,
}).pipe(
  Layer.provideMerge(runnerLayer),
  Layer.provideMerge(TrustedPrograms.layer(options)),
  Layer.provideMerge(NodeServices.layer),
)

/** Starts a command in a terminal of 80 columns and 24 rows. */
const open = Effect.fnUntraced(function* (
  argv: ClientCommand.ClientCommand["argv"],
  mode: "danger-full-access" | "read-only" = "danger-full-access",
) {
  const parts = {
    runner: yield* CommandRunner,
    sandbox: yield* Sandbox,
    environment,
    secretNames: [],
  }
  const input = yield* Queue.unbounded<Uint8Array, Done>()
  const sizes = yield* Queue.unbounded<TerminalSize, Done>()
  let output = ""
  const waiting = new Map<string, Deferred.Deferred<void>>()
  const running = yield* ClientCommand.run(parts, {
    argv,
    settings: { ...scriptedSettings({ cwd: Os.tmpdir() }), sandboxPolicy: { mode } },
    timeout: Duration.seconds(30),
    variables: {},
    maxOutputBytes: 0,
    terminal: {
      python: python ?? "",
      size: { rows: 24, cols: 80 },
      sizes: Stream.fromQueue(sizes),
    },
    input: Stream.fromQueue(input),
    onOutput: (stream, bytes) =>
      Effect.sync(() => {
        assert.strictEqual(stream, "stdout")
        output += new TextDecoder().decode(bytes)
        for (const [text, shown] of waiting) {
          if (output.includes(text)) Deferred.doneUnsafe(shown, Effect.void)
        }
      }),
  }).pipe(Effect.forkScoped({ startImmediately: true }))
  return {
    running,
    output: () => output,
    type: (text: string) => Queue.offer(input, new TextEncoder().encode(text)),
    end: Queue.end(input),
    resize: (rows: number, cols: number) => Queue.offer(sizes, { rows, cols }),
    shows: (text: string) =>
      Effect.suspend(() => {
        const shown = waiting.get(text) ?? Deferred.makeUnsafe<void>()
        waiting.set(text, shown)
        if (output.includes(text)) Deferred.doneUnsafe(shown, Effect.void)
        return Deferred.await(shown)
      }),
  }
})

type Terminal = Effect.Success<ReturnType<typeof open>>

const withTerminal = <A, E>(
  argv: ClientCommand.ClientCommand["argv"],
  body: (terminal: Terminal) => Effect.Effect<A, E>,
  mode?: "read-only",
) => open(argv, mode).pipe(Effect.flatMap(body), Effect.scoped, Effect.provide(live))

describe.skipIf(python === undefined)("a command in a terminal", () => {
  for (const mode of ["danger-full-access", "read-only"] as const) {
    it.live.skipIf(mode === "read-only" && !hasBubblewrap)(
      `has a terminal of that size on all its streams, ${mode}`,
      () =>
        withTerminal(
          ["sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo tty; stty size; exit 3"],
          ({ output, running }) =>
            Effect.gen(function* () {
              assert.deepInclude(yield* Fiber.join(running), { exitCode: 3 })
              assert.strictEqual(output(), "tty\r\n24 80\r\n")
            }),
          ...(mode === "read-only" ? [mode] : []),
        ),
    )
  }

  it.live("is typed into, and gets the sizes that follow", () =>
    withTerminal(["sh"], ({ resize, running, shows, type }) =>
      Effect.gen(function* () {
        yield* type("echo a$((20 + 3))b\n")
        yield* shows("a23b")
        yield* resize(50, 132)
        yield* type("trap 'echo changed' WINCH; stty size\n")
        yield* shows("50 132")
        yield* type("exit 7\n")
        assert.deepInclude(yield* Fiber.join(running), { exitCode: 7 })
      }),
    ),
  )

  it.live("reads the end of its input once nothing more is typed", () =>
    withTerminal(["cat"], ({ end, output, running, type }) =>
      Effect.gen(function* () {
        yield* type("abc\n")
        yield* end
        assert.deepInclude(yield* Fiber.join(running), { exitCode: 0 })
        assert.strictEqual(output(), "abc\r\nabc\r\n")
      }),
    ),
  )

  it.live("all of a long output arrives, and all of a long input", () =>
    withTerminal(
      ["sh", "-c", "stty raw -echo; echo ready; head -c 300000 | wc -c; seq 50000"],
      (terminal) =>
        Effect.gen(function* () {
          yield* terminal.shows("ready")
          yield* terminal.type("x".repeat(300_000))
          assert.deepInclude(yield* Fiber.join(terminal.running), { exitCode: 0 })
          const lines = terminal.output().split(/\r?\n/)
          assert.include(lines, "300000")
          assert.deepStrictEqual(
            lines.slice(-50_001, -1),
            Array.from({ length: 50_000 }, (_, index) => String(index + 1)),
          )
        }),
    ),
  )

  it.live("a program that cannot be started ends with 127 and the reason", () =>
    withTerminal(["/no/such/program"], ({ output, running }) =>
      Effect.gen(function* () {
        assert.deepInclude(yield* Fiber.join(running), { exitCode: 127 })
        assert.include(output(), "/no/such/program: No such file or directory")
      }),
    ),
  )

  it.live("L8 an interrupt ends it with everything that it started", () =>
    withTerminal(["sh", "-c", "trap '' HUP; sleep 1000 & echo $! $$ ready; wait"], (terminal) =>
      Effect.gen(function* () {
        yield* terminal.shows("ready")
        const pids = (terminal.output().match(/\d+/g) ?? []).map(Number)
        assert.lengthOf(pids, 2)
        yield* Fiber.interrupt(terminal.running)
        assert.deepStrictEqual(pids.filter(isRunning), [])
      }),
    ),
  )
})
