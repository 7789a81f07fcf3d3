import { failureText, JsonRpcError, type RequestId } from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { type InFlight, type InFlightRequest, make } from "../../src/jsonrpc/InFlight.ts"

const shuttingDown = (id: RequestId) =>
  failureText(
    id,
    new JsonRpcError({
      code: -32000,
      message: "the server is shutting down; the request may have been carried out",
    }),
  )

const cancelled = new JsonRpcError({ code: -32800, message: "request cancelled" })

const settled = Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })

const start = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.forkChild(effect, { startImmediately: true })

const serve = (
  inFlight: InFlight,
  id: RequestId,
  work: Effect.Effect<string>,
  more: Partial<InFlightRequest> = {},
) => inFlight.start({ id, work, ...more })

/** A table that writes its responses to `out` and waits for `gate` after each, like a slow transport. */
const table = Effect.fnUntraced(function* (gate: Effect.Effect<void> = Effect.void) {
  const out: Array<string> = []
  const scope = yield* Scope.make()
  const inFlight = yield* make({
    send: (texts) =>
      Effect.suspend(() => {
        out.push(...texts)
        return texts.length === 0 ? Effect.void : gate
      }),
  }).pipe(Scope.provide(scope))
  return { inFlight, out, close: Scope.close(scope, Exit.void) }
})

describe("InFlight", () => {
  it.effect("L1 responds with the text that its work returns, and forgets the id", () =>
    Effect.gen(function* () {
      const { inFlight, out } = yield* table()
      const text = yield* Deferred.make<string>()
      yield* serve(inFlight, 1, Deferred.await(text))
      assert.deepStrictEqual(
        [inFlight.has(1), inFlight.has("1"), inFlight.running],
        [true, false, 1],
      )
      yield* Deferred.succeed(text, "one")
      yield* settled
      assert.deepStrictEqual([out, inFlight.has(1), inFlight.running], [["one"], false, 0])
    }),
  )

  it.effect("an id is free as soon as its response was sent", () =>
    Effect.gen(function* () {
      const { inFlight, out } = yield* table()
      yield* serve(inFlight, 1, Effect.succeed("one"))
      assert.deepStrictEqual([out, inFlight.has(1)], [["one"], false])
    }),
  )

  it.effect("L1 the end of each request reports whether its response may have been sent", () =>
    Effect.gen(function* () {
      // The response is being sent when the request is cancelled, so the client may still read it.
      const { inFlight, out } = yield* table(Effect.never)
      const sent = new Map<RequestId, boolean>()
      const begin = (id: RequestId, work: Effect.Effect<string>) =>
        serve(inFlight, id, work, { onEnd: (was) => sent.set(id, was) })
      yield* begin(1, Effect.succeed("one"))
      yield* begin(2, Effect.never)
      inFlight.cancel(1)
      inFlight.cancel(2)
      yield* settled
      assert.deepStrictEqual(out, ["one"])
      assert.deepStrictEqual([sent.get(1), sent.get(2)], [true, false])
    }),
  )

  it.effect("L1 a cancelled request is stopped and never answered", () =>
    Effect.gen(function* () {
      const { inFlight, out } = yield* table()
      let stopped = false
      const work = Effect.onInterrupt(Effect.never, () =>
        Effect.sync(() => {
          stopped = true
        }),
      )
      yield* serve(inFlight, 1, work)
      inFlight.cancel("1")
      inFlight.cancel(2)
      yield* settled
      assert.isFalse(stopped)
      inFlight.cancel(1)
      inFlight.cancel(1)
      yield* settled
      assert.deepStrictEqual([stopped, out, inFlight.running], [true, [], 0])
    }),
  )

  it.effect(
    "L1 a cancelled request that must have a response gets it once, when its work has ended",
    () =>
      Effect.gen(function* () {
        const { inFlight, out } = yield* table()
        const ended: Array<string> = []
        const work = Effect.onInterrupt(Effect.never, () => Effect.sleep("1 second"))
        yield* TestClock.adjust(0)
        yield* serve(inFlight, 1, work, { onEnd: () => ended.push("over") })
        inFlight.cancel("1", cancelled)
        inFlight.cancel(1, cancelled)
        inFlight.cancel(1, cancelled)
        inFlight.cancel(1)
        yield* settled
        assert.deepStrictEqual([out, ended, inFlight.has(1)], [[], [], true])
        yield* TestClock.adjust("1 second")
        yield* settled
        assert.deepStrictEqual(
          [out, ended, inFlight.has(1), inFlight.running],
          [[failureText(1, cancelled)], ["over"], false, 0],
        )
      }),
  )

  it.effect(
    "L1 a request with a response being sent, or that must not be cancelled, is answered",
    () =>
      Effect.gen(function* () {
        const read = yield* Deferred.make<void>()
        const { inFlight, out } = yield* table(Deferred.await(read))
        const text = yield* Deferred.make<string>()
        yield* serve(inFlight, 1, Effect.succeed("one"))
        yield* serve(inFlight, 2, Deferred.await(text), { cancellable: false })
        inFlight.cancel(1, cancelled)
        inFlight.cancel(2, cancelled)
        yield* Deferred.succeed(read, undefined)
        yield* Deferred.succeed(text, "two")
        yield* settled
        assert.deepStrictEqual([out, inFlight.running], [["one", "two"], 0])
      }),
  )

  it.effect("L6 unread responses to cancelled requests count as waiting responses", () =>
    Effect.gen(function* () {
      const read = yield* Deferred.make<void>()
      const { inFlight } = yield* table(Deferred.await(read))
      yield* serve(inFlight, 1, Effect.never)
      inFlight.cancel(1, cancelled)
      yield* settled
      assert.deepStrictEqual(
        [inFlight.running, inFlight.hasRoom(1), inFlight.hasRoom(2)],
        [0, false, true],
      )
      yield* Deferred.succeed(read, undefined)
      yield* settled
      assert.isTrue(inFlight.hasRoom(1))
    }),
  )

  it.effect(
    "L9 L1 at the end cancelled requests are answered once, also those that do not stop",
    () =>
      Effect.gen(function* () {
        const { inFlight, out, close } = yield* table()
        const released = yield* Deferred.make<string>()
        yield* TestClock.adjust(0)
        yield* serve(
          inFlight,
          1,
          Effect.onInterrupt(Effect.never, () => Effect.sleep("1 second")),
        )
        yield* serve(inFlight, 2, Effect.uninterruptible(Deferred.await(released)))
        inFlight.cancel(1, cancelled)
        inFlight.cancel(2, cancelled)
        const drained = yield* start(Effect.andThen(inFlight.drain("500 millis"), close))
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(drained)
        yield* Deferred.succeed(released, "late")
        yield* settled
        assert.deepStrictEqual(out, [failureText(1, cancelled), failureText(2, cancelled)])
      }),
  )

  it.effect(
    "L1 a request that was answered at the end is not answered again when its work ends later",
    () =>
      Effect.gen(function* () {
        const { inFlight, out } = yield* table(Effect.sleep("500 millis"))
        const released = yield* Deferred.make<string>()
        yield* serve(inFlight, 1, Effect.uninterruptible(Deferred.await(released)))
        inFlight.cancel(1, cancelled)
        const drained = yield* start(inFlight.drain("500 millis"))
        yield* TestClock.adjust("500 millis")
        yield* TestClock.adjust("2 seconds")
        yield* settled
        assert.deepStrictEqual(out, [failureText(1, cancelled)])
        yield* Deferred.succeed(released, "late")
        yield* settled
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(drained)
        assert.deepStrictEqual(out, [failureText(1, cancelled)])
      }),
  )

  it.effect("L1 a request that cancels itself while it starts is not answered", () =>
    Effect.gen(function* () {
      const { inFlight, out } = yield* table()
      yield* serve(
        inFlight,
        1,
        Effect.sync(() => {
          inFlight.cancel(1)
          return "one"
        }),
      )
      yield* settled
      assert.deepStrictEqual([out, inFlight.running], [[], 0])
    }),
  )

  it.effect(
    "reports the end of a request once, answered or cancelled, and after the work that follows its response",
    () =>
      Effect.gen(function* () {
        const { inFlight } = yield* table()
        const ended: Array<string> = []
        const say = (what: string) => () => {
          ended.push(what)
        }
        const after = () => Effect.sync(say("accepted"))
        yield* serve(inFlight, 1, Effect.succeed("one"), { onResponse: after, onEnd: say("over") })
        yield* serve(inFlight, 2, Effect.never, {
          onResponse: after,
          onEnd: say("over, cancelled"),
        })
        inFlight.cancel(2)
        yield* settled
        assert.deepStrictEqual(ended, ["accepted", "over", "over, cancelled"])
      }),
  )

  it.effect("drains at once when nothing is in flight, and when the last request is answered", () =>
    Effect.gen(function* () {
      const { inFlight, out } = yield* table()
      yield* inFlight.drain("1 hour")
      const text = yield* Deferred.make<string>()
      yield* serve(inFlight, 1, Deferred.await(text))
      const drained = yield* start(inFlight.drain("1 hour"))
      yield* Deferred.succeed(text, "one")
      yield* Fiber.join(drained)
      assert.deepStrictEqual(out, ["one"])
    }),
  )

  it.effect("L1 a response that a slow reader has accepted is not followed by an error", () =>
    Effect.gen(function* () {
      const read = yield* Deferred.make<void>()
      const { inFlight, out } = yield* table(Deferred.await(read))
      yield* serve(inFlight, 1, Effect.succeed("one"))
      yield* serve(inFlight, 2, Effect.never)
      const drained = yield* start(inFlight.drain("500 millis"))
      yield* TestClock.adjust("500 millis")
      yield* settled
      assert.deepStrictEqual(out, ["one", shuttingDown(2)])
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(drained)
      assert.deepStrictEqual(out, ["one", shuttingDown(2)])
    }),
  )

  it.effect("L9 a response being sent at the end has time to arrive", () =>
    Effect.gen(function* () {
      const read = yield* Deferred.make<void>()
      let arrived = false
      const { inFlight } = yield* table(
        Effect.map(Deferred.await(read), () => {
          arrived = true
        }),
      )
      yield* serve(inFlight, 1, Effect.succeed("one"))
      const drained = yield* start(inFlight.drain("500 millis"))
      yield* TestClock.adjust("1 second")
      yield* settled
      assert.isUndefined(drained.pollUnsafe())
      yield* Deferred.succeed(read, undefined)
      yield* Fiber.join(drained)
      assert.isTrue(arrived)
    }),
  )

  it.effect(
    "L9 a request that does not stop gets an error within the bound, and no response later",
    () =>
      Effect.gen(function* () {
        const { inFlight, out, close } = yield* table()
        const released = yield* Deferred.make<string>()
        yield* serve(inFlight, 1, Effect.uninterruptible(Deferred.await(released)))
        const drained = yield* start(Effect.andThen(inFlight.drain("500 millis"), close))
        yield* TestClock.adjust("2 seconds")
        yield* settled
        assert.deepStrictEqual(out, [])
        yield* TestClock.adjust("500 millis")
        yield* Fiber.join(drained)
        assert.deepStrictEqual(out, [shuttingDown(1)])
        yield* Deferred.succeed(released, "late")
        yield* settled
        assert.deepStrictEqual(out, [shuttingDown(1)])
      }),
  )

  it.effect(
    "L8 the end of its scope stops running requests and waits for them, within a bound",
    () =>
      Effect.gen(function* () {
        const { inFlight, out, close } = yield* table()
        const released = yield* Deferred.make<string>()
        let cleaned = false
        yield* serve(
          inFlight,
          1,
          Effect.onInterrupt(Effect.never, () =>
            Effect.map(Effect.sleep("300 millis"), () => {
              cleaned = true
            }),
          ),
        )
        yield* TestClock.adjust(0)
        const closed = yield* start(close)
        yield* TestClock.adjust("200 millis")
        yield* settled
        assert.deepStrictEqual([closed.pollUnsafe() === undefined, cleaned], [true, false])
        yield* TestClock.adjust("100 millis")
        yield* Fiber.join(closed)
        assert.deepStrictEqual([cleaned, out], [true, []])

        const other = yield* table()
        yield* serve(other.inFlight, 1, Effect.uninterruptible(Deferred.await(released)))
        const bounded = yield* start(other.close)
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(bounded)
        yield* Deferred.succeed(released, "late")
        yield* settled
        assert.deepStrictEqual(other.out, [])
      }),
  )
})
