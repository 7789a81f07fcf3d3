import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { asking, exec, oneCall } from "../../support/Asking.ts"
import { cancelled, type Harness, withServer } from "../../support/Harness.ts"
import { saying } from "../../support/Stateless.ts"
import { about, callAsTask, decided, member, taskIdIn } from "../../support/Tasking.ts"

const named = { "io.modelcontextprotocol/subscriptionId": "s" }

const listen = (server: Harness, notifications: unknown) =>
  Effect.andThen(
    server.send({
      jsonrpc: "2.0",
      id: "s",
      method: "subscriptions/listen",
      params: decided.says({ notifications }),
    }),
    server.quiet,
  )

const paramsOf = ({ messages }: Harness, name: string) =>
  messages.flatMap(({ method, params }) => (method === name ? [params ?? {}] : []))

const acknowledged = (server: Harness) =>
  paramsOf(server, "notifications/subscriptions/acknowledged")

const withAsking = (body: (server: Harness, taskId: string) => Effect.Effect<void>) => {
  const { tools } = asking([exec])
  return withServer({ script: oneCall, tools }, (server) =>
    Effect.gen(function* () {
      const taskId = taskIdIn(yield* callAsTask(server, decided, 2, "codex", { prompt: "ask" }))
      yield* body(server, taskId)
    }),
  )
}

describe("notifications/tasks", () => {
  it.effect(
    "notifies of every change until the end, in the form of tasks/get, with the id of the subscription",
    () =>
      withAsking((server, taskId) =>
        Effect.gen(function* () {
          const ask = about(server, decided)
          yield* listen(server, { taskIds: [taskId, taskId, "nobody"] })
          assert.deepStrictEqual(acknowledged(server), [
            { notifications: { taskIds: [taskId] }, _meta: named },
          ])
          const currentTask = () =>
            Effect.map(ask("tasks/get", { taskId }), ({ result }) => {
              const { _meta, resultType: _, ...task } = result ?? {}
              return { ...task, _meta: named }
            })
          const waits = yield* currentTask()
          const inputResponses = {
            "1-elicitation": { action: "accept", content: { decision: "approved" } },
          }
          yield* ask("tasks/update", { taskId, inputResponses })
          yield* server.quiet
          const changes = paramsOf(server, "notifications/tasks")
          assert.deepInclude(changes, waits)
          assert.deepStrictEqual(changes.at(-1), yield* currentTask())
          assert.strictEqual(changes.at(-1)?.["status"], "completed")
          yield* server.send(cancelled("s"))
          yield* server.quiet
          assert.strictEqual((yield* ask("tasks/get", { taskId })).error, undefined)
        }),
      ),
  )

  it.effect(
    "sends nothing about a task whose subscription was cancelled, nor about one that had ended",
    () =>
      withAsking((server, taskId) =>
        Effect.gen(function* () {
          yield* server.quiet
          yield* listen(server, { taskIds: [taskId] })
          yield* server.send(cancelled("s"))
          yield* server.quiet
          const ask = about(server, decided)
          yield* ask("tasks/cancel", { taskId })
          yield* server.quiet
          yield* listen(server, { taskIds: [taskId] })
          assert.deepStrictEqual(paramsOf(server, "notifications/tasks"), [])
          assert.strictEqual(acknowledged(server).length, 2)
        }),
      ),
  )

  it.effect("refuses a client that does not declare the extension", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const params = saying({ notifications: { taskIds: [] } })
        const { error } = yield* server.ask(1, "subscriptions/listen", params)
        assert.deepStrictEqual(
          [error?.code, error?.data],
          [
            -32021,
            { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } },
          ],
        )
      }),
    ),
  )

  it.effect("refuses more tasks than one principal can have", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const taskIds = Array.from({ length: 1025 }, (_, index) => String(index))
        const params = decided.says({ notifications: { taskIds } })
        const answer = yield* server.ask(1, "subscriptions/listen", params)
        assert.strictEqual(answer.error?.code, -32602)
        assert.strictEqual(member(answer, "x"), undefined)
      }),
    ),
  )
})
