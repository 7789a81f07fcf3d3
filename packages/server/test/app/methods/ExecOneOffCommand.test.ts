import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { HostFailed, HostPort, type OneOffCommand } from "../../../src/app/ports/HostPort.ts"
import { errorOf, resultOf, type Refusal, withApp } from "../../support/AppHarness.ts"
import { settingsWith } from "../../support/Harness.ts"

const recorder = (failing?: string) => {
  const ran: Array<OneOffCommand> = []
  const host = {
    ...HostPort.none,
    runCommand: (command: OneOffCommand) => {
      ran.push(command)
      return failing === undefined
        ? Effect.succeed({ exitCode: 3, stdout: "out\n", stderr: "err\n" })
        : Effect.fail(new HostFailed({ message: failing }))
    },
  }
  return { host, ran }
}

describe("execOneOffCommand", () => {
  it.effect(
    "runs with the directory and sandbox of the configuration, for at most ten seconds",
    () => {
      const { host, ran } = recorder()
      return withApp(
        { ports: { host }, settings: settingsWith({ sandbox_mode: "danger-full-access" }) },
        (app) =>
          Effect.gen(function* () {
            const answer = yield* app.ask(1, "execOneOffCommand", { command: ["echo", "hi"] })
            assert.deepStrictEqual(resultOf(answer), {
              exitCode: 3,
              stdout: "out\n",
              stderr: "err\n",
            })
            assert.deepStrictEqual(
              ran.map(({ argv, settings, timeout }) => ({
                argv,
                cwd: settings.cwd,
                sandbox: settings.sandboxPolicy,
                timeoutMs: Duration.toMillis(timeout),
              })),
              [
                {
                  argv: ["echo", "hi"],
                  cwd: "/work",
                  sandbox: { mode: "danger-full-access" },
                  timeoutMs: 10_000,
                },
              ],
            )
          }),
      )
    },
  )

  it.effect("L15 runs with the directory and sandbox of the request", () => {
    const { host, ran } = recorder()
    return withApp(
      { ports: { host }, settings: settingsWith({ sandbox_mode: "danger-full-access" }) },
      (app) =>
        Effect.gen(function* () {
          yield* app.ask(1, "execOneOffCommand", {
            command: ["pwd"],
            cwd: "sub",
            timeoutMs: 0,
            sandboxPolicy: { mode: "read-only" },
          })
          assert.deepStrictEqual(
            ran.map(({ settings, timeout }) => [
              settings.cwd,
              settings.sandboxPolicy,
              Duration.toMillis(timeout),
            ]),
            [["/work/sub", { mode: "read-only" }, 0]],
          )
        }),
    )
  })

  it.effect("L15 a command that cannot be confined is an error with the reason in its data", () => {
    const message = "the sandbox is not available: no bwrap (install it)"
    const host = {
      ...HostPort.none,
      runCommand: () => Effect.fail(new HostFailed({ message, reason: "SandboxUnavailable" })),
    }
    return withApp({ ports: { host } }, (app) =>
      Effect.gen(function* () {
        const answer = yield* app.ask(1, "execOneOffCommand", { command: ["cat", "a"] })
        assert.deepInclude(errorOf(answer), { code: -32603, message: `exec failed: ${message}` })
        assert.nestedPropertyVal(answer, "error.data.reason", "SandboxUnavailable")
      }),
    )
  })

  it.effect("a program that cannot be run is an error", () =>
    withApp({ ports: { host: recorder("no such program").host } }, (app) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          errorOf(yield* app.ask(1, "execOneOffCommand", { command: ["x"] })),
          { code: -32603, message: "exec failed: no such program" },
        )
      }),
    ),
  )

  it.effect.each([
    [{ command: [] }, "command must not be empty"],
    [{}, "Invalid request: params.command: Missing key"],
    [{ command: "echo hi" }, "Invalid request: params.command"],
    [{ command: ["x"], timeoutMs: -1 }, "Invalid request: params.timeoutMs"],
    [{ command: ["x"], sandboxPolicy: { mode: "none" } }, "Invalid request: params.sandboxPolicy"],
  ] as ReadonlyArray<Refusal>)("refuses %j, and nothing runs", ([params, text]) => {
    const { host, ran } = recorder()
    return withApp({ ports: { host } }, (app) =>
      Effect.gen(function* () {
        const { code, message } = errorOf(yield* app.ask(1, "execOneOffCommand", params))
        assert.strictEqual(code, -32600)
        assert.isTrue(String(message).startsWith(text), String(message))
        assert.deepStrictEqual(ran, [])
      }),
    )
  })
})
