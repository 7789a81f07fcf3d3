/** A defect in each stage of handling a message affects that message, and nothing else. */
import { type Frame } from "@colloquy/protocol/Connection"
import { JsonRpcError, type Request } from "@colloquy/protocol/JsonRpc"
import { codecOf, dialect, notification, request } from "@colloquy/protocol/Method"
import { memoryPair } from "@colloquy/testing/MemoryConnection"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type { RequestCaller } from "../../src/jsonrpc/Caller.ts"
import { make } from "../../src/jsonrpc/Peer.ts"
import type { Route } from "../../src/jsonrpc/Route.ts"
import { read, type WireMessage } from "../support/Wire.ts"

const bug = () => new TypeError("a defect of the server")

const fails = (): never => {
  throw bug()
}

/** A schema with code that throws instead of reporting a fault. */
const Broken = Schema.String.pipe(
  Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform(fails),
    encode: SchemaGetter.transform(fails),
  }),
)

const info = { since: "test", doc: "For tests." }
const Echo = request("echo", { ...info, params: Schema.Unknown, result: Schema.Unknown })
const Params = request("params", { ...info, params: Schema.Struct({ text: Broken }) })
const Result = request("result", { ...info, result: Schema.Struct({ text: Broken }) })
const Circle = request("circle", { ...info, result: Schema.Unknown })
const Die = request("die", info)
const ErrorData = request("errorData", info)
const After = request("after", info)
const AtEnd = request("atEnd", info)
const Begins = request("begins", info)
const Routed = request("routed", info)
const BadParams = request("badParams", { ...info, params: Schema.Struct({ n: Schema.Int }) })
const Asks = request("asks", { ...info, result: Schema.Unknown })
const Notifies = request("notifies", info)
const Note = notification("note", info)
const NoteParams = notification("noteParams", { ...info, params: Schema.Struct({ text: Broken }) })
const Ask = request("ask", { ...info, result: Schema.Struct({ text: Broken }) })
const Report = notification("report", { ...info, params: Schema.Struct({ value: Schema.Unknown }) })
const BrokenReport = notification("brokenReport", {
  ...info,
  params: Schema.Struct({ text: Broken }),
})

const Dialect = dialect({
  name: "test",
  clientToServer: [
    Echo,
    Params,
    Result,
    Circle,
    Die,
    ErrorData,
    After,
    AtEnd,
    Begins,
    BadParams,
    Routed,
    Asks,
    Notifies,
    Note,
    NoteParams,
  ],
  serverToClient: [Ask, Report, BrokenReport],
})

const circle: { self?: unknown } = {}
circle.self = circle

/** Routes a request as a dialect with several revisions does. */
const route = ({ method }: Request): Route | undefined => {
  if (method === "routed") return fails()
  const handler = () => Effect.void
  if (method === "begins") return { codec: codecOf(Begins), handler, begins: fails }
  if (method === "badParams") return { codec: codecOf(BadParams), handler, badParams: fails }
  return undefined
}

const serve = Effect.gen(function* () {
  const logged: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    logged.push(`${logLevel} ${[message].flat().map(String).join(" ")}`)
  })
  const [client, connection] = yield* memoryPair(64)
  const messages: Array<WireMessage> = []
  const texts: Array<string> = []
  const peer = yield* make({
    connection,
    local: Dialect.clientToServer,
    batches: () => true,
    withdraw: () => Effect.void,
    route,
    handlers: {
      echo: (value) => Effect.succeed(value),
      params: () => Effect.void,
      result: () => Effect.succeed({ text: "x" }),
      circle: () => Effect.succeed(circle),
      die: fails,
      errorData: () =>
        Effect.fail(new JsonRpcError({ code: 1, message: "m", data: { big: 1n, circle } })),
      after: (_: void, { afterAnswer }: RequestCaller) =>
        Effect.sync(() => afterAnswer(Effect.sync(fails))),
      atEnd: (_: void, { afterAnswer }: RequestCaller) =>
        Effect.sync(() => afterAnswer(Effect.void, fails)),
      asks: (_: void, { peer: control }: RequestCaller) =>
        Effect.match(control.request(Ask, undefined), {
          onFailure: ({ message }) => ({ failed: message }),
          onSuccess: (value) => ({ value }),
        }),
      notifies: (_: void, { peer: control }: RequestCaller) =>
        Effect.gen(function* () {
          yield* control.notify(Report, [{ value: 1 }, { value: circle }, { value: 2 }])
          yield* control.notify(BrokenReport, [{ text: "x" }])
          yield* control.notify(Report, [{ value: 3 }])
        }).pipe(Effect.orDie),
      note: fails,
      noteParams: () => Effect.void,
    },
  }).pipe(Effect.provide(Logger.layer([logger])))
  const serving = yield* peer.run.pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.forkChild({ startImmediately: true }),
  )
  yield* client.receive.pipe(
    Effect.map((frames) => {
      for (const frame of frames) {
        if (frame._tag !== "Text") continue
        texts.push(frame.text)
        if (!frame.text.startsWith("[")) messages.push(read(frame.text))
      }
    }),
    Effect.forever,
    Effect.exit,
    Effect.forkScoped({ startImmediately: true }),
  )
  const quiet = Effect.forEach(Array.from({ length: 200 }), () => Effect.yieldNow, {
    discard: true,
  })
  const alive = Effect.gen(function* () {
    yield* client.send([JSON.stringify({ id: "alive", method: "echo", params: [1] })])
    yield* quiet
    assert.deepStrictEqual<unknown>(messages.at(-1), { jsonrpc: "2.0", id: "alive", result: [1] })
    assert.isUndefined(serving.pollUnsafe())
  })
  return { client, messages, texts, logged, quiet, alive }
})

const internal = (id: unknown) => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32603, message: "Internal error" },
})

describe("Peer: a defect while one message is handled", () => {
  it.effect.each([
    "params",
    "result",
    "circle",
    "die",
    "errorData",
    "routed",
    "begins",
    "badParams",
  ])(
    "L13 L1 in the stage of `%s` costs an internal error for that request, also in a batch",
    (method) =>
      Effect.gen(function* () {
        const { alive, client, logged, messages, quiet, texts } = yield* serve
        const one = { id: 1, method, params: { text: "x" } }
        yield* client.send([
          JSON.stringify(one),
          JSON.stringify([one, { id: 2, method: "echo", params: [2] }]),
        ])
        yield* quiet
        assert.deepStrictEqual<unknown>(messages, [internal(1)])
        assert.deepStrictEqual<unknown>(JSON.parse(texts[1] ?? ""), [
          internal(1),
          { jsonrpc: "2.0", id: 2, result: [2] },
        ])
        assert.strictEqual(logged.filter((line) => line.startsWith("Error")).length, 2)
        yield* alive
      }),
  )

  it.effect.each(["after", "atEnd"])(
    "L13 L1 in the stage of `%s`, when the response was sent, costs a line in the log",
    (method) =>
      Effect.gen(function* () {
        const { alive, client, logged, quiet, texts } = yield* serve
        yield* client.send([
          JSON.stringify({ id: 1, method }),
          JSON.stringify([
            { id: 2, method },
            { id: 3, method: "echo", params: [3] },
          ]),
        ])
        yield* quiet
        assert.deepStrictEqual<unknown>(
          texts.map((text): unknown => JSON.parse(text)),
          [
            { jsonrpc: "2.0", id: 1, result: {} },
            [
              { jsonrpc: "2.0", id: 2, result: {} },
              { jsonrpc: "2.0", id: 3, result: [3] },
            ],
          ],
        )
        assert.strictEqual(logged.filter((line) => line.startsWith("Error")).length, 2)
        yield* alive
      }),
  )

  it.effect.each(["note", "noteParams"])(
    "L13 in the stage of the notification `%s` costs a line in the log",
    (method) =>
      Effect.gen(function* () {
        const { alive, client, logged, messages, quiet } = yield* serve
        yield* client.send([JSON.stringify({ method, params: { text: "x" } })])
        yield* quiet
        assert.deepStrictEqual(messages, [])
        assert.match(logged.join("\n"), new RegExp(`^Error notification ${method} failed `))
        yield* alive
      }),
  )

  it.effect("L13 in reading a frame costs an internal error without an id", () =>
    Effect.gen(function* () {
      const { alive, client, logged, messages, quiet } = yield* serve
      const frame: Frame = {
        _tag: "Text",
        get text() {
          return fails()
        },
      }
      yield* client.inject(frame)
      yield* quiet
      assert.deepStrictEqual<unknown>(messages, [internal(null)])
      assert.match(logged.join("\n"), /^Error a message could not be read /)
      yield* alive
    }),
  )

  it.effect(
    "L13 in reading the response to a request of the server fails that request at once",
    () =>
      Effect.gen(function* () {
        const { alive, client, logged, messages, quiet } = yield* serve
        yield* client.send([JSON.stringify({ id: 1, method: "asks" })])
        yield* quiet
        yield* client.send([JSON.stringify({ id: messages[0]?.id, result: { text: "x" } })])
        yield* quiet
        assert.deepStrictEqual<unknown>(messages[1], {
          jsonrpc: "2.0",
          id: 1,
          result: { failed: "unusable response: it could not be read" },
        })
        assert.match(logged.join("\n"), /^Error a response could not be read /)
        yield* alive
      }),
  )

  it.effect.each(["1e308", "9007199254740993"])(
    "L13 a response with the error code %s fails that request at once, and is logged",
    (code) =>
      Effect.gen(function* () {
        const { alive, client, logged, messages, quiet } = yield* serve
        yield* client.send([JSON.stringify({ id: 1, method: "asks" })])
        yield* quiet
        const id = JSON.stringify(messages[0]?.id)
        yield* client.send([`[{"id":${id},"error":{"code":${code},"message":"no"}}]`])
        yield* quiet
        assert.deepStrictEqual<unknown>(messages[1], {
          jsonrpc: "2.0",
          id: 1,
          result: { failed: "no" },
        })
        assert.match(logged.join("\n"), /^Warn unusable response: malformed error: its code/)
        yield* alive
      }),
  )

  it.effect("L13 in writing one notification costs that notification", () =>
    Effect.gen(function* () {
      const { alive, client, logged, messages, quiet } = yield* serve
      yield* client.send([JSON.stringify({ id: 1, method: "notifies" })])
      yield* quiet
      assert.deepStrictEqual<unknown>(messages, [
        ...[1, 2, 3].map((value) => ({ jsonrpc: "2.0", method: "report", params: { value } })),
        { jsonrpc: "2.0", id: 1, result: {} },
      ])
      assert.strictEqual(logged.filter((line) => line.startsWith("Error")).length, 2)
      yield* alive
    }),
  )
})
