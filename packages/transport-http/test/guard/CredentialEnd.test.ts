import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { guarded, RouteTable } from "../../src/guard/Guard.ts"
import { Limits } from "../../src/guard/Limits.ts"
import {
  IssuerUnavailable,
  type NotIdentified,
  Principals,
  Unauthorized,
} from "../../src/guard/Principals.ts"

const invalid = new Unauthorized({ message: "the bearer token is not valid", challenge: "Bearer" })
const unknown = new IssuerUnavailable({ message: "no keys", retryAfterSeconds: 5 })

const streaming = HttpRouter.add(
  "GET",
  "/events",
  HttpServerResponse.stream(Stream.never.pipe(Stream.prepend([new Uint8Array([1])]))),
)

/** Opens the stream of a route for a principal whose credentials give `found` from now on. */
const opened = (found: () => Effect.Effect<string, NotIdentified>) =>
  Effect.gen(function* () {
    const app = yield* HttpRouter.toHttpEffect(guarded(streaming))
    const request = new Request("http://localhost/events", { headers: { host: "localhost" } })
    const response = yield* Effect.provideService(
      app,
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(request),
    )
    assert.strictEqual(response.status, 200)
    if (response.body._tag !== "Stream") return assert.fail("expected a stream")
    return yield* Effect.forkChild(Stream.runDrain(response.body.stream), {
      startImmediately: true,
    })
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(Principals, { identify: () => Effect.suspend(found) }),
        Limits.layer(),
        RouteTable.layer,
      ),
    ),
  )

describe("what a request keeps open", () => {
  it.effect("stays open while its credentials are valid, and while nobody can say whether", () =>
    Effect.gen(function* () {
      let answer: Effect.Effect<string, NotIdentified> = Effect.succeed("ada")
      const stream = yield* opened(() => answer)
      yield* TestClock.adjust("1 hour")
      answer = Effect.fail(unknown)
      yield* TestClock.adjust("1 hour")
      assert.isUndefined(stream.pollUnsafe())
    }).pipe(Effect.scoped),
  )

  it.effect.each([
    ["is withdrawn", Effect.fail(invalid)],
    ["is given to another principal", Effect.succeed("bob")],
  ] as const)("ends within seconds when its token %s", ([, later]) =>
    Effect.gen(function* () {
      let answer: Effect.Effect<string, NotIdentified> = Effect.succeed("ada")
      const stream = yield* opened(() => answer)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(stream.pollUnsafe())
      answer = later
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(stream)
    }).pipe(Effect.scoped),
  )
})
