/** Counts what one confined command costs this process: calls of the file system, and processes. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fs from "node:fs"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { TrustedPrograms } from "../../src/programs/TrustedPrograms.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"
import * as SandboxLayer from "../../src/sandbox/SandboxLayer.ts"
import { hasBubblewrap } from "../support/Bubblewrap.ts"
import { observeCalls } from "../support/FileCalls.ts"

const machine = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => Fs.realpathSync(Fs.mkdtempSync("/tmp/colloquy-cost-"))),
    (made) => Effect.sync(() => Fs.rmSync(made, { recursive: true })),
  ),
  (base) => {
    for (const place of ["workspace/.git/hooks", "workspace/.git/refs", "state/sessions"]) {
      Fs.mkdirSync(`${base}/${place}`, { recursive: true })
    }
    for (const file of ["workspace/.git/HEAD", "workspace/.git/config", "state/auth.json"]) {
      Fs.writeFileSync(`${base}/${file}`, "")
    }
    const environment = { PATH: "/usr/local/bin:/usr/bin:/bin" }
    const sandbox = SandboxLayer.layer({
      environment,
      hiddenPaths: [`${base}/state`],
      machine: { platform: process.platform, processor: process.arch },
    })
    const layer = Layer.merge(runnerLayer, sandbox).pipe(
      Layer.provide(TrustedPrograms.layer({ environment })),
      Layer.provide(NodeServices.layer),
    )
    return { workspace: `${base}/workspace`, layer }
  },
)

/** Runs `true` in the sandbox; its `/tmp/.git` and that of the machine are protected. */
const command = Effect.fnUntraced(function* (workspace: string) {
  const sandbox = yield* Sandbox
  const runner = yield* CommandRunner
  const launch = yield* sandbox.confine(
    { argv: ["/bin/true"], cwd: workspace, env: {} },
    { mode: "workspace-write" },
    workspace,
  )
  const result = yield* runner.run(
    { ...launch, joinsOutput: true },
    {
      timeout: Duration.seconds(20),
      killGrace: Duration.millis(500),
      onOutput: () => Effect.void,
    },
  )
  assert.deepStrictEqual(result.exit, { _tag: "Exited", code: 0 })
}, Effect.scoped)

/** Expected numbers, and ten percent more. */
const limits = { waiting: 0, immediate: 38, processes: 1 } as const

describe.skipIf(!hasBubblewrap)("the cost of a confined command", () => {
  it.live("is one process and no call that waits for a thread", () =>
    Effect.gen(function* () {
      const { layer, workspace } = yield* machine
      const counts = yield* observeCalls
      yield* Effect.gen(function* () {
        // The first command probes the sandbox and starts the watchdog.
        yield* command(workspace)
        for (let run = 0; run < 3; run++) {
          counts.reset()
          yield* command(workspace)
          assert.strictEqual(counts.processes, limits.processes)
          assert.strictEqual(counts.waiting, limits.waiting)
          assert.isAtMost(counts.immediate, limits.immediate * 1.1)
          // The wrappers do see calls.
          assert.isAtLeast(counts.immediate, 10)
        }
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped),
  )
})
