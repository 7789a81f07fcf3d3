import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as OS from "node:os"
import type { Launch } from "../../src/process/Command.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { alive, mark } from "../support/Census.ts"
import { canMark, leaving } from "../support/Leaving.ts"

const sh = (script: string): Launch => ({
  argv: ["bash", "-c", script],
  cwd: OS.tmpdir(),
  env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
  inputs: new Map(),
  diesWithParent: false,
})

const options = {
  timeout: Duration.seconds(10),
  killGrace: Duration.millis(200),
  onOutput: () => Effect.void,
}

const run = (script: string, more: object = {}) =>
  Effect.flatMap(CommandRunner, (runner) => runner.run(sh(script), { ...options, ...more }))

const live = Layer.provide(runnerLayer, NodeServices.layer)

describe.skipIf(!canMark)("descendants that left the group of their command", () => {
  for (const [name, script] of Object.entries(leaving)) {
    it.live(`L8 end with the command: ${name}`, () =>
      Effect.gen(function* () {
        const word = mark()
        const begun = yield* run(`${script(word)}\nsleep 0.2; pgrep -fc "^sleep ${word}"`)
        assert.strictEqual(begun.stdout.text, "1\n")
        assert.deepStrictEqual(alive(word), [])
      }).pipe(Effect.provide(live)),
    )
  }

  it.live("L8 end with a command that times out, and with one that is interrupted", () =>
    Effect.gen(function* () {
      const word = mark()
      const script = `trap '' TERM; setsid -f sleep ${word}; echo up; sleep ${word}`
      const { exit } = yield* run(script, { timeout: Duration.millis(300) })
      assert.strictEqual(exit._tag, "TimedOut")
      assert.deepStrictEqual(alive(word), [])
      const begun = Promise.withResolvers<void>()
      const onOutput = () => Effect.sync(() => begun.resolve())
      const fiber = yield* Effect.forkChild(run(script, { onOutput }))
      yield* Effect.promise(() => begun.promise)
      assert.isNotEmpty(alive(word))
      const [waited] = yield* Effect.timed(Fiber.interrupt(fiber))
      assert.deepStrictEqual(alive(word), [])
      assert.isBelow(Duration.toMillis(waited), 12_000)
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 end also after more than a second, and while they start others", () =>
    Effect.gen(function* () {
      const word = mark()
      const chain = `n=0; while [ $n -lt 2000 ]; do n=$((n+1)); setsid -f sleep ${word}.$n; done`
      yield* run(`setsid -f bash -c '${chain}' >/dev/null 2>&1; sleep 1.2`)
      assert.deepStrictEqual(alive(word), [])
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 do not end with other commands", () =>
    Effect.gen(function* () {
      const [kept, ended] = [mark(), mark()]
      const begun = Promise.withResolvers<void>()
      const onOutput = () => Effect.sync(() => begun.resolve())
      const fiber = yield* Effect.forkChild(
        run(`setsid -f sleep ${kept} >/dev/null 2>&1; echo up; sleep ${kept}`, { onOutput }),
      )
      yield* Effect.promise(() => begun.promise)
      yield* run(`setsid -f sleep ${ended} >/dev/null 2>&1`)
      assert.deepStrictEqual(alive(ended), [])
      assert.isAtLeast(alive(kept).length, 2)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(alive(kept), [])
    }).pipe(Effect.provide(live)),
  )

  it.live("L8 the limit: a descendant that removes its mark on purpose survives", () =>
    Effect.gen(function* () {
      const word = mark()
      yield* run(`ulimit -S -x unlimited; setsid -f sleep ${word} >/dev/null 2>&1; sleep 0.2`)
      const left = alive(word)
      for (const pid of left) process.kill(Number(pid), "SIGKILL")
      assert.lengthOf(left, 1)
    }).pipe(Effect.provide(live)),
  )

  it.live("a command sees no other difference in its limits, and none in its environment", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run("ulimit -a | grep -v 'file locks'; env; ulimit -H -x")
      const bare = yield* Effect.flatMap(CommandRunner, (runner) =>
        runner.run(
          { ...sh("ulimit -a | grep -v 'file locks'; env; ulimit -H -x"), diesWithParent: true },
          options,
        ),
      )
      assert.strictEqual(stdout.text, bare.stdout.text)
    }).pipe(Effect.provide(live)),
  )
})
