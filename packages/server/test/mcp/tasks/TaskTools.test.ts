import { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Features from "../../../src/features/Features.ts"
import { tool } from "../../../src/features/Tool.ts"
import { elicitations, questionId, result as answer } from "../../support/Asking.ts"
import { type Harness, withServer } from "../../support/Harness.ts"
import { saying } from "../../support/Stateless.ts"
import {
  about,
  asked,
  callAsTask,
  decided,
  type Form,
  forms,
  member,
  refused,
  related,
  taskIdIn,
} from "../../support/Tasking.ts"

const form = (message: string) => ({
  method: "elicitation/create" as const,
  params: {
    message,
    requestedSchema: {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
    },
  },
})

const named = (name: string) => ({ action: "accept", content: { name } })

const nameIn = (response: Readonly<Record<string, unknown>>) =>
  String(Reflect.get(response["content"] ?? {}, "name"))

const text = (words: string) => [{ type: "text", text: words }]

const tools = [
  tool({
    name: "fails",
    taskSupport: "required",
    run: () => Effect.andThen(Effect.sleep("1 second"), Effect.fail("the job failed")),
  }),
  tool({
    name: "breaks",
    taskSupport: "optional",
    run: () => Effect.fail(new JsonRpcError({ code: -32603, message: "broken", data: [1] })),
  }),
  tool({ name: "dies", taskSupport: "optional", run: () => Effect.die("oops") }),
  tool({
    name: "asks",
    taskSupport: "optional",
    run: (_, { ask }) =>
      Effect.map(ask({ first: form("one"), second: form("two") }), ({ first, second }) =>
        [first, second].map(nameIn).join(" and "),
      ),
  }),
  tool({
    name: "asks_first",
    taskSupport: "required",
    input: Schema.Struct({ greeting: Schema.String }),
    prepare: (_, { ask, task }) =>
      Effect.map(ask({ user: form("who?") }), ({ user }) => [nameIn(user), task === undefined]),
    run: ({ greeting }, { task }, prepared) =>
      Effect.succeed(JSON.stringify([greeting, prepared, task !== undefined])),
  }),
  tool({
    name: "reports",
    taskSupport: "optional",
    run: (_, { log, progress }) =>
      progress(1, 2, "half").pipe(
        Effect.andThen(log("warning", "hot")),
        Effect.orDie,
        Effect.as("reported"),
      ),
  }),
  tool({
    name: "needs_sampling",
    taskSupport: "optional",
    run: (_, { ask }) =>
      Effect.as(ask({ s: { method: "sampling/createMessage", params: {} } }), "sampled"),
  }),
]

const withTools = <A, E>(body: (server: Harness) => Effect.Effect<A, E>) =>
  Effect.flatMap(Effect.orDie(Features.make({ tools })), (features) =>
    withServer({ features }, body),
  )

const ended = (server: Harness, form_: Form, name: string, args: unknown = {}) =>
  Effect.gen(function* () {
    const taskId = taskIdIn(yield* callAsTask(server, form_, `call-${name}`, name, args))
    yield* server.quiet
    yield* TestClock.adjust("1 second")
    yield* server.quiet
    const ask = about(server, form_)
    return { taskId, task: yield* ask("tasks/get", { taskId }), ask }
  })

describe("a tool of the embedding program as a task", () => {
  it.effect(
    "2025-11-25: a tool that fails is a failed task with the reason; its result has the same text",
    () =>
      withTools((server) =>
        Effect.gen(function* () {
          yield* asked.hello(server)
          const { ask, task, taskId } = yield* ended(server, asked, "fails")
          assert.deepStrictEqual(
            [member(task, "status"), member(task, "statusMessage")],
            ["failed", "the job failed"],
          )
          assert.deepStrictEqual((yield* ask("tasks/result", { taskId })).result, {
            content: text("the job failed"),
            isError: true,
            _meta: related(taskId),
          })
        }),
      ),
  )

  it.effect("2026-07-28: a tool that fails is a completed task, with its result", () =>
    withTools((server) =>
      Effect.gen(function* () {
        const { task } = yield* ended(server, decided, "fails")
        assert.deepStrictEqual(
          [member(task, "status"), member(task, "result"), member(task, "error")],
          ["completed", { content: text("the job failed"), isError: true }, undefined],
        )
      }),
    ),
  )

  it.effect.each<readonly [name: string, error: object]>([
    ["breaks", { code: -32603, message: "broken", data: [1] }],
    ["dies", { code: -32603, message: "Internal error" }],
  ])("an error of the protocol is a failed task in both revisions: %s", ([name, error]) =>
    withTools((server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const { ask, task, taskId } = yield* ended(server, asked, name)
        assert.strictEqual(member(task, "status"), "failed")
        assert.deepStrictEqual((yield* ask("tasks/result", { taskId })).error, error)
        const inlined = yield* about(server, decided)("tasks/get", { taskId })
        assert.deepStrictEqual(
          [member(inlined, "status"), member(inlined, "error"), member(inlined, "result")],
          ["failed", error, undefined],
        )
      }),
    ),
  )

  it.effect("a tool that requires a task is refused as a plain call", () =>
    withTools((server) =>
      Effect.gen(function* () {
        const params = { name: "fails", arguments: {} }
        const { error } = yield* server.ask(1, "tools/call", saying(params))
        assert.deepStrictEqual(
          [error?.code, error?.data],
          [
            -32021,
            { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
          ],
        )
        yield* asked.hello(server)
        assert.deepStrictEqual(refused(yield* server.ask(2, "tools/call", params)), [
          -32601,
          "tool fails can only be called as a task",
        ])
      }),
    ),
  )

  it.effect("2026-07-28: two questions at once are answered one by one", () =>
    withTools((server) =>
      Effect.gen(function* () {
        const { ask, task, taskId } = yield* ended(server, decided, "asks")
        assert.deepStrictEqual(Object.keys(Object(member(task, "inputRequests"))), [
          "1-first",
          "2-second",
        ])
        yield* ask("tasks/update", { taskId, inputResponses: { "2-second": named("Bo") } })
        const half = yield* ask("tasks/get", { taskId })
        assert.deepStrictEqual(
          [member(half, "status"), Object.keys(Object(member(half, "inputRequests")))],
          ["input_required", ["1-first"]],
        )
        yield* ask("tasks/update", { taskId, inputResponses: { "1-first": named("Al") } })
        yield* server.quiet
        const all = yield* ask("tasks/get", { taskId })
        assert.deepStrictEqual(member(all, "result"), { content: text("Al and Bo") })
      }),
    ),
  )

  it.effect("2025-11-25: both questions are put by the request for the result", () =>
    withTools((server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const { taskId } = yield* ended(server, asked, "asks")
        yield* server.send({ jsonrpc: "2.0", id: 9, method: "tasks/result", params: { taskId } })
        yield* server.quiet
        assert.deepStrictEqual(
          elicitations(server).map(({ params }) => params?.["_meta"]),
          [related(taskId), related(taskId)],
        )
        yield* server.send(answer(questionId(server, 1), named("Bo")))
        yield* server.send(answer(questionId(server, 0), named("Al")))
        assert.deepStrictEqual(member(yield* server.response(9), "content"), text("Al and Bo"))
      }),
    ),
  )

  it.effect(
    "2026-07-28: before it is a task it asks like any call, and runs once the answer is there",
    () =>
      withTools((server) =>
        Effect.gen(function* () {
          const args = { greeting: "hi" }
          const first = yield* callAsTask(server, decided, 1, "asks_first", args)
          assert.deepStrictEqual(
            [member(first, "resultType"), member(first, "taskId")],
            ["input_required", undefined],
          )
          const requestState = member(first, "requestState")
          const second = yield* callAsTask(server, decided, 2, "asks_first", args, {
            inputResponses: { user: named("Alice") },
            requestState,
          })
          assert.deepStrictEqual(
            ["requestState", "inputRequests", "resultType"].map((name) => member(second, name)),
            [undefined, undefined, "task"],
          )
          yield* server.quiet
          const task = yield* about(server, decided)("tasks/get", { taskId: taskIdIn(second) })
          assert.deepStrictEqual(member(task, "result"), {
            content: text('["hi",["Alice",true],true]'),
          })
        }),
      ),
  )

  it.effect("2026-07-28: a result of its first part ends the call, without a task", () =>
    withTools((server) =>
      Effect.gen(function* () {
        const bad = yield* callAsTask(server, decided, 1, "asks_first", { greeting: 7 })
        assert.deepStrictEqual(
          [member(bad, "resultType"), member(bad, "isError")],
          ["complete", true],
        )
      }),
    ),
  )

  it.effect("2025-11-25: all of the work belongs to the task, its first part included", () =>
    withTools((server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const { taskId } = yield* ended(server, asked, "asks_first", { greeting: "hi" })
        yield* server.send({ jsonrpc: "2.0", id: 9, method: "tasks/result", params: { taskId } })
        yield* server.quiet
        yield* server.send(answer(questionId(server), named("Alice")))
        assert.deepStrictEqual(
          member(yield* server.response(9), "content"),
          text('["hi",["Alice",false],true]'),
        )
      }),
    ),
  )

  it.effect("2025-11-25: its notifications name its task; 2026-07-28: it sends none", () =>
    withTools((server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const params = { name: "reports", arguments: {}, task: {}, _meta: { progressToken: 7 } }
        const taskId = taskIdIn(yield* server.ask(2, "tools/call", params))
        yield* server.quiet
        const sent = () => server.messages.filter(({ method }) => method !== undefined)
        assert.deepStrictEqual(
          sent().map(({ method, params: said }) => [method, said?.["_meta"]]),
          [
            ["notifications/progress", related(taskId)],
            ["notifications/message", related(taskId)],
            ["notifications/tasks/status", undefined],
          ],
        )
        yield* callAsTask(server, decided, 3, "reports", {})
        yield* server.quiet
        assert.strictEqual(sent().length, 3)
      }),
    ),
  )

  it.effect.each(forms)(
    "$name: a question that the client cannot answer fails the task, and is not sent",
    (form_) =>
      withTools((server) =>
        Effect.gen(function* () {
          yield* form_.hello(server)
          const { task } = yield* ended(server, form_, "needs_sampling")
          assert.strictEqual(member(task, "status"), "failed")
          assert.match(String(member(task, "statusMessage")), /sampling/)
        }),
      ),
  )
})
