import {
  failureText,
  type Message,
  notificationText,
  requestText,
  successText,
  JsonRpcError,
} from "@colloquy/protocol/JsonRpc"
import { ConnectionClosed } from "@colloquy/protocol/Connection"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as AppClient from "../src/AppClient.ts"
import * as FakeServer from "./FakeServer.ts"

const clientInfo = { name: "test", version: "1" }
const conversationId = "0199b6c0-0000-7000-8000-000000000001"
const one = "00000000-0000-4000-8000-000000000001"
const two = "00000000-0000-4000-8000-000000000002"
const userAgent = "fake/1"

const start = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.forkChild(effect, { startImmediately: true })

const connected = (options: Partial<AppClient.ConnectOptions> = {}) =>
  Effect.gen(function* () {
    const fake = yield* FakeServer.make(4096)
    const connecting = yield* start(AppClient.connect(fake.connection, { clientInfo, ...options }))
    const hello = yield* fake.next
    yield* fake.send(successText(0, { userAgent }))
    const app = yield* Fiber.join(connecting)
    return { ...fake, app, hello, initialized: yield* fake.next }
  })

const request = (id: number, method: string, params: unknown): Message => ({
  _tag: "Request",
  id,
  method,
  params,
})

const listen = (id: number, after: number) =>
  request(id, "addConversationListener", { conversationId, after, experimentalRawEvents: false })

const message = (subscriptionId: string, seq: number, text = `${seq}`) =>
  notificationText("codex/event/agent_message", {
    id: "t",
    msg: { type: "agent_message", message: text },
    conversationId,
    subscriptionId,
    seq,
  })

const event = (seq: number, text = `${seq}`): AppClient.ConversationMessage => ({
  _tag: "Event",
  id: "t",
  msg: { type: "agent_message", message: text },
  seq,
})

const synced = (subscriptionId: string, seq: number) =>
  notificationText("conversationSynced", { conversationId, subscriptionId, seq })

const take = <E>(stream: Stream.Stream<AppClient.ConversationMessage, E>, count: number) =>
  start(Stream.runCollect(Stream.take(stream, count)))

const command = {
  conversationId,
  callId: "c",
  command: ["ls"],
  cwd: "/work",
  parsedCmd: [],
}

describe("AppClient", () => {
  it.effect("introduces itself; without a handler for questions it asks not to be asked", () =>
    Effect.gen(function* () {
      const { app, hello, initialized } = yield* connected()
      assert.deepStrictEqual(
        hello,
        request(0, "initialize", { clientInfo, capabilities: { approvals: "none" } }),
      )
      assert.deepStrictEqual(initialized, {
        _tag: "Notification",
        method: "initialized",
        params: undefined,
      })
      assert.deepStrictEqual(app.server, { userAgent })
    }),
  )

  it.effect("answers questions of both wire versions, and an error is sent as the response", () =>
    Effect.gen(function* () {
      const seen: Array<AppClient.Approval> = []
      const { hello, next, send } = yield* connected({
        onApproval: (approval) => {
          seen.push(approval)
          return approval._tag === "Command"
            ? Effect.succeed("approved")
            : Effect.fail(new JsonRpcError({ code: -32000, message: "no answer" }))
        },
      })
      assert.deepStrictEqual(
        hello,
        request(0, "initialize", { clientInfo, capabilities: { approvals: "camelCase" } }),
      )
      yield* send(requestText("q", "execCommandApproval", command))
      assert.deepStrictEqual(yield* next, {
        _tag: "Success",
        id: "q",
        result: { decision: "approved" },
      })
      yield* send(
        requestText("r", "applyPatchApproval", {
          conversation_id: conversationId,
          call_id: "d",
          file_changes: { "/work/a": { delete: { content: "" } } },
          grant_root: "/work",
        }),
      )
      const refused = yield* next
      assert.strictEqual(refused._tag === "Failure" ? refused.error.code : undefined, -32000)
      assert.deepStrictEqual(seen, [
        { _tag: "Command", conversationId, callId: "c", command: ["ls"], cwd: "/work", parsed: [] },
        {
          _tag: "Patch",
          conversationId,
          callId: "d",
          changes: { "/work/a": { delete: { content: "" } } },
          grantRoot: "/work",
        },
      ])
    }),
  )

  it.effect("shows the forms of tool servers if it has a handler, and declares it", () =>
    Effect.gen(function* () {
      const seen: Array<AppClient.Form> = []
      const { hello, next, send } = yield* connected({
        onForm: (form) => {
          seen.push(form)
          return Effect.succeed({ action: "accept", content: { age: 7 } })
        },
      })
      assert.deepStrictEqual(
        hello,
        request(0, "initialize", {
          clientInfo,
          capabilities: { approvals: "none", elicitation: true },
        }),
      )
      const form: AppClient.Form = {
        conversationId,
        elicitationId: "elicitation-4",
        serverName: "files",
        message: "How old?",
        requestedSchema: { type: "object" },
      }
      yield* send(requestText("q", "elicitationRequest", form))
      assert.deepStrictEqual(yield* next, {
        _tag: "Success",
        id: "q",
        result: { action: "accept", content: { age: 7 } },
      })
      assert.deepStrictEqual(seen, [form])
    }),
  )

  it.effect("L4 events in the same chunk as the response are delivered, each once", () =>
    Effect.gen(function* () {
      const { app, next, send } = yield* connected()
      const reading = yield* take(app.events(conversationId, { after: 4 }), 3)
      assert.deepStrictEqual(yield* next, listen(1, 4))
      yield* send(
        successText(1, { subscriptionId: one }),
        message(one, 5),
        message("other", 6),
        message(one, 5),
        synced(one, 6),
        message(one, 6),
      )
      assert.deepStrictEqual(yield* Fiber.join(reading), [
        event(5),
        { _tag: "Synced", seq: 6 },
        event(6),
      ])
      assert.deepStrictEqual(
        yield* next,
        request(2, "removeConversationListener", { subscriptionId: one }),
      )
    }),
  )

  it.effect("reports that the server lost deltas", () =>
    Effect.gen(function* () {
      const { app, next, send } = yield* connected()
      const reading = yield* take(app.events(conversationId), 2)
      yield* next
      yield* send(
        successText(1, { subscriptionId: one }),
        message(one, 0),
        notificationText("conversationLagged", { conversationId, subscriptionId: one, from: 1 }),
      )
      assert.deepStrictEqual(yield* Fiber.join(reading), [event(0), { _tag: "Resumed", from: 1 }])
    }),
  )

  it.effect(
    "L6 a stream that is not read is unsubscribed and continues behind its last event",
    () =>
      Effect.gen(function* () {
        const { app, next, send } = yield* connected()
        const pull = yield* Stream.toPull(app.events(conversationId))
        const first = yield* start(pull)
        yield* next
        yield* send(successText(1, { subscriptionId: one }), message(one, 0))
        assert.deepStrictEqual(yield* Fiber.join(first), [event(0)])
        const many = Array.from({ length: 1100 }, (_, n) => n + 1)
        yield* send(...many.map((seq) => message(one, seq)))
        assert.deepStrictEqual(
          yield* next,
          request(2, "removeConversationListener", { subscriptionId: one }),
        )
        assert.strictEqual((yield* pull).length, 1024)
        const later = yield* start(pull)
        assert.deepStrictEqual(yield* next, listen(3, 1024))
        yield* send(successText(3, { subscriptionId: two }), message(two, 1025))
        const resumed: AppClient.ConversationMessage = { _tag: "Resumed", from: 1025 }
        assert.deepStrictEqual(
          [...(yield* Fiber.join(later)), ...(yield* pull)],
          [resumed, event(1025)],
        )
      }),
  )

  it.effect("events end after the last one of the conversation, also in one chunk", () =>
    Effect.gen(function* () {
      const { app, next, send } = yield* connected()
      const closed = (subscriptionId: string) =>
        notificationText("conversationClosed", { conversationId, subscriptionId })
      const first = yield* take(app.events(conversationId), 9)
      yield* next
      yield* send(
        successText(1, { subscriptionId: one }),
        closed("other"),
        message(one, 0),
        closed(one),
      )
      assert.deepStrictEqual(yield* Fiber.join(first), [event(0)])
      assert.deepStrictEqual(
        yield* next,
        request(2, "removeConversationListener", { subscriptionId: one }),
      )
      const waiting = yield* take(app.events(conversationId), 9)
      yield* next
      yield* send(successText(3, { subscriptionId: two }))
      yield* FakeServer.settled
      yield* send(closed(two))
      assert.deepStrictEqual(yield* Fiber.join(waiting), [])
    }),
  )

  it.effect("L5 events fail with the reason why the conversation cannot be recorded", () =>
    Effect.gen(function* () {
      const { app, next, send } = yield* connected()
      const pull = yield* Stream.toPull(app.events(conversationId))
      const first = yield* start(pull)
      yield* next
      yield* send(successText(1, { subscriptionId: one }), message(one, 0))
      assert.deepStrictEqual([...(yield* Fiber.join(first))], [event(0)])
      const reason = "there is no space left"
      yield* send(
        notificationText("conversationClosed", { conversationId, subscriptionId: one, reason }),
      )
      const failure = yield* Effect.flip(pull)
      assert.instanceOf(failure, AppClient.ConversationFailed)
      if (failure instanceof AppClient.ConversationFailed) {
        assert.deepStrictEqual([failure.message, failure.next], [reason, 1])
      }
    }),
  )

  it.effect("L4 a missing number is requested again once, and skipped numbers are accepted", () =>
    Effect.gen(function* () {
      const { app, next, send } = yield* connected()
      const pull = yield* Stream.toPull(app.events(conversationId))
      const first = yield* start(pull)
      yield* next
      const skipped = (subscriptionId: string, seq: number) =>
        notificationText("conversationSkipped", { conversationId, subscriptionId, seq })
      yield* send(
        successText(1, { subscriptionId: one }),
        message(one, 0),
        skipped(one, 1),
        message(one, 2),
      )
      assert.deepStrictEqual(
        [...(yield* Fiber.join(first)), ...(yield* pull)],
        [event(0), event(2)],
      )
      const later = yield* start(pull)
      yield* send(message(one, 4))
      assert.deepStrictEqual(
        [yield* next, yield* next],
        [listen(2, 2), request(3, "removeConversationListener", { subscriptionId: one })],
      )
      // A server that numbers events it does not send omits the number again: it is accepted then.
      yield* send(successText(2, { subscriptionId: two }), message(two, 4))
      const resumed: AppClient.ConversationMessage = { _tag: "Resumed", from: 3 }
      assert.deepStrictEqual([...(yield* Fiber.join(later)), ...(yield* pull)], [resumed, event(4)])
    }),
  )

  it.effect("L6 a slow stream still reads everything when its conversation ends", () =>
    Effect.gen(function* () {
      const { app, next, send } = yield* connected()
      const pull = yield* Stream.toPull(app.events(conversationId))
      const first = yield* start(pull)
      yield* next
      yield* send(successText(1, { subscriptionId: one }), message(one, 0))
      yield* Fiber.join(first)
      yield* send(
        ...Array.from({ length: 1024 }, (_, n) => message(one, n + 1)),
        notificationText("conversationClosed", { conversationId, subscriptionId: one }),
      )
      yield* FakeServer.settled
      assert.strictEqual((yield* pull).length, 1024)
      assert.isTrue(Cause.isDone(yield* Effect.flip(pull)))
    }),
  )

  it.effect(
    "a stream stopped before the response removes the subscription that the response names",
    () =>
      Effect.gen(function* () {
        const { app, next, send } = yield* connected()
        const reading = yield* take(app.events(conversationId), 1)
        yield* next
        yield* Fiber.interrupt(reading)
        yield* send(successText(1, { subscriptionId: one }))
        assert.deepStrictEqual(
          yield* next,
          request(2, "removeConversationListener", { subscriptionId: one }),
        )
      }),
  )

  it.effect("events fail with the server's error, and at the end of the connection", () =>
    Effect.gen(function* () {
      const { app, next, send, server } = yield* connected()
      const unknown = yield* take(app.events(conversationId), 1)
      yield* next
      const error = new JsonRpcError({ code: -32600, message: "conversation not found" })
      yield* send(failureText(1, error))
      assert.deepStrictEqual(yield* Effect.flip(Fiber.join(unknown)), error)
      const cut = yield* take(app.events(conversationId), 2)
      yield* next
      yield* send(successText(2, { subscriptionId: one }), message(one, 0))
      yield* server.close
      assert.instanceOf(yield* Effect.flip(Fiber.join(cut)), ConnectionClosed)
    }),
  )

  it.effect(
    "the handler of a question that was resolved elsewhere is interrupted, and no response is sent",
    () =>
      Effect.gen(function* () {
        let stopped = false
        const { app, next, send } = yield* connected({
          onApproval: () =>
            Effect.never.pipe(
              Effect.onInterrupt(() =>
                Effect.sync(() => {
                  stopped = true
                }),
              ),
            ),
        })
        yield* send(requestText("q", "execCommandApproval", command))
        yield* FakeServer.settled
        yield* send(notificationText("$/cancelRequest", { id: "q" }))
        yield* FakeServer.settled
        assert.isTrue(stopped)
        yield* take(app.events(conversationId), 1)
        assert.deepStrictEqual(yield* next, listen(1, -1))
      }),
  )
})
