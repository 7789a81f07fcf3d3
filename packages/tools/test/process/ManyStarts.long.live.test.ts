/** Many commands at once on a machine that has other work: the wait for the start is no time of a command. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"
import { hasBubblewrap } from "../support/Bubblewrap.ts"

const commands = 100

/** A directory, and the sandbox for commands in it. */
const workspace = Effect.acquireRelease(
  Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync("/tmp/colloquy-many-"))),
  (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true })),
)

const environment = { PATH: "/usr/local/bin:/usr/bin:/bin" }

const live = Layer.merge(
  runnerLayer,
  SandboxLayer.layer({
    environment,
    hiddenPaths: [],
    machine: { platform: process.platform, processor: process.arch },
  }),
).pipe(Layer.provide(TrustedPrograms.layer({ environment })), Layer.provide(NodeServices.layer))

/** Loops that use every processor of the machine several times over, until the scope closes. */
const busy = Effect.acquireRelease(
  Effect.sync(() =>
    Array.from({ length: 3 * Os.availableParallelism() }, () =>
      ChildProcess.spawn("/bin/sh", ["-c", "while :; do :; done"], { stdio: "ignore" }),
    ),
  ),
  (loops) => Effect.sync(() => loops.forEach((loop) => loop.kill("SIGKILL"))),
)

const echo = Effect.fnUntraced(function* (directory: string, timeout: Duration.Duration) {
  const sandbox = yield* Sandbox
  const runner = yield* CommandRunner
  const launch = sandbox.confine(
    { argv: ["/bin/echo", "done"], cwd: directory, env: {} },
    { mode: "workspace-write" },
    directory,
  )
  const { exit, stdout } = yield* runner.run(launch, {
    timeout,
    killGrace: Duration.millis(500),
    onOutput: () => Effect.void,
  })
  return { exit, text: stdout.text }
}, Effect.scoped)

describe.skipIf(!hasBubblewrap)("many commands at once", () => {
  it.live(
    "none times out that one alone ends in a small part of its time",
    () =>
      Effect.gen(function* () {
        const directory = yield* workspace
        yield* busy
        yield* Effect.gen(function* () {
          yield* echo(directory, Duration.minutes(1))
          const before = yield* Clock.currentTimeMillis
          for (let run = 0; run < 5; run++) yield* echo(directory, Duration.minutes(1))
          const alone = ((yield* Clock.currentTimeMillis) - before) / 5
          const all = yield* Effect.forEach(
            Array.from({ length: commands }),
            () => echo(directory, Duration.millis(10 * alone)),
            { concurrency: "unbounded" },
          )
          const bad = all.filter(({ exit, text }) => exit._tag !== "Exited" || text !== "done\n")
          assert.deepStrictEqual(bad, [])
        }).pipe(Effect.provide(live))
      }).pipe(Effect.scoped),
    { timeout: 300_000 },
  )
})
