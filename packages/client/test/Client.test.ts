import {
  failureText,
  JsonRpcError,
  type Message,
  notificationText,
  type RequestId,
  requestText,
  successText,
} from "@colloquy/protocol/JsonRpc"
import { CodexEvent, Ping, ToolsCall, ToolsList } from "@colloquy/protocol/mcp/CodexMcp"
import { dialect, notification, request } from "@colloquy/protocol/Method"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Cancel from "../src/Cancel.ts"
import * as Client from "../src/Client.ts"
import * as McpClient from "../src/McpClient.ts"
import * as FakeServer from "./FakeServer.ts"
import { settled } from "./FakeServer.ts"

const start = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.forkChild(effect, { startImmediately: true })

const result = (text: string) => ({ content: [{ type: "text" as const, text }] })
const call = (id: RequestId): Message => ({
  _tag: "Request",
  id,
  method: "tools/call",
  params: { name: "t", arguments: { a: 1 } },
})
const params = { name: "t", arguments: { a: 1 } }

const event = (id: string) =>
  notificationText("codex/event", { id, msg: { type: "background_event", message: "m" } })

describe("Client, requests", () => {
  it.effect("numbers requests from 0 and matches responses in any order", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      const client = yield* McpClient.make(connection)
      const first = yield* start(client.request(ToolsCall, params))
      const second = yield* start(client.request(ToolsCall, params))
      assert.deepStrictEqual([yield* next, yield* next], [call(0), call(1)])
      yield* send(successText(1, result("one")), successText(0, result("zero")))
      assert.deepStrictEqual(
        [yield* Fiber.join(first), yield* Fiber.join(second)],
        [result("zero"), result("one")],
      )
    }),
  )

  it.effect("uses a given id, distinguishes ids by type, and skips numbers in use", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      const client = yield* McpClient.make(connection)
      const text = yield* start(client.request(ToolsCall, params, { id: "0" }))
      const given = yield* start(client.request(ToolsCall, params, { id: 0 }))
      const counted = yield* start(client.request(ToolsCall, params))
      assert.deepStrictEqual([yield* next, yield* next, yield* next], [call("0"), call(0), call(1)])
      yield* send(successText("0", result("text")), successText(0, result("given")))
      yield* send(successText(1, result("counted")))
      assert.deepStrictEqual(
        yield* Effect.forEach([text, given, counted], (fiber) => Fiber.join(fiber)),
        [result("text"), result("given"), result("counted")],
      )
    }),
  )

  it.effect("refuses an id in flight without sending, and the first request continues", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      const client = yield* McpClient.make(connection)
      const first = yield* start(client.request(ToolsCall, params, { id: "a" }))
      yield* next
      assert.deepStrictEqual(
        yield* Effect.flip(client.request(ToolsCall, params, { id: "a" })),
        new JsonRpcError({ code: -32600, message: 'request id "a" is already in flight' }),
      )
      yield* send(successText("a", result("first")))
      assert.deepStrictEqual(yield* Fiber.join(first), result("first"))
    }),
  )

  it.effect("fails with the server's error unchanged", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      const client = yield* McpClient.make(connection)
      const error = new JsonRpcError({ code: -32001, message: "no", data: { path: ["a"] } })
      const fiber = yield* start(Effect.flip(client.request(ToolsCall, params)))
      yield* next
      yield* send(failureText(0, error))
      assert.deepStrictEqual(yield* Fiber.join(fiber), error)
    }),
  )

  it.effect(
    "L13 a result that does not fit its schema fails only that request, and the error names the fault",
    () =>
      Effect.gen(function* () {
        const { connection, next, send } = yield* FakeServer.make()
        const client = yield* McpClient.make(connection)
        const fiber = yield* start(Effect.flip(client.request(ToolsCall, params)))
        yield* next
        yield* send(successText(0, { content: "text" }))
        const error = yield* Fiber.join(fiber)
        assert.strictEqual(error._tag === "JsonRpcError" && error.code, -32603)
        assert.match(error.message, /invalid result of `tools\/call`.*"content"/s)
        const again = yield* start(client.request(ToolsList, {}))
        yield* next
        yield* send(successText(1, { tools: [] }))
        assert.deepStrictEqual(yield* Fiber.join(again), { tools: [] })
      }),
  )

  it.effect("params that do not fit their schema fail without being sent", () =>
    Effect.gen(function* () {
      const Count = request("count", {
        params: Schema.Struct({ n: Schema.Int.check(Schema.isGreaterThan(0)) }),
        since: "1",
        doc: "",
      })
      const Note = notification("note", {
        params: Schema.Struct({ n: Schema.Int }),
        since: "1",
        doc: "",
      })
      const counting = dialect({
        name: "counting",
        clientToServer: [Count, Note],
        serverToClient: [],
      })
      const { connection, next } = yield* FakeServer.make()
      const client = yield* Client.make(counting, connection)
      const error = yield* Effect.flip(client.request(Count, { n: 0 }))
      assert.strictEqual(error._tag === "JsonRpcError" && error.code, -32602)
      assert.match(error.message, /^invalid params of `count`: params\.n: /)
      assert.strictEqual((yield* Effect.flip(client.notify(Note, { n: 0.5 })))._tag, "JsonRpcError")
      yield* client.notify(Note, { n: 1 })
      assert.deepStrictEqual(yield* next, {
        _tag: "Notification",
        method: "note",
        params: { n: 1 },
      })
    }),
  )

  it.effect("interruption cancels the request at the server and forgets its id", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      const client = yield* McpClient.make(connection)
      const fiber = yield* start(client.request(ToolsCall, params, { id: "x" }))
      yield* next
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* next, {
        _tag: "Notification",
        method: "notifications/cancelled",
        params: { requestId: "x" },
      })
      const again = yield* start(client.request(ToolsCall, params, { id: "x" }))
      assert.deepStrictEqual(yield* next, call("x"))
      yield* send(successText("x", result("again")))
      assert.deepStrictEqual(yield* Fiber.join(again), result("again"))
    }),
  )

  it.effect("a response after the cancellation is ignored", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      const client = yield* McpClient.make(connection)
      const fiber = yield* start(client.request(ToolsCall, params))
      yield* next
      yield* Fiber.interrupt(fiber)
      yield* next
      yield* send(successText(0, result("late")))
      const other = yield* start(client.request(ToolsCall, params))
      yield* next
      yield* send(successText(1, result("other")))
      assert.deepStrictEqual(yield* Fiber.join(other), result("other"))
    }),
  )

  it.effect("interruption sends nothing where the method or the dialect has no cancellation", () =>
    Effect.gen(function* () {
      const Wait = request("wait", { since: "1", doc: "" })
      const waiting = dialect({ name: "waiting", clientToServer: [Wait], serverToClient: [] })
      const plain = yield* FakeServer.make()
      const client = yield* Client.make(waiting, plain.connection)
      const first = yield* start(client.request(Wait, undefined))
      yield* plain.next
      yield* Fiber.interrupt(first)

      const mcp = yield* FakeServer.make()
      const other = yield* McpClient.make(mcp.connection)
      const second = yield* start(other.request(Ping, undefined, { cancellable: false }))
      yield* mcp.next
      yield* Fiber.interrupt(second)

      yield* start(client.request(Wait, undefined))
      yield* start(other.request(Ping, undefined))
      const ids = [yield* plain.next, yield* mcp.next].map((m) => m._tag === "Request" && m.id)
      assert.deepStrictEqual(ids, [1, 1])
    }),
  )

  it.effect("interruption does not wait for a server that does not read", () =>
    Effect.gen(function* () {
      const { connection, next } = yield* FakeServer.make(1)
      const client = yield* McpClient.make(connection)
      const sent = yield* start(client.request(ToolsCall, params))
      yield* Fiber.interrupt(sent)
      assert.deepStrictEqual(yield* next, call(0))
      assert.strictEqual((yield* next)._tag, "Notification")
    }),
  )
})

describe("Client, the end of the connection", () => {
  it.effect("fails every request in flight and every later one, and resolves `closed`", () =>
    Effect.gen(function* () {
      const { connection, next, server } = yield* FakeServer.make()
      const client = yield* McpClient.make(connection)
      const first = yield* start(Effect.flip(client.request(ToolsCall, params)))
      const second = yield* start(Effect.flip(client.request(ToolsList, {})))
      yield* next
      yield* next
      yield* server.close
      yield* client.closed
      const tags = [
        yield* Fiber.join(first),
        yield* Fiber.join(second),
        yield* Effect.flip(client.request(ToolsList, {})),
      ].map((error) => error._tag)
      assert.deepStrictEqual(tags, ["ConnectionClosed", "ConnectionClosed", "ConnectionClosed"])
    }),
  )

  it.effect("fails the requests in flight when the client's scope ends", () =>
    Effect.gen(function* () {
      const { connection, next } = yield* FakeServer.make()
      const fiber = yield* Effect.scoped(
        Effect.gen(function* () {
          const client = yield* McpClient.make(connection)
          const fiber = yield* Effect.forkDetach(Effect.flip(client.request(ToolsCall, params)), {
            startImmediately: true,
          })
          yield* next
          return fiber
        }),
      )
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "ConnectionClosed")
    }),
  )

  it.effect("interrupts the handlers of the server's requests", () =>
    Effect.gen(function* () {
      const { connection, send, server } = yield* FakeServer.make()
      const stopped = yield* Deferred.make<void>()
      const client = yield* McpClient.make(connection, {
        handlers: {
          ping: () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined)),
        },
      })
      yield* send(requestText(1, "ping", undefined))
      yield* settled
      yield* server.close
      yield* client.closed
      yield* Deferred.await(stopped)
    }),
  )
})

describe("Client, requests of the server", () => {
  it.effect(
    "L1 every request gets one response: handled, unknown, with bad params, with a defect",
    () =>
      Effect.gen(function* () {
        const Ask = request("ask", {
          params: Schema.Struct({ n: Schema.Int }),
          result: Schema.Struct({ twice: Schema.Int }),
          since: "1",
          doc: "",
        })
        const Unhandled = request("unhandled", { since: "1", doc: "" })
        const asking = dialect({
          name: "asking",
          clientToServer: [],
          serverToClient: [Ask, Unhandled],
        })
        const { connection, next, send } = yield* FakeServer.make()
        yield* Client.make(asking, connection, {
          handlers: {
            ask: ({ n }) => {
              if (n === 1) return Effect.die("defect")
              if (n === 2) return Effect.fail(new JsonRpcError({ code: -1, message: "no" }))
              if (n === 3) return Effect.interrupt
              return Effect.succeed({ twice: n * 2 })
            },
          },
        })
        yield* send(
          requestText("ok", "ask", { n: 21 }),
          requestText(1, "ask", { n: 1 }),
          requestText(2, "ask", { n: 2 }),
          requestText(3, "ask", { n: 3 }),
          requestText(4, "ask", { n: "x" }),
          requestText(5, "unhandled", undefined),
          requestText(6, "unknown/method", undefined),
        )
        const answers = yield* Effect.forEach(Array.from({ length: 7 }), () => next)
        const summary = answers.map((answer) =>
          answer._tag === "Failure"
            ? [answer.id, answer.error.code]
            : answer._tag === "Success"
              ? [answer.id, answer.result]
              : answer,
        )
        assert.deepStrictEqual(
          new Map(summary.map((entry) => entry as [RequestId, unknown])),
          new Map<RequestId, unknown>([
            ["ok", { twice: 42 }],
            [1, -32603],
            [2, -1],
            [3, -32603],
            [4, -32602],
            [5, -32601],
            [6, -32601],
          ]),
        )
      }),
  )

  it.effect("a waiting handler delays neither notifications nor responses nor other requests", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      const release = yield* Deferred.make<void>()
      const client = yield* McpClient.make(connection, {
        handlers: {
          ping: (_, { id }) =>
            id === "slow" ? Effect.as(Deferred.await(release), {}) : Effect.succeed({}),
        },
      })
      const mine = yield* start(client.request(ToolsList, {}))
      yield* next
      yield* send(
        requestText("slow", "ping", undefined),
        requestText("quick", "ping", undefined),
        successText(0, { tools: [] }),
      )
      yield* Fiber.join(mine)
      assert.deepStrictEqual(yield* next, { _tag: "Success", id: "quick", result: {} })
      yield* Deferred.succeed(release, undefined)
      assert.deepStrictEqual(yield* next, { _tag: "Success", id: "slow", result: {} })
    }),
  )

  it.effect("L1 a request that the server cancels is interrupted and gets no response", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      const stopped = yield* Deferred.make<void>()
      yield* McpClient.make(connection, {
        handlers: {
          ping: (_, { id }) =>
            id === "slow"
              ? Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
              : Effect.succeed({}),
        },
      })
      yield* send(requestText("slow", "ping", undefined))
      yield* settled
      yield* send(
        notificationText("notifications/cancelled", { requestId: "never seen" }),
        notificationText("notifications/cancelled", { requestId: null }),
        notificationText("notifications/cancelled", { requestId: "slow" }),
      )
      yield* Deferred.await(stopped)
      yield* send(requestText("after", "ping", undefined))
      assert.deepStrictEqual(yield* next, { _tag: "Success", id: "after", result: {} })
    }),
  )

  it.effect(
    "L1 a cancelled handler that cannot be interrupted sends no response and frees its id",
    () =>
      Effect.gen(function* () {
        const { connection, next, send } = yield* FakeServer.make()
        const release = yield* Deferred.make<void>()
        let runs = 0
        yield* McpClient.make(connection, {
          handlers: {
            ping: () => {
              const run = ++runs
              return run > 1
                ? Effect.succeed({ run })
                : Effect.uninterruptible(Effect.as(Deferred.await(release), { run }))
            },
          },
        })
        yield* send(requestText("a", "ping", undefined))
        yield* settled
        yield* send(notificationText("notifications/cancelled", { requestId: "a" }))
        yield* settled
        yield* Deferred.succeed(release, undefined)
        yield* settled
        yield* send(requestText("a", "ping", undefined), requestText("b", "ping", undefined))
        assert.deepStrictEqual(
          [yield* next, yield* next].map((message) => message._tag === "Success" && message.id),
          ["a", "b"],
        )
        assert.strictEqual(runs, 3)
      }),
  )

  it.effect("refuses a second request with the same id, and more requests than the limit", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      yield* McpClient.make(connection, {
        handlers: { ping: () => Effect.never },
        maxServerRequests: 1,
      })
      yield* send(requestText(1, "ping", undefined), requestText(1, "ping", undefined))
      yield* send(requestText(2, "ping", undefined))
      const codes = [yield* next, yield* next].map(
        (m) => m._tag === "Failure" && [m.id, m.error.code, m.error.data],
      )
      assert.deepStrictEqual(codes, [
        [null, -32600, { id: 1 }],
        [2, -32000, undefined],
      ])
    }),
  )

  it.effect("answers an invalid request whose id is readable, and no other invalid message", () =>
    Effect.gen(function* () {
      const { connection, next, send } = yield* FakeServer.make()
      yield* McpClient.make(connection)
      yield* send("not json", "[]", `{"id":null,"result":1}`, `{"id":7,"method":8}`)
      yield* send(requestText(8, "ping", undefined))
      const first = yield* next
      assert.deepStrictEqual(first._tag === "Failure" && [first.id, first.error.code], [7, -32600])
      assert.deepStrictEqual(yield* next, { _tag: "Success", id: 8, result: {} })
    }),
  )
})

describe("Client, notifications of the server", () => {
  it.effect(
    "runs notification handlers in order of arrival, all before a later response returns",
    () =>
      Effect.gen(function* () {
        const { connection, next, send } = yield* FakeServer.make()
        const seen: Array<string> = []
        const client = yield* McpClient.make(connection, {
          handlers: {
            "codex/event": ({ id }) =>
              Effect.andThen(
                // Earlier ones take longer: they would finish out of order if they ran
                // concurrently.
                Effect.forEach(Array.from({ length: 5 - Number(id) }), () => Effect.yieldNow),
                Effect.sync(() => void seen.push(id)),
              ),
          },
        })
        const fiber = yield* start(
          Effect.map(client.request(ToolsList, {}), () => void seen.push("answer")),
        )
        yield* next
        yield* send(event("1"), event("2"), event("3"), event("4"))
        yield* send(successText(0, { tools: [] }))
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(seen, ["1", "2", "3", "4", "answer"])
      }),
  )

  it.effect("L6 a slow notification handler makes the server wait", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* FakeServer.make(2)
      const release = yield* Deferred.make<void>()
      yield* McpClient.make(connection, {
        handlers: { "codex/event": () => Deferred.await(release) },
      })
      const sender = yield* start(
        Effect.forEach(Array.from({ length: 9 }), (_, i) => server.send([event(String(i))])),
      )
      yield* settled
      assert.isUndefined(sender.pollUnsafe())
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(sender)
    }),
  )

  it.effect("L13 a response that is too long to read fails only its request", () =>
    Effect.gen(function* () {
      const { connection, next, send, server } = yield* FakeServer.make()
      const client = yield* McpClient.make(connection)
      const first = yield* start(Effect.flip(client.request(ToolsList, {})))
      const second = yield* start(client.request(ToolsList, {}))
      yield* next
      yield* server.inject({
        _tag: "TooLong",
        bytes: 9,
        maxBytes: 8,
        envelope: { kind: "response", idToken: "0" },
      })
      const { message } = yield* Fiber.join(first)
      assert.strictEqual(message, "the response cannot be read: a line of 9 bytes, the limit is 8")
      yield* send(successText(1, { tools: [] }))
      yield* Fiber.join(second)
    }),
  )

  it.effect("L13 unreadable, unknown and malformed messages do not end the client", () =>
    Effect.gen(function* () {
      const { connection, next, send, server } = yield* FakeServer.make()
      const seen: Array<unknown> = []
      const client = yield* McpClient.make(connection, {
        handlers: {
          [CodexEvent._tag]: (params) => {
            seen.push(params)
            return params.id === "defect" ? Effect.die("defect") : Effect.void
          },
        },
      })
      yield* server.inject({ _tag: "TooLong", bytes: 9, maxBytes: 8 })
      yield* server.inject({ _tag: "NotUtf8", bytes: 2 })
      yield* send(
        successText("unknown", {}),
        failureText(null, new JsonRpcError({ code: -32700, message: "what?" })),
        notificationText("unknown/method", {}),
        notificationText("codex/event", { id: 5 }),
        notificationText("codex/event", undefined),
        event("defect"),
        notificationText("codex/event", { id: "future", msg: { type: "from the future", x: 1 } }),
      )
      const fiber = yield* start(client.request(ToolsList, {}))
      yield* next
      yield* send(successText(0, { tools: [] }))
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, [
        { id: "defect", msg: { type: "background_event", message: "m" } },
        {
          id: "future",
          msg: { type: "unknown_event", sent: { type: "from the future", x: 1 } },
        },
      ])
    }),
  )
})

describe("Cancel", () => {
  it("derives both directions from the notification's definition", () => {
    const Stop = notification("stop", {
      params: Schema.Struct({ job: Schema.Int }),
      since: "1",
      doc: "",
    })
    const cancel = Cancel.make(Stop, {
      params: (id) => ({ job: Number(id) }),
      id: ({ job }) => job,
    })
    assert.deepStrictEqual(
      [cancel.method, cancel.text(3), cancel.idOf({ job: 4 }), cancel.idOf({ job: "x" })],
      ["stop", notificationText("stop", { job: 3 }), 4, undefined],
    )
  })
})
