import { assert, describe, it } from "@effect/vitest"
import { SettingsResolver } from "@colloquy/core/ConversationSettings"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { HostFailed } from "../../../src/app/ports/HostPort.ts"
import {
  type ClientCommand,
  CommandPort,
  type Commands,
} from "../../../src/thread/host/ports/CommandPort.ts"
import { errorOf, resultOf } from "../../support/AppHarness.ts"
import { settingsWith } from "../../support/Harness.ts"
import { told, withThreads } from "../../support/Threading.ts"

const done = { exitCode: 0, stdout: "out\n", stderr: "" }

/** Copies its input to its output; one called `wait` never ends, and one called `fail` cannot be started. */
const machine = () => {
  const ran: Array<ClientCommand> = []
  let running = 0
  const commands: Commands = {
    run: (command) =>
      Effect.gen(function* () {
        ran.push(command)
        const [program] = command.argv
        if (program === "fail") return yield* new HostFailed({ message: "no such program" })
        if (program === "wait") return yield* Effect.never
        const { input = Stream.empty, onOutput } = command
        yield* Stream.runForEach(input, (bytes) => onOutput("stdout", bytes))
        return done
      }).pipe((run) =>
        Effect.acquireUseRelease(
          Effect.sync(() => running++),
          () => run,
          () => Effect.sync(() => running--),
        ),
      ),
  }
  return { commands, ran, running: () => running }
}

const settings = settingsWith({ sandbox_mode: "danger-full-access" })

describe("command/exec", () => {
  it.effect("refuses variables that no process can have, and names `env`", () => {
    const { commands, ran } = machine()
    return withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const bad = [{ "": "1" }, { "A=B": "1" }, { "A\0": null }, { A: "1\0" }]
        for (const [place, env] of bad.entries()) {
          const error = errorOf(
            yield* app.ask(`bad ${place}`, "command/exec", { command: ["echo"], env }),
          )
          assert.strictEqual(error.code, -32602)
          assert.match(String(error.message), /^command\/exec env/)
        }
        assert.lengthOf(ran, 0)
      }),
    ).pipe(Effect.provideService(CommandPort, commands))
  })

  it.effect("runs with the directory, environment, sandbox and limits of the request", () => {
    const { commands, ran } = machine()
    return withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const params = {
          command: ["echo", "a"],
          cwd: "sub",
          env: { A: "1", B: null },
          timeoutMs: 5,
          outputBytesCap: 4,
          sandboxPolicy: { type: "readOnly" },
        }
        assert.deepStrictEqual(resultOf(yield* app.ask(1, "command/exec", params)), done)
        assert.deepStrictEqual(
          ran.map((one) => ({
            argv: one.argv,
            cwd: one.settings.cwd,
            sandbox: one.settings.sandboxPolicy,
            variables: one.variables,
            timeoutMs: Duration.toMillis(one.timeout),
            cap: one.maxOutputBytes,
          })),
          [
            {
              argv: ["echo", "a"],
              cwd: "/work/sub",
              sandbox: { mode: "read-only" },
              variables: { A: "1", B: null },
              timeoutMs: 5,
              cap: 4,
            },
          ],
        )
      }),
    ).pipe(Effect.provideService(CommandPort, commands))
  })

  it.effect("notifies output before the response, up to the limit", () =>
    withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const params = {
          command: ["cat"],
          processId: "p",
          streamStdin: true,
          streamStdoutStderr: true,
          outputBytesCap: 7,
        }
        yield* app.send({ id: 1, method: "command/exec", params })
        yield* app.quiet
        const again = yield* app.ask(2, "command/exec", { command: ["cat"], processId: "p" })
        assert.deepStrictEqual(errorOf(again), {
          code: -32600,
          message: 'duplicate active command/exec process id: "p"',
        })
        const write = (id: number, more: object) =>
          app.ask(id, "command/exec/write", { processId: "p", ...more })
        assert.deepStrictEqual(resultOf(yield* write(3, { deltaBase64: "aGVsbG8K" })), {})
        const bad = errorOf(yield* write(4, { deltaBase64: "!!" }))
        assert.strictEqual(bad.code, -32602)
        assert.include(bad.message, "deltaBase64")
        yield* write(5, { deltaBase64: "aGVsbG8K", closeStdin: true })
        assert.deepStrictEqual(resultOf(yield* app.response(1)), done)
        assert.deepStrictEqual(told(app, "command/exec/outputDelta"), [
          { processId: "p", stream: "stdout", deltaBase64: "aGVsbG8K", capReached: false },
          { processId: "p", stream: "stdout", deltaBase64: "aA==", capReached: true },
        ])
        assert.include(errorOf(yield* write(6, {})).message, "no active command/exec")
      }),
    ).pipe(Effect.provideService(CommandPort, machine().commands)),
  )

  it.effect("refuses contradictions by name", () =>
    withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const ids = "command/exec tty or streaming requires a client-supplied processId"
        const cases = [
          [{ command: [] }, "command must not be empty"],
          [{ command: ["a"], streamStdin: true }, ids],
          [{ command: ["a"], tty: true }, ids],
          [
            { command: ["a"], timeoutMs: -5 },
            "command/exec timeoutMs must be non-negative, got -5",
          ],
          [
            { command: ["a"], timeoutMs: 5, disableTimeout: true },
            "command/exec cannot set both timeoutMs and disableTimeout",
          ],
          [
            { command: ["a"], outputBytesCap: 5, disableOutputCap: true },
            "command/exec cannot set both outputBytesCap and disableOutputCap",
          ],
          [{ command: ["a"], size: { rows: 1, cols: 1 } }, "command/exec size requires tty: true"],
          [{ command: ["fail"] }, "failed to spawn command: no such program"],
        ] as const
        for (const [index, [params, message]] of cases.entries()) {
          const answer = yield* app.ask(index, "command/exec", params)
          assert.strictEqual(errorOf(answer).message, message)
        }
      }),
    ).pipe(Effect.provideService(CommandPort, machine().commands)),
  )
})

describe("command/exec/write", () => {
  it.effect("L1 waits while 64 pieces are not read, and is answered when the command ends", () =>
    withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const params = { command: ["wait"], processId: "p", streamStdin: true }
        yield* app.send({ id: "exec", method: "command/exec", params })
        yield* app.quiet
        const write = { processId: "p", deltaBase64: "YQ==" }
        for (let id = 1; id <= 64; id++) {
          assert.deepStrictEqual(resultOf(yield* app.ask(id, "command/exec/write", write)), {})
        }
        yield* app.send({ id: 65, method: "command/exec/write", params: write })
        yield* app.quiet
        assert.isFalse(app.messages.some(({ id }) => id === 65))
        yield* app.ask("end", "command/exec/terminate", { processId: "p" })
        assert.deepStrictEqual(errorOf(yield* app.response(65)), {
          code: -32600,
          message: "stdin is already closed",
        })
      }),
    ).pipe(Effect.provideService(CommandPort, machine().commands)),
  )
})

describe("the bytes that a command has not read", () => {
  it.effect("have a limit, which a refused piece does not reach", () =>
    withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const params = { command: ["wait"], processId: "p", streamStdin: true }
        yield* app.send({ id: "exec", method: "command/exec", params })
        yield* app.quiet
        const write = (id: number, bytes: number) =>
          app.ask(id, "command/exec/write", {
            processId: "p",
            deltaBase64: Base64.encode(new Uint8Array(bytes)),
          })
        const mib = 1024 * 1024
        for (let id = 0; id < 15; id++) resultOf(yield* write(id, mib))
        const refused = errorOf(yield* write(20, mib + 1))
        assert.strictEqual(refused.code, -32602)
        assert.match(
          refused.message ?? "",
          /^deltaBase64: expected at most 16777216 bytes that the command has not read; got 1048577 with 15728640 unread$/,
        )
        resultOf(yield* write(21, mib))
        assert.isDefined((yield* write(22, 1)).error)
      }),
    ).pipe(Effect.provideService(CommandPort, machine().commands)),
  )

  it.effect("are those that it has not read", () => {
    let read = 0
    const commands: Commands = {
      run: ({ input }) =>
        Stream.runForEach(input ?? Stream.empty, (bytes) =>
          Effect.sync(() => (read += bytes.length)),
        ).pipe(Effect.as({ exitCode: 0, stdout: "", stderr: "" })),
    }
    return withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const params = { command: ["wait"], processId: "p", streamStdin: true }
        yield* app.send({ id: "exec", method: "command/exec", params })
        yield* app.quiet
        const deltaBase64 = Base64.encode(new Uint8Array(1024 * 1024))
        for (let id = 0; id < 20; id++) {
          resultOf(yield* app.ask(id, "command/exec/write", { processId: "p", deltaBase64 }))
          yield* app.quiet
        }
        assert.strictEqual(read, 20 * 1024 * 1024)
      }),
    ).pipe(Effect.provideService(CommandPort, commands))
  })
})

describe("command/exec/resize", () => {
  it.effect("a command that is slow gets the latest of several sizes", () => {
    const read = Deferred.makeUnsafe<void>()
    const sizes: Array<unknown> = []
    const commands: Commands = {
      run: ({ terminal }) =>
        Deferred.await(read).pipe(
          Effect.andThen(
            Stream.runForEach(Stream.take(terminal?.sizes ?? Stream.empty, 1), (size) =>
              Effect.sync(() => sizes.push(size)),
            ),
          ),
          Effect.as({ exitCode: 0, stdout: "", stderr: "" }),
        ),
    }
    return withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const params = { command: ["sh"], processId: "p", tty: true }
        yield* app.send({ id: "exec", method: "command/exec", params })
        yield* app.quiet
        for (const rows of [5, 6, 7]) {
          const size = { rows, cols: 80 }
          yield* app.ask(`${rows}`, "command/exec/resize", { processId: "p", size })
        }
        yield* Deferred.succeed(read, undefined)
        yield* app.response("exec")
        assert.deepStrictEqual(sizes, [{ rows: 7, cols: 80 }])
      }),
    ).pipe(Effect.provideService(CommandPort, commands))
  })

  it.effect(
    "a command in a terminal is typed into, and gets its size and those that follow",
    () => {
      const sizes: Array<unknown> = []
      const commands: Commands = {
        run: ({ input = Stream.empty, onOutput, terminal }) =>
          Effect.gen(function* () {
            sizes.push(terminal?.size)
            yield* Stream.runForEach(terminal?.sizes ?? Stream.empty, (size) =>
              Effect.sync(() => sizes.push(size)),
            ).pipe(Effect.forkScoped({ startImmediately: true }))
            yield* Stream.runForEach(input, (bytes) => onOutput("stdout", bytes))
            return { exitCode: 0, stdout: "", stderr: "" }
          }).pipe(Effect.scoped),
      }
      return withThreads({ settings }, (app) =>
        Effect.gen(function* () {
          const params = { command: ["sh"], processId: "p", tty: true, size: { rows: 5, cols: 6 } }
          yield* app.send({ id: 1, method: "command/exec", params })
          yield* app.quiet
          const write = { processId: "p", deltaBase64: "YQ==", closeStdin: true }
          const size = { rows: 7, cols: 8 }
          const resized = yield* app.ask(2, "command/exec/resize", { processId: "p", size })
          assert.deepStrictEqual(resultOf(resized), {})
          yield* app.quiet
          assert.deepStrictEqual(resultOf(yield* app.ask(3, "command/exec/write", write)), {})
          assert.deepInclude(resultOf(yield* app.response(1)), { exitCode: 0, stdout: "" })
          assert.deepStrictEqual(sizes, [params.size, size])
          assert.deepInclude(told(app, "command/exec/outputDelta")[0], {
            processId: "p",
            stream: "stdout",
            deltaBase64: "YQ==",
          })
          const gone = yield* app.ask(4, "command/exec/resize", { processId: "p", size })
          assert.include(errorOf(gone).message, "no active command/exec")
        }),
      ).pipe(Effect.provideService(CommandPort, commands))
    },
  )

  it.effect("a machine without a terminal is an error with the reason in its data", () => {
    const commands: Commands = {
      run: () =>
        Effect.fail(new HostFailed({ message: "no Python", reason: "TerminalUnavailable" })),
    }
    return withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const params = { command: ["sh"], processId: "p", tty: true }
        const answer = yield* app.ask(1, "command/exec", params)
        assert.deepInclude(answer.error, {
          message: "failed to spawn command: no Python",
          data: { reason: "TerminalUnavailable" },
        })
      }),
    ).pipe(Effect.provideService(CommandPort, commands))
  })
})

describe("command/exec/terminate", () => {
  it.effect("ends the command, whose request is answered with exit code 1", () => {
    const { commands, running } = machine()
    return withThreads({ settings }, (app) =>
      Effect.gen(function* () {
        const params = { command: ["wait"], processId: "p" }
        yield* app.send({ id: 1, method: "command/exec", params })
        yield* app.quiet
        const closed = yield* app.ask(2, "command/exec/write", { processId: "p" })
        assert.include(errorOf(closed).message, "stdin streaming is not enabled")
        const size = { rows: 1, cols: 1 }
        const resized = yield* app.ask(3, "command/exec/resize", { processId: "p", size })
        assert.include(errorOf(resized).message, "has no terminal")
        const end = (id: number) => app.ask(id, "command/exec/terminate", { processId: "p" })
        assert.deepStrictEqual(resultOf(yield* end(4)), {})
        assert.deepStrictEqual(resultOf(yield* app.response(1)), {
          exitCode: 1,
          stdout: "",
          stderr: "",
        })
        assert.strictEqual(running(), 0)
        assert.deepStrictEqual(errorOf(yield* end(5)), {
          code: -32600,
          message: 'no active command/exec for process id "p"',
        })
      }),
    ).pipe(Effect.provideService(CommandPort, commands))
  })

  it.effect("L8 commands end with their connection", () => {
    const { commands, running } = machine()
    return Effect.gen(function* () {
      yield* withThreads({ settings }, (app) =>
        Effect.gen(function* () {
          const params = { command: ["wait"], processId: "p", disableTimeout: true }
          yield* app.send({ id: 1, method: "command/exec", params })
          yield* app.quiet
          assert.strictEqual(running(), 1)
          yield* app.connection.drop
          yield* app.quiet
          // Requests in flight have the shutdown grace.
          yield* TestClock.adjust("1 second")
          assert.strictEqual(running(), 0)
        }),
      )
    }).pipe(Effect.provideService(CommandPort, commands))
  })

  it.effect("has its id from the moment of its request", () => {
    const { commands, ran } = machine()
    // As with a file of the configuration, which is read anew.
    const slow = Layer.effect(
      SettingsResolver,
      Effect.map(SettingsResolver, ({ resolve }) => ({
        resolve: (overrides) => Effect.andThen(Effect.yieldNow, resolve(overrides)),
      })),
    )
    return withThreads({ settings: Layer.provide(slow, settings) }, (app) =>
      Effect.gen(function* () {
        const exec = (id: number) => ({
          id,
          method: "command/exec",
          params: { command: ["wait"], processId: "p" },
        })
        const terminate = { id: 3, method: "command/exec/terminate", params: { processId: "p" } }
        yield* app.send(exec(1), exec(2), terminate)
        assert.include(errorOf(yield* app.response(2)).message, "duplicate")
        assert.deepStrictEqual(resultOf(yield* app.response(3)), {})
        assert.strictEqual(resultOf(yield* app.response(1))["exitCode"], 1)
        assert.isAtMost(ran.length, 1)
      }),
    ).pipe(Effect.provideService(CommandPort, commands))
  })
})
