import type { Verdict } from "@colloquy/core/approvals/Approval"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import {
  asking,
  elicitations,
  exec,
  oneCall,
  questionId,
  responses,
  result,
  withdrawn,
} from "../../support/Asking.ts"
import { cancelled, type Harness, withServer } from "../../support/Harness.ts"
import {
  about,
  asked,
  callAsTask,
  decided,
  member,
  refused,
  related,
  structured,
  taskIdIn,
} from "../../support/Tasking.ts"

const approved = { action: "accept", content: { decision: "approved" } }

const decisions = (verdicts: ReadonlyArray<Verdict>) => verdicts.map(({ decision }) => decision)

/** Waits for the result under that id, and continues meanwhile. */
const wait = (server: Harness, id: unknown, taskId: string) =>
  Effect.andThen(
    server.send({ jsonrpc: "2.0", id, method: "tasks/result", params: { taskId } }),
    server.quiet,
  )

/** Runs `body` with a task that waits for a person. */
const withWaiting = (
  body: (server: Harness, taskId: string, verdicts: ReadonlyArray<Verdict>) => Effect.Effect<void>,
  requests = [exec],
) => {
  const { tools, verdicts } = asking(requests)
  return withServer({ script: oneCall, tools }, (server) =>
    Effect.gen(function* () {
      yield* asked.hello(server)
      const taskId = taskIdIn(yield* callAsTask(server, asked, 2, "codex", { prompt: "ask" }))
      yield* server.quiet
      yield* body(server, taskId, verdicts)
    }),
  )
}

describe("tasks/result", () => {
  it.effect("waits for the end, and is answered as the call would have been, with its task", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const plain = yield* server.call(1, "conversationCreate")
        const conversation_id = structured(plain, "conversation_id")
        const args = { conversation_id, timeout_ms: 60_000 }
        const call = yield* server.call(3, "conversationWait", args)
        const taskId = taskIdIn(yield* callAsTask(server, asked, 2, "conversationWait", args))
        yield* wait(server, 4, taskId)
        assert.deepStrictEqual((yield* server.response(4)).result, {
          ...call.result,
          _meta: related(taskId),
        })
        assert.deepStrictEqual((yield* about(server, asked)("tasks/result", { taskId })).result, {
          ...call.result,
          _meta: related(taskId),
        })
      }),
    ),
  )

  it.effect(
    "puts the question of the task, with its task, and returns the answer to the work",
    () =>
      withWaiting((server, taskId, verdicts) =>
        Effect.gen(function* () {
          const get = about(server, asked)
          assert.strictEqual(
            (yield* get("tasks/get", { taskId })).result?.["status"],
            "input_required",
          )
          assert.deepStrictEqual(elicitations(server), [])
          yield* wait(server, 4, taskId)
          const [question] = elicitations(server)
          assert.deepStrictEqual(question?.params?.["_meta"], related(taskId))
          assert.deepStrictEqual(responses(server, 4), [])
          yield* server.send(result(questionId(server), approved))
          yield* server.quiet
          assert.deepStrictEqual(decisions(verdicts), ["approved"])
          const taskResult = yield* server.response(4)
          assert.deepStrictEqual(
            [member(taskResult, "isError"), structured(taskResult, "content")],
            [undefined, "done"],
          )
        }),
      ),
  )

  it.effect(
    "puts a question once, however many requests wait, and through the next one when the first has ended",
    () =>
      withWaiting((server, taskId, verdicts) =>
        Effect.gen(function* () {
          yield* wait(server, 4, taskId)
          yield* wait(server, 5, taskId)
          assert.strictEqual(elicitations(server).length, 1)
          yield* server.send(cancelled(4))
          yield* server.quiet
          assert.deepStrictEqual(withdrawn(server), [questionId(server)])
          assert.strictEqual(elicitations(server).length, 2)
          yield* server.send(result(questionId(server, 1), approved))
          yield* server.quiet
          assert.deepStrictEqual(decisions(verdicts), ["approved"])
          assert.deepStrictEqual([responses(server, 4).length, responses(server, 5).length], [0, 1])
        }),
      ),
  )

  it.effect(
    "L7 a question stays pending when its request is cancelled, and the next request asks it",
    () =>
      withWaiting((server, taskId, verdicts) =>
        Effect.gen(function* () {
          yield* wait(server, 4, taskId)
          yield* server.send(cancelled(4))
          yield* server.quiet
          const { result: task } = yield* about(server, asked)("tasks/get", { taskId })
          assert.strictEqual(task?.["status"], "input_required")
          yield* wait(server, 5, taskId)
          yield* server.send(result(questionId(server, 1), approved))
          yield* server.quiet
          assert.deepStrictEqual(decisions(verdicts), ["approved"])
        }),
      ),
  )

  it.effect("L7 withdraws a question that was answered elsewhere, and asks the next", () =>
    withWaiting(
      (server, taskId, verdicts) =>
        Effect.gen(function* () {
          yield* wait(server, 4, taskId)
          const inputResponses = { "1-elicitation": approved }
          yield* about(server, decided)("tasks/update", { taskId, inputResponses })
          yield* server.quiet
          assert.deepStrictEqual(withdrawn(server), [questionId(server)])
          assert.deepStrictEqual(decisions(verdicts), ["approved"])
          assert.strictEqual(elicitations(server).length, 2)
          assert.deepStrictEqual(responses(server, 4), [])
        }),
      [exec, { ...exec, callId: "d" }],
    ),
  )

  it.effect("L7 a question that no client requests is denied at its deadline", () =>
    withWaiting((server, taskId, verdicts) =>
      Effect.gen(function* () {
        yield* TestClock.adjust("1 day")
        yield* server.quiet
        assert.deepStrictEqual(decisions(verdicts), ["denied"])
        assert.strictEqual((yield* about(server, asked)("tasks/list", {})).error, undefined)
        assert.isString(taskId)
      }),
    ),
  )

  it.effect("is answered at once with an error when the task was cancelled", () =>
    withWaiting((server, taskId) =>
      Effect.gen(function* () {
        yield* wait(server, 4, taskId)
        const ask = about(server, asked)
        yield* ask("tasks/cancel", { taskId })
        yield* server.quiet
        assert.deepStrictEqual(withdrawn(server), [questionId(server)])
        const error = [-32000, "the task was cancelled"]
        assert.deepStrictEqual(refused(yield* server.response(4)), error)
        assert.deepStrictEqual(refused(yield* ask("tasks/result", { taskId })), error)
      }),
    ),
  )

  it.effect("puts no question to a client that did not declare that it can answer", () => {
    const { tools } = asking([exec])
    return withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* server.ask("i", "initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "test", version: "1" },
        })
        // The client that created the task can answer; this one only shares the task.
        const taskId = taskIdIn(yield* callAsTask(server, decided, 2, "codex", { prompt: "ask" }))
        yield* server.quiet
        yield* wait(server, 4, taskId)
        assert.deepStrictEqual([elicitations(server), responses(server, 4)], [[], []])
      }),
    )
  })

  it.effect("rejects an unknown id", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* asked.hello(server)
        const answer = yield* about(server, asked)("tasks/result", { taskId: "nobody" })
        assert.deepStrictEqual(refused(answer), [
          -32602,
          "Invalid params: params.taskId: expected the id of a task that is running or kept",
        ])
      }),
    ),
  )

  it.effect("is not a method of 2026-07-28", () =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        const answer = yield* about(server, decided)("tasks/result", { taskId: "x" })
        assert.strictEqual(answer.error?.code, -32601)
      }),
    ),
  )
})
