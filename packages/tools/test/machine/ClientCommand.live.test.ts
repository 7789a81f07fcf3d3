import { assert, describe, it } from "@effect/vitest"
import { scriptedSettings } from "@colloquy/testing/ScriptedSettings"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as ClientCommand from "../../src/machine/ClientCommand.ts"
import { CommandRunner } from "../../src/process/CommandRunner.ts"
import { runnerLayer } from "../support/Runner.ts"
import { Sandbox } from "../../src/sandbox/Sandbox.ts"

const sandbox = Sandbox.of({
  status: Effect.succeed({ _tag: "Unavailable", reason: "none", advice: "none" }),
  confine: () => Effect.die("nothing can be confined here"),
})

const live = Layer.provideMerge(runnerLayer, NodeServices.layer)

const run = (
  argv: ClientCommand.ClientCommand["argv"],
  more: Partial<ClientCommand.ClientCommand> = {},
) =>
  Effect.gen(function* () {
    const runner = yield* CommandRunner
    const environment = { PATH: process.env["PATH"], HOME: "/home" }
    return yield* ClientCommand.run(
      { runner, sandbox, environment, secretNames: [] },
      {
        argv,
        settings: {
          ...scriptedSettings({ cwd: "/" }),
          sandboxPolicy: { mode: "danger-full-access" },
        },
        timeout: Duration.seconds(30),
        variables: {},
        maxOutputBytes: 1000,
        onOutput: () => Effect.void,
        ...more,
      },
    )
  }).pipe(Effect.provide(live))

describe("ClientCommand", () => {
  it.live("adds and removes variables, and keeps both outputs", () =>
    Effect.gen(function* () {
      const script = 'echo "$FOO-${HOME-none}"; echo err >&2; exit 3'
      const variables = { FOO: "bar", HOME: null }
      assert.deepStrictEqual(yield* run(["sh", "-c", script], { variables }), {
        exitCode: 3,
        stdout: "bar-none\n",
        stderr: "err\n",
      })
    }),
  )

  it.live("keeps the beginning of the output, without a character that is cut", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(["printf", "123é567"], { maxOutputBytes: 4 })
      assert.strictEqual(stdout, "123")
    }),
  )

  it.live("ends with 124 when its time is up, and with the number of a signal", () =>
    Effect.gen(function* () {
      const late = yield* run(["sleep", "30"], { timeout: Duration.millis(50) })
      assert.strictEqual(late.exitCode, 124)
      const killed = yield* run(["sh", "-c", "kill -TERM $$"])
      assert.strictEqual(killed.exitCode, 143)
    }),
  )

  it.live("reads a stream and passes output on as it comes", () =>
    Effect.gen(function* () {
      const pieces: Array<string> = []
      const { stdout } = yield* run(["cat"], {
        maxOutputBytes: 0,
        input: Stream.make("a\n", "b\n").pipe(Stream.encodeText),
        onOutput: (stream, bytes) =>
          Effect.sync(() => {
            pieces.push(`${stream} ${new TextDecoder().decode(bytes)}`)
          }),
      })
      assert.strictEqual(stdout, "")
      assert.strictEqual(pieces.join("").replaceAll("stdout ", ""), "a\nb\n")
    }),
  )
})
