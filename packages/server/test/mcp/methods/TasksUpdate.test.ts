import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { asking, exec, oneCall } from "../../support/Asking.ts"
import { type Harness, withServer } from "../../support/Harness.ts"
import { madeBy } from "../../support/Stateless.ts"
import { about, asked, callAsTask, decided, refused, taskIdIn } from "../../support/Tasking.ts"

const approved = { action: "accept", content: { decision: "approved" } }

/** Runs `body` with a task that asks twice, one after the other. */
const withAsking = (
  body: (
    server: Harness,
    taskId: string,
    decisions: () => ReadonlyArray<string>,
  ) => Effect.Effect<void>,
) => {
  const { tools, verdicts } = asking([exec, { ...exec, callId: "d" }])
  return withServer({ script: oneCall, tools }, (server) =>
    Effect.gen(function* () {
      const taskId = taskIdIn(yield* callAsTask(server, decided, 2, "codex", { prompt: "ask" }))
      yield* server.quiet
      yield* body(server, taskId, () => verdicts.map(({ decision }) => decision))
    }),
  )
}

const keysOf = (server: Harness, taskId: string) =>
  Effect.map(about(server, decided)("tasks/get", { taskId }), ({ result }) =>
    Object.keys(result?.["inputRequests"] ?? {}),
  )

describe("tasks/update", () => {
  it.effect(
    "responds with an empty result to an answer, and the work continues with the next question",
    () =>
      withAsking((server, taskId, decisions) =>
        Effect.gen(function* () {
          const ask = about(server, decided)
          const update = (inputResponses: unknown) =>
            ask("tasks/update", { taskId, inputResponses })
          assert.deepStrictEqual((yield* update({ "1-elicitation": approved })).result, {
            resultType: "complete",
            _meta: madeBy,
          })
          yield* server.quiet
          assert.deepStrictEqual(
            [yield* keysOf(server, taskId), decisions()],
            [["2-elicitation"], ["approved"]],
          )
          // A late second answer to the first question does not answer the second one.
          yield* update({ "1-elicitation": { action: "decline" } })
          yield* server.quiet
          assert.deepStrictEqual(decisions(), ["approved"])
          yield* update({ "2-elicitation": { action: "decline" } })
          yield* server.quiet
          assert.deepStrictEqual(decisions(), ["approved", "denied"])
          const { result } = yield* ask("tasks/get", { taskId })
          assert.strictEqual(result?.["status"], "completed")
        }),
      ),
  )

  it.effect("ignores keys of no question, and null, which is not an answer", () =>
    withAsking((server, taskId, decisions) =>
      Effect.gen(function* () {
        const ask = about(server, decided)
        for (const inputResponses of [
          {},
          { "1-elicitation": null },
          { nonsense: 7 },
          { "9-elicitation": approved },
        ]) {
          const { error } = yield* ask("tasks/update", { taskId, inputResponses })
          assert.strictEqual(error, undefined)
        }
        yield* server.quiet
        assert.deepStrictEqual(
          [yield* keysOf(server, taskId), decisions()],
          [["1-elicitation"], []],
        )
      }),
    ),
  )

  it.effect("refuses an answer that does not fit its question, which stays pending", () =>
    withAsking((server, taskId, decisions) =>
      Effect.gen(function* () {
        const ask = about(server, decided)
        for (const wrong of [
          7,
          "yes",
          {},
          [],
          { action: "maybe" },
          { action: "accept", content: 7 },
          { action: "accept", content: { decision: 7 } },
        ]) {
          const inputResponses = { "1-elicitation": wrong }
          assert.deepStrictEqual(refused(yield* ask("tasks/update", { taskId, inputResponses })), [
            -32602,
            'Invalid params: params.inputResponses["1-elicitation"]: expected an answer to elicitation/create that fits what was asked',
          ])
        }
        for (const params of [
          { taskId },
          { taskId, inputResponses: [] },
          { taskId, inputResponses: null },
        ]) {
          assert.strictEqual((yield* ask("tasks/update", params)).error?.code, -32602)
        }
        yield* server.quiet
        assert.deepStrictEqual(
          [yield* keysOf(server, taskId), decisions()],
          [["1-elicitation"], []],
        )
      }),
    ),
  )

  it.effect("rejects an unknown id, and does not change an ended task", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const ask = about(server, decided)
        const update = (taskId: string) =>
          ask("tasks/update", { taskId, inputResponses: { "1-elicitation": approved } })
        assert.deepStrictEqual(refused(yield* update("nobody")), [
          -32602,
          "Invalid params: params.taskId: expected the id of a task that is running or kept",
        ])
        const taskId = taskIdIn(yield* callAsTask(server, decided, 2, "codex", { prompt: "hi" }))
        yield* server.quiet
        const before = yield* ask("tasks/get", { taskId })
        assert.strictEqual((yield* update(taskId)).error, undefined)
        assert.deepStrictEqual((yield* ask("tasks/get", { taskId })).result, before.result)
      }),
    ),
  )

  it.effect("is not a method of 2025-11-25", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const params = { taskId: "x", inputResponses: {} }
        const answer = yield* about(server, asked)("tasks/update", params)
        assert.strictEqual(answer.error?.code, -32601)
      }),
    ),
  )
})
