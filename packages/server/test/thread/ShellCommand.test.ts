/** Commands of the user in a thread. */
import { ToolRuntime, type ToolContext } from "@colloquy/core/ToolRuntime"
import { wireDuration } from "@colloquy/protocol/events/WireDuration"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import { errorOf, eventsOf, listening, resultOf, withApp } from "../support/AppHarness.ts"
import { at, lines, started, told, turn, withThreads } from "../support/Threading.ts"

/** Reports what a shell that prints the line and ends with this code reports. */
const echo = (
  line: string,
  callId: string,
  { emit }: ToolContext,
  exitCode: number,
  between: Effect.Effect<unknown> = Effect.void,
) =>
  Effect.gen(function* () {
    const output = `${line}\n`
    yield* emit({
      type: "exec_command_begin",
      call_id: callId,
      command: ["/bin/bash", "-lc", line],
      cwd: "/work",
      parsed_cmd: [{ type: "unknown", cmd: line }],
      source: "user_shell",
    })
    yield* emit({
      type: "exec_command_output_delta",
      call_id: callId,
      stream: "stdout",
      chunk: Base64.encode(output),
    })
    yield* between
    yield* emit({
      type: "exec_command_end",
      call_id: callId,
      stdout: output,
      stderr: "",
      exit_code: exitCode,
      duration: wireDuration(15),
    })
    return { output: `exit ${exitCode}: ${output}` }
  })

const shell = (exitCode = 0, between?: Effect.Effect<unknown>) =>
  ToolRuntime.simple({
    specs: () => [],
    run: () => Effect.succeed("none"),
    runUserCommand: (line, callId, context) => echo(line, callId, context, exitCode, between),
  })

const command = (threadId: string, line = "echo hi") => ({ threadId, command: line })

describe("thread/shellCommand", () => {
  it.effect("is a turn of its own with one item, whose output is complete", () =>
    withThreads({ script: [], tools: shell(2) }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const before = app.messages.length
        const answer = yield* app.ask("run", "thread/shellCommand", command(threadId))
        assert.deepStrictEqual(resultOf(answer), {})
        yield* app.quiet
        assert.deepStrictEqual(lines(app, before), [
          "answer run",
          "thread/status/changed active",
          "turn/started",
          "item/started commandExecution",
          "item/commandExecution/outputDelta",
          "item/completed commandExecution",
          "thread/status/changed idle",
          "turn/completed",
        ])
        assert.deepInclude(at(told(app, "item/completed")[0], "item"), {
          command: "/bin/bash -lc 'echo hi'",
          source: "userShell",
          status: "failed",
          exitCode: 2,
          aggregatedOutput: "echo hi\n",
          commandActions: [{ type: "unknown", command: "echo hi" }],
        })
        assert.strictEqual(
          at(told(app, "item/commandExecution/outputDelta")[0], "delta"),
          "echo hi\n",
        )
        const completed = at(told(app, "turn/completed")[0], "turn")
        assert.deepInclude(completed, { status: "completed", itemsView: "notLoaded" })
        const read = yield* app.ask("read", "thread/read", { threadId, includeTurns: true })
        assert.deepStrictEqual(at(resultOf(read), "thread", "turns", 0, "items"), [
          at(told(app, "item/completed")[0], "item"),
        ])
      }),
    ),
  )

  it.effect("the model reads the command and its output with the next turn", () =>
    withThreads({ script: [Script.reply(Script.text("seen"))], tools: shell() }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* app.ask("run", "thread/shellCommand", command(threadId, "make"))
        yield* app.quiet
        assert.lengthOf(yield* app.provider.requests, 0)
        yield* turn(app, threadId)
        yield* app.quiet
        const sent = JSON.stringify((yield* app.provider.requests).at(-1))
        assert.include(sent, "<user_shell_command>")
        assert.include(sent, "exit 0: make")
        assert.isBelow(sent.indexOf("exit 0: make"), sent.indexOf('"hello"'))
      }),
    ),
  )

  it.effect("is refused while a turn runs, and an interrupt stops it", () =>
    Effect.gen(function* () {
      let stopped = 0
      const endless = Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++))
      yield* withThreads({ script: [], tools: shell(0, endless) }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          yield* app.ask("run", "thread/shellCommand", command(threadId))
          yield* app.quiet
          const turnId = String(at(told(app, "turn/started")[0], "turn", "id"))
          const refused = yield* app.ask("again", "thread/shellCommand", command(threadId))
          assert.deepInclude(errorOf(refused), {
            code: -32600,
            message: `turn \`${turnId}\` is running`,
          })
          yield* app.ask("stop", "turn/interrupt", { threadId, turnId })
          yield* app.quiet
          assert.strictEqual(stopped, 1)
          assert.deepInclude(at(told(app, "item/completed")[0], "item"), {
            type: "commandExecution",
            source: "userShell",
            status: "failed",
          })
          assert.strictEqual(at(told(app, "turn/completed")[0], "turn", "status"), "interrupted")
          assert.lengthOf(told(app, "turn/completed"), 1)
        }),
      )
    }),
  )

  it.effect("input that arrives while it runs is answered in the same turn", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const tools = shell(0, Deferred.await(gate))
      yield* withThreads({ script: [Script.reply(Script.text("both"))], tools }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          yield* app.ask("run", "thread/shellCommand", command(threadId))
          yield* app.quiet
          const turnId = String(at(told(app, "turn/started")[0], "turn", "id"))
          assert.strictEqual(yield* turn(app, threadId, "what is this?"), turnId)
          yield* Deferred.succeed(gate, undefined)
          yield* app.quiet
          assert.deepInclude(at(told(app, "turn/completed")[0], "turn", "items", 0), {
            type: "agentMessage",
            text: "both",
          })
          assert.lengthOf(told(app, "turn/completed"), 1)
        }),
      )
    }),
  )

  it.effect("listeners of the first version get the events of a command", () =>
    withApp({ script: [], tools: shell() }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const subscription = yield* listening(app, threadId, { after: -1 })
        yield* app.ask("run", "thread/shellCommand", command(threadId))
        yield* app.quiet
        const types = eventsOf(app, subscription).map(({ params }) => at(params, "msg", "type"))
        assert.includeMembers(types, [
          "task_started",
          "exec_command_begin",
          "exec_command_end",
          "task_complete",
        ])
      }),
    ),
  )

  it.effect("an empty command, an unknown thread and a runtime without a shell are errors", () =>
    withThreads({ script: [] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const empty = yield* app.ask("empty", "thread/shellCommand", command(threadId, " "))
        assert.strictEqual(errorOf(empty).message, "command must not be empty")
        const nul = yield* app.ask("nul", "thread/shellCommand", command(threadId, "a\0b"))
        assert.strictEqual(errorOf(nul).message, "command must not contain a NUL character")
        const unknown = "00000000-0000-4000-8000-000000000000"
        const missing = yield* app.ask("none", "thread/shellCommand", command(unknown))
        assert.strictEqual(errorOf(missing).message, `thread not found: ${unknown}`)
        yield* app.ask("run", "thread/shellCommand", command(threadId))
        yield* app.quiet
        assert.deepInclude(at(told(app, "turn/completed")[0], "turn"), { status: "failed" })
        assert.strictEqual(
          at(told(app, "turn/completed")[0], "turn", "error", "message"),
          "this conversation has no shell that runs commands of the user",
        )
      }),
    ),
  )
})
