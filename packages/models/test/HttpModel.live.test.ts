import type { ModelEvent } from "@colloquy/core/ModelClient"
import * as MockProvider from "@colloquy/testing/MockProvider"
import {
  bareDeltas,
  byLastUserText,
  drop,
  hang,
  manyDeltas,
  refuse,
  reply,
  silence,
  status,
  text,
} from "@colloquy/testing/ProviderScript"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Stream from "effect/Stream"
import manifest from "../package.json" with { type: "json" }
import * as HttpModel from "../src/HttpModel.ts"
import { assistant, provider, request, usage, user } from "./support/Requests.ts"

const script = byLastUserText([
  ["many", reply(manyDeltas("word ", 30_000))],
  ["drop", reply(bareDeltas("par"), drop)],
  ["refuse", refuse],
  ["hang", reply(bareDeltas("par"), hang)],
  ["silence", silence],
  ["busy", status(503)],
  ["", reply(text("ok"))],
])

const setup = Effect.gen(function* () {
  const mock = yield* MockProvider.make(script)
  const client = yield* HttpClient.HttpClient
  const model = yield* HttpModel.make(client)
  const asking = (wire: "responses" | "chat", said: string) =>
    model.stream(
      request({
        provider: provider(wire, { baseUrl: mock.baseUrl }),
        input: [user(said)],
      }),
    )
  return { mock, asking }
}).pipe(Effect.provide(FetchHttpClient.layer))

describe("HttpModel over a socket", () => {
  for (const wire of ["responses", "chat"] as const) {
    it.live(`${wire}: answers, and does not close the connection early`, () =>
      Effect.gen(function* () {
        const { mock, asking } = yield* setup
        const expected: ReadonlyArray<ModelEvent> = [
          { _tag: "TextDelta", delta: "ok" },
          { _tag: "ItemDone", item: assistant("ok") },
          { _tag: "Completed", usage },
        ]
        assert.deepStrictEqual(yield* Stream.runCollect(asking(wire, "hi")), expected)
        const seen = yield* mock.requests
        assert.deepStrictEqual(
          seen.map((call) => [call.method, call.wire, call.lastUserText]),
          [["POST", wire, "hi"]],
        )
        assert.strictEqual(seen[0]?.headers["user-agent"], `colloquy/${manifest.version}`)
        assert.isUndefined(seen[0]?.headers["traceparent"])
        assert.deepStrictEqual(yield* mock.closed, [])
      }),
    )

    it.live(`${wire}: delivers all of 30,000 deltas, many to an array`, () =>
      Effect.gen(function* () {
        const { asking } = yield* setup
        let events = 0
        let arrays = 0
        yield* Stream.runForEachArray(asking(wire, "many"), (array) =>
          Effect.sync(() => {
            events += array.length
            arrays++
          }),
        )
        assert.strictEqual(events, 30_002)
        assert.isBelow(arrays, 1000)
      }),
    )

    it.live(`${wire}: L14 interruption closes the socket, before and during streaming`, () =>
      Effect.gen(function* () {
        const { mock, asking } = yield* setup
        const begun = yield* Deferred.make<void>()
        const streaming = yield* Effect.forkChild(
          Stream.runForEach(asking(wire, "hang"), () => Deferred.succeed(begun, undefined)),
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(streaming)
        yield* mock.awaitClosed(0)
        const waiting = yield* Effect.forkChild(Stream.runDrain(asking(wire, "silence")))
        yield* mock.awaitRequest(1)
        yield* Fiber.interrupt(waiting)
        yield* mock.awaitClosed(1)
        assert.deepStrictEqual(yield* mock.closed, [0, 1])
      }),
    )
  }

  it.live("reports a lost connection, before the headers and after", () =>
    Effect.gen(function* () {
      const { mock, asking } = yield* setup
      const message = (said: string) =>
        Effect.map(Effect.flip(Stream.runDrain(asking("responses", said))), (e) => e.message)
      const prefix = "stream disconnected before completion: "
      assert.deepStrictEqual(yield* Effect.forEach(["refuse", "drop", "busy"], message), [
        `${prefix}error sending request for url (${mock.baseUrl}/responses): UND_ERR_SOCKET`,
        `${prefix}Transport error: error decoding response body`,
        "exceeded retry limit, last status: 503 Service Unavailable",
      ])
    }),
  )

  it.live("reports a refused connection immediately, with the address", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* Effect.scoped(MockProvider.make(script))
      const client = yield* HttpClient.HttpClient
      const toNoServer = request({ provider: provider("chat", { baseUrl }) })
      const error = yield* Effect.flip(
        Stream.runDrain((yield* HttpModel.make(client)).stream(toNoServer)),
      )
      assert.strictEqual(
        error.message,
        `cannot connect to the model provider at ${baseUrl}/chat/completions: connection refused (ECONNREFUSED)`,
      )
    }).pipe(Effect.provide(FetchHttpClient.layer)),
  )
})
