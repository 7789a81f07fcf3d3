import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import type * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as CallProgress from "../../src/mcp/CallProgress.ts"
import type { ProgressReport } from "../../src/mcp/ToolConnection.ts"

type Receive = (report: ProgressReport) => void

/** A call that ends when the test says so, and the events about it. */
const running = Effect.fnUntraced(function* () {
  const events: Array<EventMsg> = []
  const end = yield* Deferred.make<string, string>()
  let receive: Receive = () => undefined
  const fiber = yield* Effect.forkChild(
    CallProgress.reporting(
      "c",
      (msg) => Effect.sync(() => void events.push(msg)),
      (given) => {
        receive = given
        return Deferred.await(end)
      },
    ),
  )
  yield* TestClock.adjust(0)
  const at = () =>
    events.map((msg) => (msg.type === "mcp_tool_call_progress" ? msg.progress : msg.type))
  return { at, end, events, fiber, report: (progress: number) => receive({ progress }) }
})

describe("reporting", () => {
  it.effect("delivers the first report at once, and then the newest one, every 200 ms", () =>
    Effect.gen(function* () {
      const { at, end, events, fiber, report } = yield* running()
      report(1)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(events, [
        { type: "mcp_tool_call_progress", call_id: "c", progress: 1 },
      ])
      for (let i = 2; i <= 100_000; i++) report(i)
      yield* TestClock.adjust("198 millis")
      assert.deepStrictEqual(at(), [1])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(at(), [1, 100_000])
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(at(), [1, 100_000])
      yield* Deferred.succeed(end, "done")
      assert.strictEqual(yield* Fiber.join(fiber), "done")
    }),
  )

  it.effect("the last report precedes the result, and none follows it", () =>
    Effect.gen(function* () {
      const { at, end, fiber, report } = yield* running()
      report(1)
      yield* TestClock.adjust("1 millis")
      report(2)
      yield* Deferred.succeed(end, "done")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(at(), [1, 2])
      report(3)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(at(), [1, 2])
    }),
  )

  it.effect("none follows a failure or an interrupt", () =>
    Effect.gen(function* () {
      const failing = yield* running()
      yield* Deferred.fail(failing.end, "broken")
      assert.strictEqual(yield* Effect.flip(Fiber.join(failing.fiber)), "broken")
      const interrupted = yield* running()
      yield* Fiber.interrupt(interrupted.fiber)
      for (const { report } of [failing, interrupted]) report(1)
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([...failing.at(), ...interrupted.at()], [])
    }),
  )
})

/** A transport whose requests are answered by the test. */
const transported = () => {
  const sent: Array<McpSchema.JsonRpcRequest> = []
  const answers: Array<Deferred.Deferred<void>> = []
  const transport: McpClient.Transport = {
    "~effect/ai/McpClient/Transport": "~effect/ai/McpClient/Transport",
    protocol: McpProtocol.v2025_11_25,
    isCallable: () => true,
    notify: () => Effect.void,
    request: (message) => {
      sent.push(message)
      const answer = Deferred.makeUnsafe<void>()
      answers.push(answer)
      return Effect.as(Deferred.await(answer), { jsonrpc: "2.0", id: message.id, result: {} })
    },
  }
  const progress = CallProgress.make()
  const reported: Array<ProgressReport> = []
  const around = progress.around(transport)
  const notified = (params: unknown, method = "notifications/progress") =>
    progress.notified({ _tag: "Notification", method, params })
  return { answers, around, notified, reported, sent }
}

const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "t" } } as const

describe("the progress of the calls of a connection", () => {
  it.effect(
    "a call gets a token if somebody receives its progress, and no other request does",
    () =>
      Effect.gen(function* () {
        const { around, reported, sent } = transported()
        const receiving = CallProgress.receivedBy((report) => void reported.push(report))
        for (const request of [
          around.request(call),
          receiving(around.request({ ...call, id: 8 })),
          receiving(around.request({ ...call, id: 9, method: "tools/list" })),
        ]) {
          yield* Effect.forkChild(request, { startImmediately: true })
        }
        assert.deepStrictEqual(
          sent.map(({ params }) => params),
          [{ name: "t" }, { name: "t", _meta: { progressToken: 8 } }, { name: "t" }],
        )
      }),
  )

  it.effect("reports are read with their limits, until the call ends", () =>
    Effect.gen(function* () {
      const { answers, around, notified, reported } = transported()
      const fiber = yield* around.request(call).pipe(
        CallProgress.receivedBy((report) => void reported.push(report)),
        Effect.forkChild({ startImmediately: true }),
      )
      const report = { progressToken: 7, progress: 1 }
      notified({ ...report, total: 2, message: "x".repeat(2_000) })
      notified({ ...report, total: "2", message: 3 })
      const ignored = [undefined, [], { ...report, progress: "1" }, { progress: 1 }]
      for (const params of [...ignored, { ...report, progressToken: "7" }]) notified(params)
      notified(report, "notifications/message")
      const [answer] = answers
      if (answer !== undefined) yield* Deferred.succeed(answer, undefined)
      yield* Fiber.join(fiber)
      notified(report)
      assert.deepStrictEqual(reported, [
        { progress: 1, total: 2, message: "x".repeat(1_000) },
        { progress: 1 },
      ])
    }),
  )
})
