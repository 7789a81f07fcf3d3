import { ConnectionClosed } from "@colloquy/protocol/Connection"
import {
  successText,
  requestText,
  notificationText,
  failureText,
  JsonRpcError,
} from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as PromiseClient from "../src/PromiseClient.ts"
import * as FakeServer from "./FakeServer.ts"

const clientInfo = { name: "test", version: "1" }
const conversationId = "0199b6c0-0000-7000-8000-000000000001"

const connected = (options: Partial<PromiseClient.ConnectOptions> = {}) =>
  Effect.gen(function* () {
    const fake = yield* FakeServer.make()
    const connecting = PromiseClient.connect(fake.connection, { clientInfo, ...options })
    yield* fake.next
    yield* fake.send(successText(0, { userAgent: "fake/1" }))
    const client = yield* Effect.promise(() => connecting)
    yield* fake.next
    return { ...fake, client }
  })

const message = (seq: number) =>
  notificationText("codex/event/agent_message", {
    id: "t",
    msg: { type: "agent_message", message: `${seq}` },
    conversationId,
    subscriptionId: "s",
    seq,
  })

const command = { conversationId, callId: "c", command: ["ls"], cwd: "/work", parsedCmd: [] }

describe("PromiseClient", () => {
  it.effect("creates a conversation, sends a message, and calls any other method by its name", () =>
    Effect.gen(function* () {
      const { client, next, send } = yield* connected()
      assert.strictEqual(client.userAgent, "fake/1")
      const making = client.newConversation({ model: "m" })
      assert.deepStrictEqual(yield* next, {
        _tag: "Request",
        id: 1,
        method: "newConversation",
        params: { model: "m" },
      })
      const made = { conversationId, model: "m" }
      yield* send(successText(1, made))
      assert.deepStrictEqual(yield* Effect.promise(() => making), made)
      const saying = client.sendUserMessage(conversationId, "hi", { whileRunning: "wait" })
      assert.deepStrictEqual(yield* next, {
        _tag: "Request",
        id: 2,
        method: "sendUserMessage",
        params: {
          conversationId,
          items: [{ type: "text", data: { text: "hi" } }],
          whileRunning: "wait",
        },
      })
      yield* send(successText(2, { turnId: "t", disposition: "started" }))
      assert.strictEqual((yield* Effect.promise(() => saying)).turnId, "t")
      const asking = client.request("getConversation", { conversationId })
      yield* next
      const error = new JsonRpcError({ code: -32600, message: "conversation not found" })
      yield* send(failureText(3, error))
      const thrown = yield* Effect.promise(() =>
        asking.then(
          () => undefined,
          (cause: unknown) => cause,
        ),
      )
      assert.deepStrictEqual(thrown, error)
    }),
  )

  it.effect("iterates over events until it is closed", () =>
    Effect.gen(function* () {
      const { client, next, send } = yield* connected()
      const events = client.events(conversationId, { after: 1 })[Symbol.asyncIterator]()
      const first = events.next()
      yield* next
      yield* send(successText(1, { subscriptionId: "s" }), message(2))
      assert.deepStrictEqual(yield* Effect.promise(() => first), {
        done: false,
        value: {
          _tag: "Event",
          id: "t",
          msg: { type: "agent_message", message: "2" },
          seq: 2,
        },
      })
      const last = events.next()
      yield* Effect.promise(() => client.close())
      assert.strictEqual((yield* Effect.promise(() => last)).done, true)
    }),
  )

  it.effect("an iteration throws when the server ends the connection", () =>
    Effect.gen(function* () {
      const { client, next, server } = yield* connected()
      const events = client.events(conversationId)[Symbol.asyncIterator]()
      const first = events.next()
      yield* next
      yield* server.close
      const thrown = yield* Effect.promise(() =>
        first.then(
          () => undefined,
          (cause: unknown) => cause,
        ),
      )
      assert.instanceOf(thrown, ConnectionClosed)
      assert.strictEqual(thrown.message, "the connection to the server has ended")
    }),
  )

  const rejected = (promise: Promise<unknown>) =>
    Effect.promise(() =>
      promise.then(
        () => "it resolved",
        (error: unknown) => String(error instanceof Error ? error.message : error),
      ),
    )

  it.effect("refuses a misspelt member with the name that was meant, and sends nothing", () =>
    Effect.gen(function* () {
      const { client, next, send } = yield* connected()
      assert.strictEqual(
        // @ts-expect-error -- the member is `model`
        yield* rejected(client.newConversation({ modle: "m" })),
        "invalid params of `newConversation`: params.modle: unknown member; did you mean `model`?",
      )
      assert.match(
        // @ts-expect-error -- the member is `whileRunning`
        yield* rejected(client.sendUserMessage(conversationId, "hi", { whileRuning: "wait" })),
        /params\.whileRuning: unknown member; did you mean `whileRunning`\?$/,
      )
      assert.match(
        // @ts-expect-error -- the member is `conversationId`
        yield* rejected(client.request("getConversation", { conversationID: conversationId })),
        /params\.conversationID: unknown member; did you mean `conversationId`\?/,
      )
      assert.throws(
        // @ts-expect-error -- the option is `after`
        () => client.events(conversationId, { afer: 3 }),
        "events: unknown option `afer`; did you mean `after`?",
      )
      const asking = client.request("getConversation", { conversationId })
      assert.strictEqual((yield* next)._tag, "Request")
      yield* send(failureText(1, new JsonRpcError({ code: -32600, message: "none" })))
      assert.strictEqual(yield* rejected(asking), "none")
    }),
  )

  it.effect("refuses a misspelt option of `connect`", () =>
    Effect.gen(function* () {
      const fake = yield* FakeServer.make()
      const onAproval = () => "approved" as const
      assert.strictEqual(
        // @ts-expect-error -- the option is `onApproval`
        yield* rejected(PromiseClient.connect(fake.connection, { clientInfo, onAproval })),
        "connect: unknown option `onAproval`; did you mean `onApproval`?",
      )
    }),
  )

  it.effect("an unknown method is refused with its name", () =>
    Effect.gen(function* () {
      const { client } = yield* connected()
      const thrown = yield* Effect.promise(() =>
        client.request("getUserAgnt" as "getUserAgent", undefined).then(
          () => undefined,
          (cause: unknown) => cause,
        ),
      )
      assert.deepStrictEqual(
        thrown,
        new JsonRpcError({
          code: -32601,
          message: "unknown method `getUserAgnt`; did you mean `getUserAgent`?",
        }),
      )
    }),
  )

  it.effect(
    "answers questions with the result of the callback; an exception is an error response",
    () =>
      Effect.gen(function* () {
        const { next, send } = yield* connected({
          onApproval: ({ callId }) =>
            callId === "c" ? "approved" : Promise.reject(new Error("no answer")),
        })
        yield* send(requestText("q", "execCommandApproval", command))
        assert.deepStrictEqual(yield* next, {
          _tag: "Success",
          id: "q",
          result: { decision: "approved" },
        })
        yield* send(requestText("r", "execCommandApproval", { ...command, callId: "d" }))
        const refused = yield* next
        assert.strictEqual(
          refused._tag === "Failure" ? refused.error.message : undefined,
          "the client could not decide: no answer",
        )
      }),
  )

  it.effect(
    "answers forms with the result of the callback; an exception is an error response",
    () =>
      Effect.gen(function* () {
        const { next, send } = yield* connected({
          onForm: ({ message }) =>
            message === "a" ? { action: "decline" } : Promise.reject(new Error("no screen")),
        })
        const form = { conversationId, elicitationId: "e", serverName: "s", requestedSchema: {} }
        yield* send(requestText("q", "elicitationRequest", { ...form, message: "a" }))
        assert.deepStrictEqual(yield* next, {
          _tag: "Success",
          id: "q",
          result: { action: "decline" },
        })
        yield* send(requestText("r", "elicitationRequest", { ...form, message: "b" }))
        const refused = yield* next
        assert.strictEqual(
          refused._tag === "Failure" ? refused.error.message : undefined,
          "the client could not decide: no screen",
        )
      }),
  )
})
