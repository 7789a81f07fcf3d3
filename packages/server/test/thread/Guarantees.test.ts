/** What this server guarantees and the original's app-server does not. */
import { refusedCall, ToolRuntime } from "@colloquy/core/ToolRuntime"
import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { errorOf, resultOf } from "../support/AppHarness.ts"
import { asking, exec, oneCall } from "../support/Asking.ts"
import { endless, pass } from "../support/Endless.ts"
import { type Harness, settingsWith } from "../support/Harness.ts"
import { command } from "../support/RunningCommands.ts"
import { at, asked, lines, started, told, turn, withThreads } from "../support/Threading.ts"

const hanging: Script.ProviderScript = [
  Script.reply(Script.bareDeltas("The be", "ginning"), Script.hang),
  Script.reply(Script.text("after")),
]

const calling = (text = "done"): Script.ProviderScript => [
  Script.reply(Script.toolCall("run", {}, "c")),
  Script.reply(Script.text(text)),
]

const interrupt = (app: Harness, threadId: string, turnId: string, id: unknown = "interrupt") =>
  app.ask(id, "turn/interrupt", { threadId, turnId })

/** Ids of the items that were started, and of those that were completed, sorted. */
const ids = (app: Harness) => ({
  started: told(app, "item/started").map((one) => String(at(one, "item", "id"))),
  completed: told(app, "item/completed").map((one) => String(at(one, "item", "id"))),
})

const completed = (app: Harness, type: string) =>
  told(app, "item/completed").flatMap((one) =>
    at(one, "item", "type") === type ? [at(one, "item")] : [],
  )

const statuses = (app: Harness) =>
  told(app, "turn/completed").map((one) => at(one, "turn", "status"))

/** Every item that was started is completed, once, and the thread says the same afterwards. */
const assertComplete = (app: Harness, threadId: string) =>
  Effect.gen(function* () {
    const { completed: ends, started: starts } = ids(app)
    assert.deepStrictEqual(ends.toSorted(), starts.toSorted())
    const params = { threadId, includeTurns: true }
    const read = resultOf(yield* app.ask("read", "thread/read", params))
    const turns = at(read, "thread", "turns") as ReadonlyArray<unknown>
    assert.deepStrictEqual(
      turns.flatMap((one) => at(one, "items")),
      told(app, "item/completed").map((one) => at(one, "item")),
    )
  })

describe("an interrupt works from the moment of the response", () => {
  it.effect("a turn that is interrupted in the same batch as it is started ends", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        assert.deepStrictEqual(resultOf(yield* interrupt(app, threadId, turnId)), {})
        yield* app.quiet
        assert.deepStrictEqual(statuses(app), ["interrupted"])
        yield* assertComplete(app, threadId)
      }),
    ),
  )

  it.effect("a turn that waits behind another one is interrupted alone", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId, "first")
        const second = yield* turn(app, threadId, "second", {}, "second")
        const answer = yield* interrupt(app, threadId, second)
        yield* app.quiet
        assert.isUndefined(answer.error)
        assert.notInclude(statuses(app), "completed")
      }),
    ),
  )
})

describe("every started item completes", () => {
  it.effect("a message and a command, when the turn is interrupted", () =>
    withThreads({ script: calling(), tools: command(["half"], {}) }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        yield* interrupt(app, threadId, turnId)
        yield* app.quiet
        assert.deepStrictEqual(statuses(app), ["interrupted"])
        assert.lengthOf(completed(app, "commandExecution"), 1)
        yield* assertComplete(app, threadId)
      }),
    ),
  )

  it.effect("a message whose request fails", () =>
    withThreads({ script: [Script.reply(Script.bareDeltas("partial"), Script.drop)] }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        assert.deepStrictEqual(statuses(app), ["failed"])
        yield* assertComplete(app, threadId)
      }),
    ),
  )

  it.effect("a message whose request is repeated", () => {
    const settings = settingsWith({
      model_providers: { mock_provider: { stream_max_retries: 1 } },
    })
    const script = [
      Script.reply(Script.bareDeltas("par"), Script.drop),
      Script.reply(Script.deltas("who", "le")),
    ]
    return withThreads({ script, settings }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        yield* TestClock.adjust("1 minute")
        yield* app.quiet
        const { completed: ends, started: starts } = ids(app)
        assert.deepStrictEqual(ends.toSorted(), starts.toSorted())
      }),
    )
  })

  it.effect("a file change that is cancelled", () => {
    const { tools } = asking([
      { _tag: "Patch", callId: "c", changes: { "/work/a": { add: { content: "a" } } } },
    ])
    return withThreads({ script: oneCall, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const { id } = asked(app, "item/fileChange/requestApproval")
        yield* app.send({ id, result: { decision: "cancel" } })
        yield* app.quiet
        assert.deepStrictEqual(statuses(app), ["interrupted"])
        assert.deepStrictEqual(
          completed(app, "fileChange").map((item) => at(item, "status")),
          ["declined"],
        )
        yield* assertComplete(app, threadId)
      }),
    )
  })

  it.effect("a message that is steered", () =>
    withThreads({ script: calling(), tools: endless().tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        const input = [{ type: "text", text: "also this" }]
        const params = { threadId, expectedTurnId: turnId, input }
        assert.deepStrictEqual(resultOf(yield* app.ask("steer", "turn/steer", params)), { turnId })
        yield* interrupt(app, threadId, turnId)
        yield* app.quiet
        yield* assertComplete(app, threadId)
      }),
    ),
  )
})

describe("deltas lose no output", () => {
  it.effect("the deltas of a command are its whole output, also where a character is cut", () => {
    const euro = new TextEncoder().encode("€")
    const chunks = ["line 1\n", "line 2\n", euro.slice(0, 1), euro.slice(1), "end"]
    return withThreads({ script: calling(), tools: command(chunks, { exitCode: 0 }) }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const deltas = told(app, "item/commandExecution/outputDelta")
        assert.strictEqual(deltas.map((one) => at(one, "delta")).join(""), "line 1\nline 2\n€end")
      }),
    )
  })
})

describe("a call that does not run appears as an item", () => {
  it.effect("a refused call is an item that has failed, with the reason", () => {
    const output = "error: the patch does not apply"
    const tools = ToolRuntime.simple({
      specs: () => [],
      run: () => Effect.succeed(refusedCall(output)),
    })
    return withThreads({ script: calling(), tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const [item] = completed(app, "dynamicToolCall")
        assert.strictEqual(at(item, "status"), "failed")
        assert.deepStrictEqual(at(item, "contentItems"), [{ type: "inputText", text: output }])
        yield* assertComplete(app, threadId)
      }),
    )
  })

  it.effect("a command that the sandbox stops is a command that has failed", () =>
    withThreads(
      { script: calling(), tools: command(["Read-only file system"], { exitCode: 1 }) },
      (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          yield* turn(app, threadId)
          yield* app.quiet
          const [item] = completed(app, "commandExecution")
          assert.strictEqual(at(item, "status"), "failed")
          assert.strictEqual(at(item, "aggregatedOutput"), "Read-only file system")
        }),
    ),
  )
})

describe("requests behind turn/start", () => {
  it.effect("read, rename and list see the thread in the batch that starts its first turn", () =>
    withThreads({ script: hanging }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const input = [{ type: "text", text: "hello" }]
        yield* app.send(
          { id: 1, method: "turn/start", params: { threadId, input } },
          { id: 2, method: "thread/read", params: { threadId, includeTurns: true } },
          { id: 3, method: "thread/list", params: {} },
          { id: 4, method: "thread/turns/list", params: { threadId } },
        )
        for (const id of [1, 2, 3, 4]) resultOf(yield* app.response(id))
      }),
    ),
  )
})

describe("every request is answered", () => {
  it.effect("a thousand requests at once get a thousand responses", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const numbers = Array.from({ length: 1000 }, (_, index) => index)
        yield* app.send(...numbers.map((id) => ({ id, method: "thread/loaded/list", params: {} })))
        for (const id of numbers) yield* app.response(id)
      }),
    ),
  )

  it.effect("requests right before the end of input are answered, and the turn ends", () =>
    withThreads({ script: hanging, endsConversations: true }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        yield* app.send(
          { id: 1, method: "thread/read", params: { threadId } },
          { id: 2, method: "thread/loaded/list" },
          { id: 3, method: "no/such" },
        )
        yield* app.connection.close
        yield* pass(app, 10_000)
        yield* Fiber.join(app.server)
        for (const id of [1, 2, 3]) yield* app.response(id)
        assert.deepStrictEqual(statuses(app), ["interrupted"])
      }),
    ),
  )

  for (const id of ["", "0", -1, 0, "a\u0000b", "💥", 9007199254740991]) {
    it.effect(`the id ${JSON.stringify(id)} is echoed`, () =>
      withThreads({}, (app) => app.ask(id, "thread/loaded/list")),
    )
  }
})

describe("subscriptions", () => {
  it.effect("turn/start of a thread that is only read subscribes the client", () =>
    withThreads(
      { script: [Script.reply(Script.text("one")), Script.reply(Script.text("two"))] },
      (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          yield* turn(app, threadId)
          yield* app.quiet
          yield* app.ask("bye", "thread/unsubscribe", { threadId })
          const before = app.messages.length
          yield* turn(app, threadId, "again", {}, "again")
          yield* app.quiet
          assert.include(lines(app, before), "turn/completed")
        }),
    ),
  )

  it.effect("thread/resume of a loaded thread applies its overrides", () =>
    withThreads({}, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        const other = yield* app.another
        yield* other.ask("hello", "initialize", { clientInfo: { name: "other", version: "1" } })
        const params = { threadId, model: "other-model" }
        const resumed = resultOf(yield* other.ask("resume", "thread/resume", params))
        assert.strictEqual(resumed["model"], "other-model")
        yield* app.quiet
        // The client that has the thread already is told of its new settings.
        assert.deepStrictEqual(
          told(app, "thread/settings/updated").map((one) => at(one, "threadSettings", "model")),
          ["other-model"],
        )
        yield* other.ask("again", "thread/resume", params)
        yield* app.quiet
        assert.lengthOf(told(app, "thread/settings/updated"), 1)
      }),
    ),
  )
})

describe("an unreachable model", () => {
  it.effect("the turn ends after its retries", () => {
    const settings = settingsWith({
      model_providers: { mock_provider: { request_max_retries: 2, stream_max_retries: 2 } },
    })
    return withThreads({ script: () => Script.refuse, settings }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        yield* turn(app, threadId)
        yield* app.quiet
        for (let minute = 0; minute < 10; minute++) {
          yield* TestClock.adjust("1 minute")
          yield* app.quiet
        }
        assert.deepStrictEqual(statuses(app), ["failed"])
      }),
    )
  })
})

describe("partial answers are kept", () => {
  it.effect(
    "what was received before an interrupt is in the history, and the model is sent it",
    () =>
      withThreads({ script: hanging }, (app) =>
        Effect.gen(function* () {
          const threadId = yield* started(app)
          const turnId = yield* turn(app, threadId)
          yield* app.quiet
          yield* interrupt(app, threadId, turnId)
          yield* app.quiet
          assert.deepStrictEqual(
            completed(app, "agentMessage").map((item) => at(item, "text")),
            ["The beginning"],
          )
          yield* assertComplete(app, threadId)
          yield* turn(app, threadId, "go on", {}, "next")
          yield* app.quiet
          assert.include(JSON.stringify((yield* app.provider.requests).at(-1)), "The beginning")
        }),
      ),
  )
})

describe("approvals", () => {
  it.effect("an interrupt while an approval is open declines it and ends the turn", () => {
    const { tools } = asking([exec])
    return withThreads({ script: oneCall, tools }, (app) =>
      Effect.gen(function* () {
        const threadId = yield* started(app)
        const turnId = yield* turn(app, threadId)
        yield* app.quiet
        const { id } = asked(app, "item/commandExecution/requestApproval")
        yield* interrupt(app, threadId, turnId)
        yield* app.quiet
        assert.deepStrictEqual(told(app, "serverRequest/resolved"), [{ threadId, requestId: id }])
        yield* assertComplete(app, threadId)
        assert.isUndefined(errorOf(yield* app.ask("late", "thread/loaded/list")).code)
      }),
    )
  })
})
