import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import {
  type Asked,
  asking,
  elicitations,
  exec,
  initialize,
  oneCall,
  result,
  withdrawn,
} from "../../support/Asking.ts"
import { created, initialStates, methods, send, valueOf } from "../../support/Conversing.ts"
import { cancelled, type Harness, withServer } from "../../support/Harness.ts"

const approved = { action: "accept", content: { decision: "approved" } }

const converse = <A, E>(
  asked: Asked,
  body: (server: Harness, id: string) => Effect.Effect<A, E, Scope.Scope>,
  capabilities: unknown = { elicitation: {} },
) =>
  withServer({ script: oneCall, tools: asked.tools }, (server) =>
    Effect.gen(function* () {
      yield* server.send(initialize(capabilities))
      return yield* body(server, yield* created(server))
    }),
  )

const status = (server: Harness, id: string) =>
  Effect.map(server.call("status", "conversationStatus", { conversation_id: id }), (answer) => {
    const { open_questions, status: word } = valueOf(answer)
    return [word, open_questions]
  })

describe("questions of the conversation tools", () => {
  it.effect("wait while there is no stream, and are presented after the initial state", () => {
    const asked = asking([exec])
    return converse(asked, (server, id) =>
      Effect.gen(function* () {
        yield* send(server, 1, id, "go")
        yield* server.quiet
        assert.deepStrictEqual(elicitations(server), [])
        assert.deepStrictEqual(yield* status(server, id), ["waiting_for_approval", 1])
        yield* server.call("s", "conversationStream", { conversation_id: id })
        yield* server.quiet
        assert.deepStrictEqual(initialStates(server), [["task_started", "exec_approval_request"]])
        const [question] = elicitations(server)
        assert.strictEqual(server.messages.at(-1), question)
        // The questions of a conversation that a call created name that call.
        assert.deepInclude(question?.params, {
          codex_mcp_tool_call_id: "c",
          codex_call_id: "c",
          threadId: id,
        })
        yield* server.send(result(question?.id, approved))
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
        assert.strictEqual(methods(server).at(-1), "task_complete")
      }),
    )
  })

  it.effect("are presented at once while there is a stream, after their event", () => {
    const asked = asking([exec])
    return converse(asked, (server, id) =>
      Effect.gen(function* () {
        yield* server.call("s", "conversationStream", { conversation_id: id })
        yield* send(server, 1, id, "go")
        yield* server.quiet
        assert.deepStrictEqual(
          server.messages.slice(-2).map(({ method }) => method),
          ["exec_approval_request", "elicitation/create"],
        )
      }),
    )
  })

  it.effect("that the client has when its stream ends can still be answered", () => {
    const asked = asking([exec, exec])
    return converse(asked, (server, id) =>
      Effect.gen(function* () {
        yield* server.call("s", "conversationStream", { conversation_id: id })
        yield* send(server, 1, id, "go")
        yield* server.quiet
        yield* server.send(cancelled("s"))
        yield* server.quiet
        assert.deepStrictEqual(withdrawn(server), [])
        yield* server.send(result(elicitations(server)[0]?.id, approved))
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "approved", reason: "answered" }])
        // The next question waits.
        assert.strictEqual(elicitations(server).length, 1)
        assert.deepStrictEqual(yield* status(server, id), ["waiting_for_approval", 1])
        yield* server.call("t", "conversationStream", { conversation_id: id })
        yield* server.quiet
        assert.strictEqual(elicitations(server).length, 2)
        yield* server.send(result(elicitations(server)[1]?.id, approved))
        yield* server.quiet
        assert.strictEqual(asked.verdicts.length, 2)
      }),
    )
  })

  it.effect("are presented once, however often the stream is opened again", () => {
    const asked = asking([exec])
    return converse(asked, (server, id) =>
      Effect.gen(function* () {
        yield* send(server, 1, id, "go")
        for (const call of ["s", "t", "u"]) {
          yield* server.call(call, "conversationStream", { conversation_id: id })
          yield* server.quiet
        }
        assert.strictEqual(elicitations(server).length, 1)
      }),
    )
  })

  it.effect("L7 without an answer it is denied at the deadline, with and without a stream", () => {
    const asked = asking([exec])
    return converse(asked, (server, id) =>
      Effect.gen(function* () {
        yield* send(server, 1, id, "go")
        yield* server.quiet
        yield* TestClock.adjust("10 minutes")
        yield* server.quiet
        assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "expired" }])
        assert.deepStrictEqual(yield* status(server, id), ["idle", 0])
      }),
    )
  })

  it.effect(
    "L7 an answer of another client withdraws the question, also while there is no stream",
    () => {
      const asked = asking([exec])
      return converse(asked, (server, id) =>
        Effect.gen(function* () {
          yield* server.call("s", "conversationStream", { conversation_id: id })
          yield* send(server, 1, id, "go")
          yield* server.quiet
          yield* server.send(cancelled("s"))
          yield* server.quiet
          const conversation = yield* Effect.orDie(server.manager.get(id))
          yield* Effect.orDie(
            conversation.submit({ type: "exec_approval", id: "c", decision: "denied" }),
          )
          yield* server.quiet
          assert.deepStrictEqual(withdrawn(server), [elicitations(server)[0]?.id])
        }),
      )
    },
  )

  it.effect("L7 a client that cannot answer is not asked: the setting decides at once", () => {
    const asked = asking([exec])
    return converse(
      asked,
      (server, id) =>
        Effect.gen(function* () {
          yield* server.call("s", "conversationStream", { conversation_id: id })
          yield* send(server, 1, id, "go")
          yield* server.quiet
          assert.deepStrictEqual(elicitations(server), [])
          assert.deepStrictEqual(asked.verdicts, [{ decision: "denied", reason: "unattended" }])
          assert.deepStrictEqual(yield* status(server, id), ["idle", 0])
        }),
      {},
    )
  })
})
