import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { AskPerson } from "../../src/mcp/ServerRequests.ts"
import type { Ask, ToolConnection } from "../../src/mcp/ToolConnection.ts"
import { ToolServerError } from "../../src/mcp/ToolConnection.ts"
import * as ToolServer from "../../src/mcp/ToolServer.ts"

const limits = { startupTimeout: Duration.seconds(10), toolTimeout: Duration.seconds(60) }
const echo = { name: "echo", inputSchema: { type: "object", properties: {} } }
const decline: Ask = () => Effect.succeed({ action: "decline" })
const question = { message: "?", requestedSchema: echo.inputSchema }

/** A tool server whose starts, ends and calls the test controls. */
const makeScript = () => {
  const log: Array<string> = []
  let starts = 0
  let ask: AskPerson | undefined
  let dies = Deferred.makeUnsafe<string>()
  const script = {
    log,
    die: (reason: string) => Deferred.succeed(dies, reason),
    ask: () => ask?.(question) ?? Effect.die("not started"),
    /** Delays the report that a connection has ended. */
    beforeEnded: Effect.void,
    onStart: (_: number): Effect.Effect<void, ToolServerError> => Effect.void,
    onCall: (): ReturnType<ToolConnection["call"]> => Effect.succeed({ content: [] }),
  }
  const connect: ToolServer.Connect = (asking) =>
    Effect.gen(function* () {
      const n = ++starts
      log.push(`start ${n}`)
      yield* Effect.addFinalizer(() => Effect.sync(() => log.push(`end ${n}`)))
      yield* script.onStart(n)
      ask = asking
      const own = Deferred.makeUnsafe<string>()
      dies = own
      return {
        tools: [echo],
        call: () => script.onCall(),
        ended: Effect.tap(Deferred.await(own), () => script.beforeEnded),
        request: () => Effect.succeed({}),
        isOver: () => Deferred.isDoneUnsafe(own),
      }
    })
  return Object.assign(script, { connect })
}

const messageOf = <A>(effect: Effect.Effect<A, ToolServerError>) =>
  Effect.match(effect, { onFailure: ({ message }) => message, onSuccess: () => "succeeded" })

const call = (server: ToolServer.ToolServer, ask = decline) => server.call("echo", undefined, ask)

describe("ToolServer", () => {
  it.effect("starts when it is first needed, once for all waiting callers", () =>
    Effect.gen(function* () {
      const script = makeScript()
      script.onStart = () => Effect.sleep("1 second")
      const server = yield* ToolServer.make("s", limits, script.connect)
      assert.deepStrictEqual(script.log, [])
      const all = yield* Effect.forkChild(
        Effect.all([server.tools, server.tools, call(server)], { concurrency: 3 }),
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(all), [[echo], [echo], { content: [] }])
      assert.deepStrictEqual(script.log, ["start 1"])
    }),
  )

  it.effect("a caller that gives up waiting for the start does not affect others", () =>
    Effect.gen(function* () {
      const script = makeScript()
      script.onStart = () => Effect.sleep("1 second")
      const server = yield* ToolServer.make("s", limits, script.connect)
      const first = yield* Effect.forkChild(server.tools)
      const second = yield* Effect.forkChild(server.tools)
      yield* TestClock.adjust("100 millis")
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("900 millis")
      assert.deepStrictEqual(yield* Fiber.join(second), [echo])
      assert.deepStrictEqual(script.log, ["start 1"])
    }),
  )

  it.effect(
    "a server that hangs at its start is abandoned, and costs no more time until it may start again",
    () =>
      Effect.gen(function* () {
        const script = makeScript()
        script.onStart = () => Effect.never
        const server = yield* ToolServer.make("s", limits, script.connect)
        const waiting = yield* Effect.forkChild(messageOf(server.tools))
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* Fiber.join(waiting), "it did not start within 10 s")
        assert.strictEqual(
          yield* messageOf(server.tools),
          "it did not start within 10 s; it is not started again for 15 s",
        )
        yield* TestClock.adjust("15 seconds")
        script.onStart = () => Effect.void
        assert.deepStrictEqual(yield* server.tools, [echo])
        assert.deepStrictEqual(script.log, ["start 1", "end 1", "start 2"])
      }),
  )

  it.effect("a server that died is restarted by the next call at once", () =>
    Effect.gen(function* () {
      const script = makeScript()
      const server = yield* ToolServer.make("s", limits, script.connect)
      yield* call(server)
      yield* script.die("killed")
      assert.deepStrictEqual(yield* call(server), { content: [] })
      assert.deepStrictEqual(script.log, ["start 1", "end 1", "start 2"])
    }),
  )

  it.effect(
    "a server that dies during its calls fails them, and is restarted less and less often",
    () =>
      Effect.gen(function* () {
        const script = makeScript()
        script.onCall = () => Effect.andThen(script.die("exit 3"), Effect.never)
        const server = yield* ToolServer.make("s", limits, script.connect)
        assert.strictEqual(yield* messageOf(call(server)), "exit 3")
        assert.strictEqual(yield* messageOf(call(server)), "exit 3")
        const refused = "exit 3; it is not started again for 1 s"
        assert.strictEqual(yield* messageOf(call(server)), refused)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* messageOf(call(server)), "exit 3")
        assert.strictEqual(
          yield* messageOf(call(server)),
          "exit 3; it is not started again for 2 s",
        )
        script.onCall = () => Effect.succeed({ content: [] })
        yield* TestClock.adjust("2 seconds")
        yield* call(server)
        yield* script.die("once more")
        assert.strictEqual(yield* messageOf(call(server)), "succeeded")
      }),
  )

  it.each<readonly [failures: number, hadStarted: boolean, seconds: number]>([
    [1, true, 0],
    [2, true, 1],
    [5, true, 8],
    [1, false, 15],
    [2, false, 30],
    [6, false, 300],
    [2_000, true, 300],
  ])("after %i failures (had started: %s) %i seconds pass", (failures, hadStarted, seconds) => {
    assert.strictEqual(Duration.toSeconds(ToolServer.restartDelay(failures, hadStarted)), seconds)
  })

  it.effect("a call that hangs ends at its time limit, and the server keeps running", () =>
    Effect.gen(function* () {
      const script = makeScript()
      let interrupted = 0
      script.onCall = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
      const server = yield* ToolServer.make("s", limits, script.connect)
      const hanging = yield* Effect.forkChild(messageOf(call(server)))
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* Fiber.join(hanging), "timed out awaiting tools/call after 60 s")
      assert.strictEqual(interrupted, 1)
      script.onCall = () => Effect.succeed({ content: [] })
      yield* call(server)
      assert.deepStrictEqual(script.log, ["start 1"])
    }),
  )

  it.effect("the time that a person takes to answer does not count for the call", () =>
    Effect.gen(function* () {
      const script = makeScript()
      script.onCall = () =>
        Effect.gen(function* () {
          yield* Effect.sleep("30 seconds")
          const answer = yield* script.ask()
          yield* Effect.sleep("29 seconds")
          return { content: [answer] }
        })
      const slow: Ask = () =>
        Effect.delay(Effect.succeed({ action: "accept", content: {} }), "10 minutes")
      const server = yield* ToolServer.make("s", limits, script.connect)
      const answered = yield* Effect.forkChild(call(server, slow))
      yield* TestClock.adjust("11 minutes")
      assert.deepStrictEqual(yield* Fiber.join(answered), {
        content: [{ action: "accept", content: {} }],
      })

      script.onCall = () => Effect.andThen(script.ask(), Effect.never)
      const hanging = yield* Effect.forkChild(messageOf(call(server, slow)))
      yield* TestClock.adjust("659 seconds")
      assert.isUndefined(hanging.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(hanging), "timed out awaiting tools/call after 60 s")
    }),
  )

  it.effect(
    "the time of a question asked before a call began does not count for the call either",
    () =>
      Effect.gen(function* () {
        const script = makeScript()
        script.onCall = () => Effect.never
        const ask: Ask = () => Effect.delay(Effect.succeed({ action: "decline" }), "100 seconds")
        const server = yield* ToolServer.make("s", limits, script.connect)
        yield* Effect.forkChild(messageOf(call(server, ask)), { startImmediately: true })
        yield* Effect.forkChild(script.ask(), { startImmediately: true })
        yield* TestClock.adjust("50 seconds")
        const later = yield* Effect.forkChild(messageOf(call(server, ask)), {
          startImmediately: true,
        })
        yield* TestClock.adjust("109 seconds")
        assert.isUndefined(later.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* Fiber.join(later), "timed out awaiting tools/call after 60 s")
      }),
  )

  it.effect(
    "a call after an end that is not reported yet waits for the report, then restarts the server",
    () =>
      Effect.gen(function* () {
        const script = makeScript()
        script.beforeEnded = Effect.sleep("1 second")
        const server = yield* ToolServer.make("s", limits, script.connect)
        yield* call(server)
        yield* script.die("gone")
        const next = yield* Effect.forkChild(call(server), { startImmediately: true })
        assert.isUndefined(next.pollUnsafe())
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* Fiber.join(next), { content: [] })
        // The new connection does not wait for the cleanup of the old one.
        assert.deepStrictEqual(script.log, ["start 1", "start 2", "end 1"])
      }),
  )

  it.effect(
    "a question is put to the conversation of the running call, and is cancelled when that is unknown",
    () =>
      Effect.gen(function* () {
        const script = makeScript()
        script.onCall = () => Effect.never
        const server = yield* ToolServer.make("s", limits, script.connect)
        const callerNamed =
          (content: Record<string, unknown>): Ask =>
          (request) =>
            Effect.succeed({ action: "accept", content: { ...content, server: request.server } })
        yield* server.tools
        assert.deepStrictEqual(yield* script.ask(), { action: "cancel" })
        const one = callerNamed({ who: 1 })
        const fiber = yield* Effect.forkChild(call(server, one), { startImmediately: true })
        yield* Effect.forkChild(call(server, one), { startImmediately: true })
        assert.deepStrictEqual(yield* script.ask(), {
          action: "accept",
          content: { who: 1, server: "s" },
        })
        const other = yield* Effect.forkChild(call(server, callerNamed({ who: 2 })), {
          startImmediately: true,
        })
        assert.deepStrictEqual(yield* script.ask(), { action: "cancel" })
        yield* Fiber.interrupt(other)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual((yield* script.ask()).action, "accept")
      }),
  )

  it.effect("L14 a question is withdrawn when the call it belongs to is interrupted", () =>
    Effect.gen(function* () {
      const script = makeScript()
      let withdrawn = 0
      const ask: Ask = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => withdrawn++))
      script.onCall = () => Effect.never
      const server = yield* ToolServer.make("s", limits, script.connect)
      const fiber = yield* Effect.forkChild(call(server, ask), { startImmediately: true })
      const asked = yield* Effect.forkChild(script.ask(), { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* Fiber.join(asked), { action: "cancel" })
      assert.strictEqual(withdrawn, 1)
    }),
  )

  it.effect("L8 running and starting servers end with the scope", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const script = makeScript()
      script.onStart = () => Effect.never
      const server = yield* Scope.provide(ToolServer.make("s", limits, script.connect), scope)
      const waiting = yield* Effect.forkChild(messageOf(server.tools), { startImmediately: true })
      yield* TestClock.adjust(0)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Fiber.join(waiting), "it was ended")
      assert.deepStrictEqual(script.log, ["start 1", "end 1"])
    }),
  )

  it.effect("a call after the end of its owner fails at once", () =>
    Effect.gen(function* () {
      const script = makeScript()
      const scope = yield* Scope.make()
      const server = yield* Scope.provide(ToolServer.make("s", limits, script.connect), scope)
      yield* Scope.close(scope, Exit.void)
      const calling = yield* Effect.forkChild(messageOf(call(server)))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(calling.pollUnsafe(), Exit.succeed("it was ended"))
      assert.deepStrictEqual(script.log, [])
    }),
  )
})
