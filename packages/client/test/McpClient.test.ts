import {
  failureText,
  JsonRpcError,
  type Message,
  notificationText,
  requestText,
  successText,
} from "@colloquy/protocol/JsonRpc"
import type { ElicitResult } from "@colloquy/protocol/mcp/Elicitation"
import type { ReviewDecision } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as McpClient from "../src/McpClient.ts"
import * as FakeServer from "./FakeServer.ts"

const clientInfo = { name: "test", version: "1.2.3" }
const server = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "fake", version: "0" },
}
const threadId = "0199b6c0-0000-7000-8000-000000000001"

const start = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.forkChild(effect, { startImmediately: true })

/** A client whose handshake was request 0, and the server's end. */
const connected = (options: Omit<McpClient.ConnectOptions, "clientInfo"> = {}) =>
  Effect.gen(function* () {
    const fake = yield* FakeServer.make()
    const connecting = yield* start(McpClient.connect(fake.connection, { clientInfo, ...options }))
    const hello = yield* fake.next
    yield* fake.send(successText(0, server))
    const client = yield* Fiber.join(connecting)
    return { ...fake, client, hello, initialized: yield* fake.next }
  })

const request = (id: string | number, method: string, params: unknown): Message => ({
  _tag: "Request",
  id,
  method,
  params,
})

describe("McpClient", () => {
  it.effect("performs the handshake: initialize, then the initialized notification", () =>
    Effect.gen(function* () {
      const { client, hello, initialized } = yield* connected()
      assert.deepStrictEqual(
        hello,
        request(0, "initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo,
        }),
      )
      assert.deepStrictEqual(initialized, {
        _tag: "Notification",
        method: "notifications/initialized",
        params: undefined,
      })
      assert.deepStrictEqual(client.server, server)
    }),
  )

  it.effect("offers the revision and the capabilities it is given", () =>
    Effect.gen(function* () {
      const { hello } = yield* connected({
        protocolVersion: "2025-03-26",
        capabilities: { elicitation: {} },
      })
      assert.deepStrictEqual(
        hello,
        request(0, "initialize", {
          protocolVersion: "2025-03-26",
          capabilities: { elicitation: {} },
          clientInfo,
        }),
      )
    }),
  )

  it.effect("fails when the server refuses or uses an unknown revision", () =>
    Effect.gen(function* () {
      const refused = new JsonRpcError({ code: -32602, message: "no" })
      for (const [answer, expected] of [
        [failureText(0, refused), /^no$/],
        [
          successText(0, { ...server, protocolVersion: "1999-01-01" }),
          /"1999-01-01", expected one of 2025-11-25/,
        ],
      ] as const) {
        const fake = yield* FakeServer.make()
        const failing = yield* start(
          Effect.flip(McpClient.connect(fake.connection, { clientInfo })),
        )
        yield* fake.next
        yield* fake.send(answer)
        assert.match((yield* Fiber.join(failing)).message, expected)
      }
    }),
  )

  it.effect("an interrupted handshake is not cancelled at the server", () =>
    Effect.gen(function* () {
      const fake = yield* FakeServer.make()
      const connecting = yield* start(McpClient.connect(fake.connection, { clientInfo }))
      yield* fake.next
      yield* Fiber.interrupt(connecting)
      yield* fake.connection.send(["nothing before this"])
      assert.strictEqual((yield* fake.next)._tag, "Invalid")
    }),
  )

  it.effect("answers a ping, also when an id is used again", () =>
    Effect.gen(function* () {
      const { next, send } = yield* connected()
      for (const id of ["p", "p"]) {
        yield* send(requestText(id, "ping", undefined))
        assert.deepStrictEqual(yield* next, { _tag: "Success", id, result: {} })
      }
    }),
  )

  it.effect(
    "runs a turn: the arguments as given, the events in order, the response after them",
    () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = []
        const { client, next, send } = yield* connected({
          onEvent: (event) => Effect.sync(() => void seen.push(event)),
        })
        const turn = yield* start(
          Effect.tap(
            client.codex({ prompt: "hi", "approval-policy": "never" }, { id: "call" }),
            () => Effect.sync(() => void seen.push("answer")),
          ),
        )
        assert.deepStrictEqual(
          yield* next,
          request("call", "tools/call", {
            name: "codex",
            arguments: { prompt: "hi", "approval-policy": "never" },
          }),
        )
        const started = { type: "task_started", model_context_window: null }
        const foreign = { type: "from_the_future", x: [1] }
        const unknown = { type: "unknown_event", sent: foreign }
        yield* send(
          notificationText("codex/event", {
            _meta: { requestId: "call", threadId },
            id: "0",
            msg: started,
          }),
          notificationText("codex/event", { _meta: { requestId: null }, id: "1", msg: foreign }),
          notificationText("codex/event", { id: "2", msg: foreign }),
        )
        const result = {
          content: [
            { type: "text", text: "hello" },
            { type: "image", data: "" },
            { type: "text", text: "there", annotations: { audience: ["user", "assistant"] } },
            { type: "text", text: "threadId: t", annotations: { audience: ["assistant"] } },
          ],
          structuredContent: { threadId, conversationId: threadId, content: "hello" },
        }
        yield* send(successText("call", result))
        assert.deepStrictEqual<unknown>(yield* Fiber.join(turn), {
          ...result,
          text: "hello\nthere",
          threadId,
        })
        assert.deepStrictEqual(seen, [
          { requestId: "call", threadId, id: "0", msg: started },
          { requestId: undefined, threadId: undefined, id: "1", msg: unknown },
          { requestId: undefined, threadId: undefined, id: "2", msg: unknown },
          "answer",
        ])
      }),
  )

  it.effect("continues a conversation; a failed turn is a result, not an error", () =>
    Effect.gen(function* () {
      const { client, next, send } = yield* connected()
      const turn = yield* start(client.codexReply({ prompt: "more", threadId }))
      assert.deepStrictEqual(
        yield* next,
        request(1, "tools/call", { name: "codex-reply", arguments: { prompt: "more", threadId } }),
      )
      const result = { content: [{ type: "text", text: "it broke" }], isError: true }
      yield* send(successText(1, result))
      assert.deepStrictEqual<unknown>(yield* Fiber.join(turn), {
        ...result,
        text: "it broke",
        threadId: undefined,
      })
    }),
  )

  it.effect("interrupting a turn cancels its tool call", () =>
    Effect.gen(function* () {
      const { client, next } = yield* connected()
      const turn = yield* start(client.codex({ prompt: "hi" }))
      yield* next
      yield* Fiber.interrupt(turn)
      assert.deepStrictEqual(yield* next, {
        _tag: "Notification",
        method: "notifications/cancelled",
        params: { requestId: 1 },
      })
    }),
  )

  it.effect("calls any tool with unchanged arguments", () =>
    Effect.gen(function* () {
      const { client, next, send } = yield* connected()
      const call = yield* start(client.callTool("other", ["not", "a", "map"]))
      assert.deepStrictEqual(
        yield* next,
        request(1, "tools/call", { name: "other", arguments: ["not", "a", "map"] }),
      )
      yield* send(successText(1, { content: [] }))
      assert.deepStrictEqual(yield* Fiber.join(call), { content: [] })
    }),
  )

  it.effect("lists the tools of all pages, and stops at a repeated cursor", () =>
    Effect.gen(function* () {
      const { client, next, send } = yield* connected()
      const listing = yield* start(client.listTools)
      const tool = (name: string) => ({ name, inputSchema: { type: "object" } })
      assert.deepStrictEqual(yield* next, request(1, "tools/list", {}))
      yield* send(successText(1, { tools: [tool("a")], nextCursor: "2" }))
      assert.deepStrictEqual(yield* next, request(2, "tools/list", { cursor: "2" }))
      yield* send(successText(2, { tools: [tool("b")], nextCursor: "2" }))
      assert.deepStrictEqual(yield* Fiber.join(listing), [tool("a"), tool("b")])
    }),
  )

  const question = {
    message: "Allow Codex to run `touch made.txt` in `/workspace`?",
    requestedSchema: { type: "object", properties: {} },
    codex_elicitation: "exec-approval",
    codex_call_id: "c",
    codex_command: ["touch", "made.txt"],
  }

  it.effect.each<readonly [given: ReviewDecision | ElicitResult, sent: unknown]>([
    ["approved", { action: "accept", content: { decision: "approved" } }],
    ["denied", { action: "accept", content: { decision: "denied" } }],
    [{ action: "decline" }, { action: "decline" }],
    [
      { action: "accept", content: { name: "Ada" } },
      { action: "accept", content: { name: "Ada" } },
    ],
  ])("answers a question with %j, after the events before it", ([given, sent]) =>
    Effect.gen(function* () {
      const received: Array<unknown> = []
      const fake = yield* connected({
        onEvent: ({ msg }) => Effect.sync(() => received.push(msg.type)),
        onElicitation: (asked) => Effect.sync(() => (received.push(asked), given)),
      })
      assert.deepStrictEqual(
        fake.hello,
        request(0, "initialize", {
          protocolVersion: "2025-11-25",
          capabilities: { elicitation: {} },
          clientInfo,
        }),
      )
      yield* fake.send(
        notificationText("codex/event", { id: "2", msg: { type: "warning", message: "w" } }),
        requestText(0, "elicitation/create", question),
      )
      assert.deepStrictEqual(yield* fake.next, { _tag: "Success", id: 0, result: sent })
      assert.deepStrictEqual(received, ["warning", question])
    }),
  )

  it.effect.each<readonly [given: ReviewDecision, sent: unknown]>([
    ["approved", { action: "accept", content: {} }],
    ["approved_for_session", { action: "accept", content: {} }],
    ["denied", { action: "decline" }],
    ["abort", { action: "cancel" }],
  ])("L7 the word %j to a form that asks for no decision is no content of it", ([given, sent]) =>
    Effect.gen(function* () {
      const fake = yield* connected({ onElicitation: () => Effect.succeed(given) })
      const form = { message: "Which?", requestedSchema: { type: "object", properties: {} } }
      yield* fake.send(requestText(0, "elicitation/create", form))
      assert.deepStrictEqual(yield* fake.next, { _tag: "Success", id: 0, result: sent })
    }),
  )

  it.effect("interrupts the handler of a question that the server withdraws", () =>
    Effect.gen(function* () {
      const received: Array<string> = []
      const fake = yield* connected({
        onElicitation: () =>
          Effect.onInterrupt(Effect.never, () => Effect.sync(() => received.push("withdrawn"))),
      })
      yield* fake.send(requestText(0, "elicitation/create", question))
      yield* FakeServer.settled
      assert.deepStrictEqual(received, [])
      yield* fake.send(notificationText("notifications/cancelled", { requestId: 0 }))
      yield* FakeServer.settled
      assert.deepStrictEqual(received, ["withdrawn"])
    }),
  )

  it.effect("L1 a question gets an error response when there is no handler", () =>
    Effect.gen(function* () {
      const fake = yield* connected()
      yield* fake.send(requestText(0, "elicitation/create", question))
      const answer = yield* fake.next
      assert.strictEqual(answer._tag, "Failure")
      assert.strictEqual(answer._tag === "Failure" ? answer.error.code : 0, -32601)
    }),
  )
})
