import * as JsonRpc from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ServerRequests from "../../src/mcp/ServerRequests.ts"

const request = (method: string, params?: unknown, id: JsonRpc.RequestId = 7): JsonRpc.Request => ({
  _tag: "Request",
  id,
  method,
  params,
})

const answered = (text: string): unknown => ({ ...JSON.parse(text), jsonrpc: undefined })

const echoing = ServerRequests.make((question) =>
  Effect.succeed({ action: "accept", content: { ...question } }),
)

describe("ServerRequests", () => {
  const refused = (code: number, message: string) => ({ error: { code, message } })
  const expected = "expected `message`, a string, and a form to fill in"

  it.effect.each<readonly [string, unknown, Record<string, unknown>]>([
    ["ping", undefined, { result: {} }],
    ["roots/list", {}, refused(-32601, "Method not found: roots/list")],
    ["sampling/createMessage", {}, refused(-32601, "Method not found: sampling/createMessage")],
    ["elicitation/create", undefined, refused(-32602, expected)],
    ["elicitation/create", { message: 7 }, refused(-32602, expected)],
    [
      "elicitation/create",
      { message: "m", mode: "url", url: "http://x" },
      refused(-32602, expected),
    ],
    [
      "elicitation/create",
      { message: "m", mode: "form", requestedSchema: "none" },
      {
        result: {
          action: "accept",
          content: { message: "m", requestedSchema: { type: "object", properties: {} } },
        },
      },
    ],
    [
      "elicitation/create",
      { message: "m".repeat(100_000) },
      {
        result: {
          action: "accept",
          content: {
            message: "m".repeat(100_000),
            requestedSchema: { type: "object", properties: {} },
          },
        },
      },
    ],
  ])("%s %j is answered", ([method, params, answer]) =>
    Effect.map(echoing(request(method, params)), (text) =>
      assert.deepStrictEqual(answered(text), { jsonrpc: undefined, id: 7, ...answer }),
    ),
  )

  const schemaOf = (requestedSchema: unknown) =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const answering = ServerRequests.make((question) =>
        Effect.sync(() => {
          seen.push(question.requestedSchema)
          return { action: "decline" }
        }),
      )
      yield* answering(request("elicitation/create", { message: "m", requestedSchema }))
      return seen[0]
    })

  it.effect("L7 no member and no keyword of a form is removed, whatever its size and depth", () =>
    Effect.gen(function* () {
      const form = {
        type: "object",
        properties: {
          n: { type: "integer", enum: [1, 2], enumNames: ["one", "two"], format: "x" },
        },
        required: ["n"],
      }
      assert.deepStrictEqual(yield* schemaOf(form), form)
      const many = Object.fromEntries(
        Array.from({ length: 1_100 }, (_, i) => [
          `m${i}`,
          { type: "string", description: "d".repeat(2_000) },
        ]),
      )
      const large = { ...form, properties: many }
      assert.deepStrictEqual(yield* schemaOf(large), large)
      assert.deepStrictEqual(yield* schemaOf({ properties: many }), {
        type: "object",
        properties: many,
      })
      let deep: unknown = { type: "string" }
      for (let i = 0; i < 50_000; i++) deep = { not: deep }
      const given = yield* schemaOf({ ...form, properties: { deep } })
      assert.strictEqual((given as { properties: { deep: unknown } }).properties.deep, deep)
    }),
  )

  it.effect(
    "a fifth question at the same time is cancelled, and later ones are accepted again",
    () =>
      Effect.gen(function* () {
        const gate = yield* Deferred.make<void>()
        let asked = 0
        const answering = ServerRequests.make(() => {
          asked++
          return Effect.as(Deferred.await(gate), { action: "decline" } as const)
        })
        const askWith = (id: number) =>
          answering(request("elicitation/create", { message: "m" }, id))
        const ask = askWith(0)
        const four = yield* Effect.forkChild(
          Effect.all([1, 2, 3, 4].map(askWith), { concurrency: 4 }),
          { startImmediately: true },
        )
        assert.match(yield* ask, /"action":"cancel"/)
        assert.strictEqual(asked, 4)
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(four)
        assert.match(yield* ask, /"action":"decline"/)
      }),
  )

  it.effect("L1 a request with the id of a pending question gets an error without that id", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const answering = ServerRequests.make(() =>
        Effect.as(Deferred.await(gate), { action: "decline" } as const),
      )
      const question = answering(request("elicitation/create", { message: "m" }))
      const first = yield* Effect.forkChild(question, { startImmediately: true })
      for (const again of [question, answering(request("ping")), answering(request("no/such"))]) {
        assert.deepStrictEqual(JSON.parse(yield* again), {
          jsonrpc: "2.0",
          id: null,
          error: {
            code: -32600,
            message: "Invalid Request: the id 7 is in use by a request still in flight",
            data: { id: 7 },
          },
        })
      }
      yield* Deferred.succeed(gate, undefined)
      assert.match(yield* Fiber.join(first), /"id":7,"result":\{"action":"decline"/)
      assert.match(yield* answering(request("ping")), /"id":7,"result":\{\}/)
    }),
  )
})
