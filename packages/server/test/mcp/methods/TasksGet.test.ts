import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { asking, exec, oneCall } from "../../support/Asking.ts"
import { withServer } from "../../support/Harness.ts"
import { madeBy, saying } from "../../support/Stateless.ts"
import {
  about,
  asked,
  callAsTask,
  decided,
  forms,
  refused,
  taskIdIn,
} from "../../support/Tasking.ts"
import { callResult, textOf, type WireMessage } from "../../support/Wire.ts"

const unknown = "Invalid params: params.taskId: expected the id of a task that is running or kept"

const start = "1970-01-01T00:00:00.000Z"

describe("tasks/get", () => {
  it.effect("2025-11-25: returns only the status of a task", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const get = about(server, asked)
        const taskId = taskIdIn(yield* callAsTask(server, asked, 2, "codex", { prompt: "hi" }))
        yield* server.quiet
        yield* TestClock.adjust("3 seconds")
        assert.deepStrictEqual((yield* get("tasks/get", { taskId })).result, {
          taskId,
          status: "completed",
          createdAt: start,
          lastUpdatedAt: start,
          ttl: 3_600_000,
          pollInterval: 1000,
        })
      }),
    ),
  )

  it.effect(
    "2026-07-28: inlines the result of the call, as the call would have been answered",
    () =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          const get = about(server, decided)
          const taskId = taskIdIn(yield* callAsTask(server, decided, 2, "codex", { prompt: "hi" }))
          yield* server.quiet
          const { result } = yield* get("tasks/get", { taskId })
          const { result: inlined, ...rest } = result ?? {}
          assert.deepStrictEqual(rest, {
            resultType: "complete",
            taskId,
            status: "completed",
            createdAt: start,
            lastUpdatedAt: start,
            ttlMs: 3_600_000,
            pollIntervalMs: 1000,
            _meta: madeBy,
          })
          const call = saying({ name: "codex", arguments: { prompt: "hi" } })
          const texts = [
            { result: inlined as NonNullable<WireMessage["result"]> },
            yield* server.ask(9, "tools/call", call),
          ].map((answer) => [textOf(answer), callResult(answer).content.length])
          assert.deepStrictEqual(texts[0], texts[1])
        }),
      ),
  )

  it.effect("2026-07-28: inlines every pending question", () => {
    const { tools } = asking([exec])
    return withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        const get = about(server, decided)
        const taskId = taskIdIn(yield* callAsTask(server, decided, 2, "codex", { prompt: "ask" }))
        yield* server.quiet
        const { result } = yield* get("tasks/get", { taskId })
        assert.strictEqual(result?.["status"], "input_required")
        const requests = Object.entries(result?.["inputRequests"] ?? {})
        assert.deepStrictEqual(
          requests.map(([key, { method, params }]) => [key, method, params.codex_command]),
          [["1-elicitation", "elicitation/create", ["touch", "made.txt"]]],
        )
      }),
    )
  })

  it.effect.each(forms)("$name: rejects ids that are unknown, invalid or expired", (form) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* form.hello(server)
        const get = about(server, form)
        const taskId = taskIdIn(yield* callAsTask(server, form, 2, "codex", { prompt: "hi" }))
        yield* server.quiet
        yield* TestClock.adjust("59 minutes")
        assert.strictEqual((yield* get("tasks/get", { taskId })).error, undefined)
        yield* TestClock.adjust("1 minute")
        for (const id of [taskId, "", "0", `${taskId} `]) {
          assert.deepStrictEqual(refused(yield* get("tasks/get", { taskId: id })), [
            -32602,
            unknown,
          ])
        }
        for (const params of [{}, { taskId: 7 }, { taskId: null }]) {
          const { error } = yield* get("tasks/get", params)
          assert.strictEqual(error?.code, -32602)
          assert.match(error?.message ?? "", /^Invalid params: params\.taskId: /)
        }
      }),
    ),
  )

  it.effect("2026-07-28: refuses a client that does not declare the extension", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
          const params = saying({ taskId: "x", inputResponses: {} })
          const { error } = yield* server.ask(method, method, params)
          assert.strictEqual(error?.code, -32021)
          assert.deepStrictEqual(error?.data, {
            requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } },
          })
        }
      }),
    ),
  )

  it.effect("both revisions see the same tasks", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const taskId = taskIdIn(yield* callAsTask(server, decided, 2, "codex", { prompt: "hi" }))
        yield* server.quiet
        const old = yield* about(server, asked)("tasks/get", { taskId })
        assert.deepStrictEqual(old.result?.["status"], "completed")
      }),
    ),
  )

  it.effect.each(["2024-11-05", "2025-03-26", "2025-06-18"])(
    "%s knows no tasks",
    (protocolVersion) =>
      withServer({}, (server) =>
        Effect.gen(function* () {
          yield* server.ask("i", "initialize", {
            protocolVersion,
            capabilities: {},
            clientInfo: { name: "test", version: "1" },
          })
          const ask = about(server, asked)
          for (const method of ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"]) {
            assert.strictEqual((yield* ask(method, { taskId: "x" })).error?.code, -32601)
          }
        }),
      ),
  )
})
