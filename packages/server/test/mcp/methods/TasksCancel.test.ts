import { assert, describe, it } from "@effect/vitest"
import * as Script from "@colloquy/testing/ProviderScript"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { asking, elicitations, exec, oneCall } from "../../support/Asking.ts"
import { withServer } from "../../support/Harness.ts"
import { madeBy } from "../../support/Stateless.ts"
import {
  about,
  asked,
  callAsTask,
  decided,
  forms,
  refused,
  structured,
  taskIdIn,
} from "../../support/Tasking.ts"

const endless = [Script.reply(Script.text("never"), Script.hang)]

describe("tasks/cancel", () => {
  it.effect.each(forms)("L14 $name: stops the turn, and a second one changes nothing", (form) => {
    const { tools, verdicts } = asking([exec])
    return withServer({ script: oneCall, tools }, (server) =>
      Effect.gen(function* () {
        yield* form.hello(server)
        const ask = about(server, form)
        const taskId = taskIdIn(yield* callAsTask(server, form, 2, "codex", { prompt: "ask" }))
        yield* server.quiet
        const { result } = yield* ask("tasks/cancel", { taskId })
        assert.deepStrictEqual(
          result,
          form === asked
            ? {
                taskId,
                status: "cancelled",
                statusMessage: "cancelled by request",
                createdAt: "1970-01-01T00:00:00.000Z",
                lastUpdatedAt: "1970-01-01T00:00:00.000Z",
                ttl: 3_600_000,
                pollInterval: 1000,
              }
            : { resultType: "complete", _meta: madeBy },
        )
        yield* TestClock.adjust("2 seconds")
        yield* server.quiet
        const conversations = structured(
          yield* server.call(90, "conversationsList"),
          "conversations",
        )
        if (!Array.isArray(conversations)) throw new Error("no list of conversations")
        const states = yield* Effect.forEach(
          conversations as ReadonlyArray<{ readonly conversation_id: string }>,
          ({ conversation_id }, index) =>
            server.call(91 + index, "conversationStatus", { conversation_id }),
        )
        assert.deepStrictEqual(
          states.map((state) => structured(state, "status")),
          ["idle"],
        )
        assert.deepStrictEqual(
          verdicts.map(({ decision }) => decision),
          ["denied"],
        )
        assert.deepStrictEqual(elicitations(server), [])
        const again = yield* ask("tasks/cancel", { taskId })
        if (form === asked) {
          assert.deepStrictEqual(refused(again), [
            -32602,
            "Invalid params: params.taskId: the task has ended, it is cancelled",
          ])
        } else {
          assert.deepStrictEqual(again.result, result)
        }
        const status = (yield* ask("tasks/get", { taskId })).result?.["status"]
        assert.strictEqual(status, "cancelled")
      }),
    )
  })

  it.effect.each(forms)("$name: a completed task is unchanged", (form) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* form.hello(server)
        const ask = about(server, form)
        const taskId = taskIdIn(yield* callAsTask(server, form, 2, "codex", { prompt: "hi" }))
        yield* server.quiet
        const before = yield* ask("tasks/get", { taskId })
        const answer = yield* ask("tasks/cancel", { taskId })
        assert.strictEqual(answer.error?.code, form === asked ? -32602 : undefined)
        assert.deepStrictEqual((yield* ask("tasks/get", { taskId })).result, before.result)
      }),
    ),
  )

  it.effect.each(forms)("$name: rejects an unknown id", (form) =>
    withServer({}, (server) =>
      Effect.gen(function* () {
        yield* form.hello(server)
        assert.deepStrictEqual(
          refused(yield* about(server, form)("tasks/cancel", { taskId: "nobody" })),
          [
            -32602,
            "Invalid params: params.taskId: expected the id of a task that is running or kept",
          ],
        )
      }),
    ),
  )

  it.effect("a turn of the model that hangs ends too", () =>
    withServer({ script: endless }, (server) =>
      Effect.gen(function* () {
        const ask = about(server, decided)
        const taskId = taskIdIn(yield* callAsTask(server, decided, 2, "codex", { prompt: "hi" }))
        yield* server.quiet
        assert.strictEqual((yield* ask("tasks/get", { taskId })).result?.["status"], "working")
        yield* ask("tasks/cancel", { taskId })
        assert.strictEqual((yield* ask("tasks/get", { taskId })).result?.["status"], "cancelled")
      }),
    ),
  )
})
