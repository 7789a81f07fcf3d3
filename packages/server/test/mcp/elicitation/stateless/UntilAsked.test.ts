import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import {
  asking,
  type Asked,
  exec,
  initialize,
  oneCall,
  questionId,
} from "../../../support/Asking.ts"
import { type Harness, withServer } from "../../../support/Harness.ts"
import { saying } from "../../../support/Stateless.ts"
import type { WireMessage } from "../../../support/Wire.ts"

const forms = { elicitation: {} }
const withEvents = { elicitation: {}, extensions: { "colloquy/codex-event": {} } }

const call = (
  name: string,
  args: unknown,
  capabilities: unknown = forms,
  more: Readonly<Record<string, unknown>> = {},
) => saying({ name, arguments: args, ...more }, capabilities)

const said = ({ error, result }: WireMessage): Readonly<Record<string, unknown>> => {
  assert.deepStrictEqual([error, result?.["resultType"]], [undefined, "complete"])
  return result?.["structuredContent"] as Readonly<Record<string, unknown>>
}

const questionOf = ({ error, result }: WireMessage) => {
  assert.deepStrictEqual([error, result?.["resultType"]], [undefined, "input_required"])
  const { inputRequests, requestState } = result as {
    readonly inputRequests: Readonly<Record<string, unknown>>
    readonly requestState: string
  }
  const [key = ""] = Object.keys(inputRequests)
  return {
    keys: Object.keys(inputRequests),
    answer: (decision: string) => ({
      requestState,
      inputResponses: { [key]: { action: "accept", content: { decision } } },
    }),
  }
}

/** A conversation with a turn that asks, started by `conversationSendMessage`. */
const withMessage = <A, E>(
  asked: Asked,
  body: (server: Harness, conversation_id: unknown) => Effect.Effect<A, E, Scope.Scope>,
  capabilities: unknown = forms,
) =>
  withServer({ script: oneCall, tools: asked.tools }, (server) =>
    Effect.gen(function* () {
      const made = said(yield* server.ask("c", "tools/call", call("conversationCreate", {})))
      const { conversation_id } = made
      const message = { conversation_id, content: [{ type: "text", text: "ask" }] }
      const sent = yield* server.ask(
        "m",
        "tools/call",
        call("conversationSendMessage", message, capabilities),
      )
      assert.strictEqual(said(sent)["status"], "ok")
      yield* server.quiet
      return yield* body(server, conversation_id)
    }),
  )

const approved = [{ decision: "approved", reason: "answered" }]

describe("conversationWait without a handshake", () => {
  it.effect(
    "L7 returns the questions of the conversation in its result, and continues to wait with the answers",
    () => {
      const asked = asking([exec])
      return withMessage(asked, (server, conversation_id) =>
        Effect.gen(function* () {
          const args = { conversation_id }
          const question = questionOf(
            yield* server.ask(1, "tools/call", call("conversationWait", args)),
          )
          assert.strictEqual(question.keys.length, 1)
          const bad = call("conversationWait", args, forms, question.answer("perhaps"))
          const again = questionOf(yield* server.ask(2, "tools/call", bad))
          assert.deepStrictEqual(again.keys, question.keys)
          const answer = call("conversationWait", args, forms, again.answer("approved"))
          const { last_agent_message, status } = said(yield* server.ask(3, "tools/call", answer))
          assert.deepStrictEqual(
            [status, last_agent_message, asked.verdicts],
            ["idle", "done", approved],
          )
        }),
      )
    },
  )

  it.effect("waits until its time is up for a client that cannot answer", () => {
    const asked = asking([exec])
    return withMessage(asked, (server, conversation_id) =>
      Effect.gen(function* () {
        yield* server.send({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: call("conversationWait", { conversation_id, timeout_ms: 1000 }, {}),
        })
        yield* server.quiet
        yield* TestClock.adjust("1 second")
        const { timed_out } = said(yield* server.response(1))
        assert.deepStrictEqual([timed_out, asked.verdicts], [true, []])
      }),
    )
  })
})

describe("both eras on one connection", () => {
  it.effect(
    "L7 a question of a turn that a stateless message started is put to the stream of a client with a handshake",
    () => {
      const asked = asking([exec])
      return withMessage(asked, (server, conversation_id) =>
        Effect.gen(function* () {
          yield* server.send(initialize(forms))
          yield* server.response("i")
          const args = { conversation_id }
          yield* server.ask(1, "tools/call", { name: "conversationStream", arguments: args })
          yield* server.quiet
          const answer = { action: "accept", content: { decision: "approved" } }
          yield* server.send({ jsonrpc: "2.0", id: questionId(server), result: answer })
          yield* server.quiet
          assert.deepStrictEqual(asked.verdicts, approved)
        }),
      )
    },
  )
})

describe("conversationStream without a handshake", () => {
  it.effect("needs a client that asks for events", () =>
    withMessage(asking([exec]), (server, conversation_id) =>
      Effect.gen(function* () {
        const { result } = yield* server.ask(
          1,
          "tools/call",
          call("conversationStream", { conversation_id }),
        )
        assert.deepStrictEqual(
          [result?.["isError"], result?.["structuredContent"]],
          [true, { message: "A stream needs a client that declares colloquy/codex-event" }],
        )
      }),
    ),
  )

  it.effect(
    "sends events before its response only, and ends with the conversation's questions",
    () => {
      const asked = asking([exec])
      return withMessage(asked, (server, conversation_id) =>
        Effect.gen(function* () {
          const first = server.messages.length
          const args = { conversation_id }
          const question = questionOf(
            yield* server.ask(1, "tools/call", call("conversationStream", args, withEvents)),
          )
          yield* server.quiet
          assert.deepStrictEqual(
            server.messages.slice(first).map(({ id, method }) => method ?? id),
            ["notifications/initial_state", 1],
          )
          yield* server.send({
            jsonrpc: "2.0",
            id: 2,
            method: "tools/call",
            params: call("conversationStream", args, withEvents, question.answer("approved")),
          })
          yield* server.quiet
          const rest = server.messages.slice(first + 2).map(({ id, method }) => method ?? id)
          assert.deepStrictEqual(
            [rest[0], rest.includes("task_complete"), rest.includes(2), asked.verdicts],
            ["notifications/initial_state", true, false, approved],
          )
        }),
      )
    },
  )
})
