import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TestClock from "effect/testing/TestClock"
import { guarded, type GuardOptions, RouteTable } from "../../src/guard/Guard.ts"
import { type LimitOptions, Limits } from "../../src/guard/Limits.ts"
import { knownTokens } from "../support/Guards.ts"

const ada = { host: "localhost", authorization: "Bearer secret-of-ada" }
const bob = { host: "localhost", authorization: "Bearer secret-of-bob" }

/** A server with one route that serves `handler`, and what it responds. */
const serving = Effect.fnUntraced(function* (
  handler: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    unknown,
    HttpServerRequest.HttpServerRequest
  >,
  limits: LimitOptions = {},
  options: GuardOptions = {},
) {
  const app = yield* HttpRouter.toHttpEffect(
    guarded(HttpRouter.add("POST", "/", handler), options).pipe(
      Layer.provide([knownTokens, Limits.layer(limits), RouteTable.layer]),
    ),
  )
  return (headers: Readonly<Record<string, string>>, body = "", remoteAddress = "127.0.0.1") =>
    Effect.gen(function* () {
      const request = HttpServerRequest.fromWeb(
        new Request("http://localhost/", {
          method: "POST",
          headers,
          ...(body === "" ? {} : { body }),
        }),
      ).modify({ remoteAddress: Option.some(remoteAddress) })
      const { headers: sent, status } = yield* Effect.scoped(
        Effect.provideService(app, HttpServerRequest.HttpServerRequest, request),
      )
      return [status, sent["retry-after"]]
    })
})

const ok = Effect.succeed(HttpServerResponse.text("ok"))

describe("the limits of a server", () => {
  it.effect("limit the requests of one principal within ten seconds", () =>
    Effect.gen(function* () {
      const send = yield* serving(ok, { maxPrincipalRequests: 2 })
      assert.deepStrictEqual(yield* send(ada), [200, undefined])
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(yield* send(ada), [200, undefined])
      assert.deepStrictEqual(yield* send(ada), [429, "6"])
      assert.deepStrictEqual(yield* send(bob), [200, undefined])
      yield* TestClock.adjust("6 seconds")
      assert.deepStrictEqual(yield* send(ada), [200, undefined])
    }),
  )

  it.effect("limit the requests served at once, and count one until its response was sent", () =>
    Effect.gen(function* () {
      const answer = yield* Deferred.make<HttpServerResponse.HttpServerResponse>()
      const send = yield* serving(Deferred.await(answer), { maxRequests: 1 })
      const first = yield* Effect.forkChild(send(ada), { startImmediately: true })
      assert.deepStrictEqual(yield* send(bob), [503, "1"])
      yield* Deferred.succeed(answer, HttpServerResponse.text("ok"))
      assert.deepStrictEqual(yield* Fiber.join(first), [200, undefined])
      assert.deepStrictEqual(yield* send(bob), [200, undefined])
    }),
  )

  it.effect("slow down an address that guesses tokens, and serve its valid requests", () =>
    Effect.gen(function* () {
      const send = yield* serving(ok, { maxFailedRequests: 2 })
      const guess = { ...ada, authorization: "Bearer guess" }
      assert.deepStrictEqual(yield* send(guess), [401, undefined])
      assert.deepStrictEqual(yield* send(guess), [401, undefined])
      assert.deepStrictEqual(yield* send(guess), [429, "10"])
      assert.deepStrictEqual(yield* send(ada), [200, undefined])
      assert.deepStrictEqual(yield* send(guess, "", "127.0.0.2"), [401, undefined])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* send(guess), [401, undefined])
    }),
  )

  it.effect("respond 413 where a body turns out to be larger while it is read", () =>
    Effect.gen(function* () {
      const read = HttpServerRequest.HttpServerRequest.pipe(
        Effect.flatMap(({ text }) => text),
        Effect.map((text) => HttpServerResponse.text(text)),
      )
      for (const handler of [read, Effect.orDie(read)]) {
        const send = yield* serving(handler, {}, { maxBodyBytes: 10 })
        assert.deepStrictEqual(yield* send(ada, "x".repeat(11)), [413, undefined])
        assert.deepStrictEqual(yield* send(ada, "x".repeat(10)), [200, undefined])
      }
    }),
  )
})
