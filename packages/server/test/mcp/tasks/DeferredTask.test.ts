import { isTerminal } from "@colloquy/protocol/EventMsg"
import * as Script from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Features from "../../../src/features/Features.ts"
import { tool } from "../../../src/features/Tool.ts"
import type { RequestContext } from "../../../src/mcp/RequestContext.ts"
import { make as makeTaskCalls } from "../../../src/mcp/tasks/TaskCalls.ts"
import { Tasks } from "../../../src/tasks/Tasks.ts"
import { asking, exec, oneCall } from "../../support/Asking.ts"
import {
  cancelled,
  type Harness,
  type HarnessOptions,
  listed as listedConversations,
  withServer,
} from "../../support/Harness.ts"
import { saying } from "../../support/Stateless.ts"
import { typesOf } from "../../support/Wire.ts"
import {
  about,
  asked,
  callAsTask,
  decided,
  listed,
  member,
  structured,
  taskIdIn,
} from "../../support/Tasking.ts"

const hi = { prompt: "hi" }

const canTask = {
  elicitation: {},
  extensions: { "io.modelcontextprotocol/tasks": {} },
}

/** A server with the default time until a call becomes a task. */
const waiting = <A, E>(
  options: HarnessOptions,
  body: (server: Harness) => Effect.Effect<A, E>,
): Effect.Effect<A, E> => withServer({ taskAfter: "20 seconds", ...options }, body)

/** A turn whose model answers after that time. */
const turnOf = (duration: Duration.Input) => [
  Script.reply(Script.delay(duration), Script.text("late")),
]

const send = (server: Harness, id: unknown, name: string, args: unknown, meta = {}) =>
  server.send({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: saying({ name, arguments: args }, canTask, meta),
  })

const responses = ({ messages }: Harness, id: unknown) =>
  messages.filter((message) => message.method === undefined && message.id === id)

const pass = (server: Harness, duration: Duration.Input) =>
  Effect.andThen(TestClock.adjust(duration), server.quiet)

/** Terminal events of all turns, as they are stored. */
const terminals = (server: Harness) =>
  Effect.gen(function* () {
    const found: Array<string> = []
    for (const id of yield* listedConversations(server.manager)) {
      const conversation = yield* server.manager.get(id)
      const listener = yield* conversation.attach({ from: 0 })
      for (const delivery of yield* listener.take) {
        if (delivery._tag === "Event" && isTerminal(delivery.event.msg)) {
          found.push(delivery.event.msg.type)
        }
      }
    }
    return found
  }).pipe(Effect.scoped, Effect.orDie)

const form = {
  method: "elicitation/create" as const,
  params: {
    message: "who?",
    requestedSchema: {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    },
  },
}

let runs = 0

const tools = [
  tool({
    name: "sleeps",
    taskSupport: "optional",
    input: { type: "object", properties: { ms: { type: "number" } } },
    run: ({ ms }, { progress }) =>
      Effect.gen(function* () {
        runs++
        yield* Effect.orDie(progress(1, 2, "asleep"))
        yield* Effect.sleep(Number(ms))
        yield* Effect.orDie(progress(2, 2, "awake"))
        return "slept"
      }),
  }),
  tool({
    name: "asks",
    taskSupport: "optional",
    run: (_, { ask, task }) =>
      Effect.gen(function* () {
        runs++
        yield* task?.setStatus("about to ask") ?? Effect.void
        yield* Effect.sleep("1 second")
        const { user } = yield* ask({ user: form })
        return JSON.stringify([user, task?.id])
      }),
  }),
  tool({ name: "dies", taskSupport: "optional", run: () => Effect.die("oops") }),
  tool({
    name: "required",
    taskSupport: "required",
    run: () => Effect.succeed("done"),
  }),
]

const withTools = <A, E>(body: (server: Harness) => Effect.Effect<A, E>, options = {}) =>
  Effect.flatMap(Effect.orDie(Features.make({ tools })), (features) => {
    runs = 0
    return waiting({ features, ...options }, body)
  })

const oneTool = {
  name: "one",
  taskSupport: "optional",
  inputSchema: {},
  problem: undefined,
} as const

describe("a call that may become a task (2026-07-28)", () => {
  it.effect("is answered with its result when that is available soon, and leaves no task", () =>
    waiting({ script: turnOf("2 seconds") }, (server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "codex", hi)
        yield* server.quiet
        assert.lengthOf(responses(server, 1), 0)
        yield* pass(server, "2 seconds")
        const [answer] = responses(server, 1)
        assert.deepStrictEqual(
          [member(answer ?? {}, "resultType"), structured(answer ?? {}, "content")],
          ["complete", "late"],
        )
        yield* asked.hello(server)
        assert.deepStrictEqual(listed(yield* about(server, asked)("tasks/list", {})), [])
      }),
    ),
  )

  it.effect("is answered with a task after 20 s, and its turn runs once", () =>
    waiting({ script: turnOf("50 seconds") }, (server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "codex", hi)
        yield* server.quiet
        yield* pass(server, 19_999)
        assert.lengthOf(responses(server, 1), 0)
        yield* pass(server, 1)
        const [answer] = responses(server, 1)
        assert.deepStrictEqual(
          ["resultType", "status", "statusMessage"].map((name) => member(answer ?? {}, name)),
          ["task", "working", "turn begun"],
        )
        const get = about(server, decided)
        const taskId = taskIdIn(answer ?? {})
        assert.strictEqual(member(yield* get("tasks/get", { taskId }), "status"), "working")
        yield* pass(server, "30 seconds")
        const task = yield* get("tasks/get", { taskId })
        assert.strictEqual(member(task, "status"), "completed")
        assert.strictEqual(
          structured({ result: { ...Object(member(task, "result")) } }, "content"),
          "late",
        )
        assert.lengthOf(yield* server.provider.requests, 1)
        assert.deepStrictEqual(yield* terminals(server), ["task_complete"])
        assert.lengthOf(responses(server, 1), 1)
      }),
    ),
  )

  it.effect.each([19_999, 20_000, 20_001])(
    "L1 that ends after %d ms has one response, and its result is not lost",
    (ms) =>
      withTools((server) =>
        Effect.gen(function* () {
          yield* send(server, 1, "sleeps", { ms })
          yield* server.quiet
          yield* pass(server, 20_000)
          yield* pass(server, 1)
          const answers = responses(server, 1)
          assert.lengthOf(answers, 1)
          const [answer = {}] = answers
          assert.strictEqual(member(answer, "resultType"), ms <= 20_000 ? "complete" : "task")
          const result =
            ms <= 20_000
              ? answer.result
              : member(
                  yield* about(server, decided)("tasks/get", { taskId: taskIdIn(answer) }),
                  "result",
                )
          assert.deepStrictEqual(Reflect.get(Object(result), "content"), [
            { type: "text", text: "slept" },
          ])
          assert.strictEqual(runs, 1)
        }),
      ),
  )

  it.effect.each([19_999, 20_000])("cancelled after %d ms leaves no work and no task", (ms) =>
    waiting({ script: turnOf("1 hour") }, (server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "codex", hi)
        yield* server.quiet
        // At the same instant as the end of the wait, before what it causes has run.
        yield* Effect.forkChild(Effect.andThen(Effect.sleep(ms), server.send(cancelled(1))), {
          startImmediately: true,
        })
        yield* pass(server, ms)
        yield* pass(server, "5 seconds")
        const answers = responses(server, 1)
        yield* asked.hello(server)
        const kept = listed(yield* about(server, asked)("tasks/list", {}))
        // A cancellation that arrives after the response has no effect: a task is cancelled by its id.
        if (answers.length > 0) {
          assert.strictEqual(ms, 20_000)
          assert.deepStrictEqual(
            kept.map(({ taskId, status }) => [taskId, status]),
            [[taskIdIn(answers[0] ?? {}), "working"]],
          )
          return
        }
        assert.deepStrictEqual(kept, [])
        assert.deepStrictEqual(yield* terminals(server), ["turn_aborted"])
      }),
    ),
  )

  it.effect("becomes a task with its first question, which the task asks", () =>
    withTools((server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "asks", {})
        yield* server.quiet
        assert.lengthOf(responses(server, 1), 0)
        yield* pass(server, "1 second")
        const [answer = {}] = responses(server, 1)
        assert.deepStrictEqual(
          ["resultType", "statusMessage"].map((name) => member(answer, name)),
          ["task", "about to ask"],
        )
        const taskId = taskIdIn(answer)
        const ask = about(server, decided)
        const open = yield* ask("tasks/get", { taskId })
        assert.deepStrictEqual(
          [member(open, "status"), member(open, "inputRequests")],
          ["input_required", { "1-user": form }],
        )
        const response = { action: "accept", content: { name: "Ann" } }
        yield* ask("tasks/update", { taskId, inputResponses: { "1-user": response } })
        yield* server.quiet
        const done = yield* ask("tasks/get", { taskId })
        assert.deepStrictEqual(member(done, "result"), {
          content: [{ type: "text", text: JSON.stringify([response, taskId]) }],
        })
        assert.strictEqual(runs, 1)
      }),
    ),
  )

  it.effect("L7 an approval makes a turn a task, and is answered there", () => {
    const { tools: runtime, verdicts } = asking([exec])
    return waiting({ script: oneCall, tools: runtime }, (server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "codex", { prompt: "ask" })
        yield* server.quiet
        const taskId = taskIdIn(responses(server, 1)[0] ?? {})
        const ask = about(server, decided)
        const open = yield* ask("tasks/get", { taskId })
        const [key = ""] = Object.keys(Object(member(open, "inputRequests")))
        assert.strictEqual(member(open, "status"), "input_required")
        const inputResponses = { [key]: { action: "accept", content: { decision: "approved" } } }
        yield* ask("tasks/update", { taskId, inputResponses })
        yield* server.quiet
        assert.strictEqual(member(yield* ask("tasks/get", { taskId }), "status"), "completed")
        assert.deepStrictEqual(
          verdicts.map(({ decision }) => decision),
          ["approved"],
        )
      }),
    )
  })

  it.effect("reports progress while it waits, and none after the response", () =>
    withTools((server) =>
      Effect.gen(function* () {
        const meta = { progressToken: "p" }
        yield* send(server, 1, "sleeps", { ms: 30_000 }, meta)
        yield* send(server, 2, "sleeps", { ms: 1000 }, { progressToken: "q" })
        yield* server.quiet
        yield* pass(server, "1 second")
        yield* pass(server, "40 seconds")
        assert.deepStrictEqual(
          server.messages.map(({ id, params }) => id ?? params?.["message"]),
          ["asleep", "asleep", "awake", 2, 1],
        )
      }),
    ),
  )

  it.effect("reports the progress of a turn while it waits, and none after the response", () =>
    waiting({ script: turnOf("50 seconds") }, (server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "codex", hi, { progressToken: "p" })
        yield* server.quiet
        yield* pass(server, "15 seconds")
        yield* pass(server, "45 seconds")
        const words = server.messages.map(({ id, params }) => id ?? params?.["message"])
        assert.deepStrictEqual(words, ["turn begun", "turn begun (10 s)", 1])
      }),
    ),
  )

  it.effect("sends events while it waits to a client that asks for them, and none after", () =>
    waiting({ script: turnOf("50 seconds") }, (server) =>
      Effect.gen(function* () {
        const capabilities = { ...canTask, experimental: { "codex/event": {} } }
        const params = saying({ name: "codex", arguments: hi }, capabilities)
        yield* server.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
        yield* server.quiet
        assert.deepStrictEqual(typesOf(server.messages, 1), ["session_configured", "task_started"])
        yield* pass(server, "1 minute")
        assert.strictEqual(server.messages.at(-1)?.id, 1)
        assert.lengthOf(server.messages, 3)
      }),
    ),
  )

  it.effect("L14 stops its turn when the task is cancelled", () =>
    waiting({ script: turnOf("1 hour") }, (server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "codex", hi)
        yield* server.quiet
        yield* pass(server, "20 seconds")
        const taskId = taskIdIn(responses(server, 1)[0] ?? {})
        const ask = about(server, decided)
        yield* ask("tasks/cancel", { taskId })
        yield* pass(server, "2 seconds")
        assert.strictEqual(member(yield* ask("tasks/get", { taskId }), "status"), "cancelled")
        assert.deepStrictEqual(yield* terminals(server), ["turn_aborted"])
      }),
    ),
  )

  it.effect("L8 ends as a task with its server, when that ends with the connection", () =>
    waiting({ script: turnOf("1 hour"), serverPerConnection: true }, (server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "codex", hi)
        yield* server.quiet
        yield* pass(server, "20 seconds")
        taskIdIn(responses(server, 1)[0] ?? {})
        yield* server.connection.close
        yield* pass(server, "10 seconds")
        yield* Fiber.join(server.server)
        assert.deepStrictEqual(yield* terminals(server), ["turn_aborted"])
      }),
    ),
  )

  it.effect("L8 ends with its connection while it waits, and its caller gets an error", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make({ maxPerPrincipal: 1 })
      yield* waiting({ script: turnOf("1 hour"), tasks }, (server) =>
        Effect.gen(function* () {
          yield* send(server, 1, "codex", hi)
          yield* server.quiet
          yield* server.connection.close
          yield* pass(server, "10 seconds")
          yield* Fiber.join(server.server)
          assert.deepStrictEqual(
            responses(server, 1).map(({ error }) => error?.message),
            ["the server is shutting down; the request may have been carried out"],
          )
          assert.deepStrictEqual(yield* terminals(server), ["turn_aborted"])
        }),
      )
      assert.deepStrictEqual((yield* tasks.list("local")).tasks, [])
      // Its place is free again.
      yield* Effect.scoped(tasks.reserve("local"))
    }),
  )

  it.effect("L6 stays a call, which asks like any other, when there is no room for tasks", () =>
    Effect.gen(function* () {
      const tasks = yield* Tasks.make({ maxPerPrincipal: 1 })
      yield* withTools(
        (server) =>
          Effect.gen(function* () {
            yield* send(server, 1, "sleeps", { ms: 60_000 })
            yield* send(server, 2, "asks", {})
            yield* server.quiet
            yield* pass(server, "1 second")
            assert.strictEqual(
              member(responses(server, 2)[0] ?? {}, "resultType"),
              "input_required",
            )
            yield* pass(server, "1 minute")
            assert.strictEqual(member(responses(server, 1)[0] ?? {}, "resultType"), "task")
          }),
        { tasks },
      )
    }),
  )

  it.effect("L13 is answered with an error when its work fails with a defect", () =>
    withTools((server) =>
      Effect.gen(function* () {
        yield* send(server, 1, "dies", {})
        assert.strictEqual((yield* server.response(1)).error?.code, -32603)
      }),
    ),
  )

  it.effect("is a task at once when the wait is 0, and when the tool requires a task", () =>
    Effect.andThen(
      withTools(
        (server) =>
          Effect.gen(function* () {
            yield* send(server, 1, "sleeps", { ms: 0 })
            assert.strictEqual(member(yield* server.response(1), "resultType"), "task")
          }),
        { taskAfter: 0 },
      ),
      withTools((server) =>
        Effect.gen(function* () {
          yield* send(server, 1, "required", {})
          assert.strictEqual(member(yield* server.response(1), "resultType"), "task")
        }),
      ),
    ),
  )

  it.effect("waits without end when the wait is infinite", () =>
    withTools(
      (server) =>
        Effect.gen(function* () {
          yield* send(server, 1, "sleeps", { ms: 3_600_000 })
          yield* server.quiet
          yield* pass(server, "1 hour")
          assert.strictEqual(member(responses(server, 1)[0] ?? {}, "resultType"), "complete")
        }),
      { taskAfter: Duration.infinity },
    ),
  )

  it.effect("2025-11-25: a task that the client asks for is created at once", () =>
    waiting({ script: turnOf("50 seconds") }, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        taskIdIn(yield* callAsTask(server, asked, 2, "codex", hi))
      }),
    ),
  )

  it.effect.each<
    readonly [response: "accepted" | "on its way" | "dropped", ends: ReadonlyArray<unknown>]
  >([
    ["accepted", [{ _tag: "Result", result: { content: [] } }]],
    ["on its way", [{ _tag: "Cancelled" }]],
    ["dropped", []],
  ])(
    "L1 work continues as a task only when the response was accepted: response %s",
    ([response, ends]) =>
      Effect.gen(function* () {
        const tasks = yield* Tasks.make()
        const callOrTask = yield* makeTaskCalls(tasks)
        const gate = yield* Deferred.make<void>()
        let outcome = "none"
        let after: Effect.Effect<void> = Effect.void
        let over: (sent: boolean) => void = () => {}
        const context = {
          era: "stateless",
          peer: {},
          meta: {},
          principal: "me",
          client: { capabilities: canTask },
          afterAnswer: (effect: Effect.Effect<void>, whenOver: typeof over) => {
            after = effect
            over = whenOver
          },
        } as unknown as RequestContext
        const invoke = () =>
          Deferred.await(gate).pipe(
            Effect.as({ content: [] }),
            Effect.onExit(({ _tag }) =>
              Effect.sync(() => {
                outcome = _tag
              }),
            ),
          )
        const call = yield* Effect.forkChild(
          callOrTask({ tool: { ...oneTool, invoke }, args: {} }, context, undefined),
          { startImmediately: true },
        )
        yield* TestClock.adjust("20 seconds")
        yield* Fiber.join(call)
        assert.lengthOf((yield* tasks.list("me")).tasks, 1)
        if (response === "accepted") yield* after
        over(response !== "dropped")
        yield* TestClock.adjust(0)
        yield* Deferred.succeed(gate, undefined)
        yield* TestClock.adjust(0)
        const { tasks: kept } = yield* tasks.list("me")
        assert.deepStrictEqual(
          [outcome, kept.map(({ end }) => end)],
          [response === "accepted" ? "Success" : "Failure", ends],
        )
      }),
  )
})
