/** Streams that stay open for an hour of virtual time, and readers that stop. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import { EventLog } from "../../src/mcp/EventLog.ts"
import { type Headers, mcpHttp, quiet, type Reading } from "../support/McpHttp.ts"
import { scriptedProgram } from "../support/ScriptedProgram.ts"

const both: Headers = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
}

const requestOf = (id: number, method: string, params: unknown = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

const keptAlive = (reading: Reading): number =>
  reading.events().filter(({ comment }) => comment === "keep-alive").length

/** Runs the effect and counts the fibers that have not ended. */
const counting = <A, E, R>(body: (fibers: () => number) => Effect.Effect<A, E, R>) => {
  let fibers = 0
  return Effect.provideService(
    body(() => fibers),
    Metric.FiberRuntimeMetrics,
    {
      recordFiberStart: () => {
        fibers++
      },
      recordFiberEnd: () => {
        fibers--
      },
    },
  )
}

describe("a stream that is open for an hour", () => {
  it.effect("L6 gets a comment every 15 s, keeps its session and adds no fiber", () =>
    counting((fibers) =>
      Effect.gen(function* () {
        const program = scriptedProgram()
        const http = yield* mcpHttp(program.serve)
        const opened = yield* http.request(
          "POST",
          both,
          requestOf(0, "initialize", { protocolVersion: "2025-11-25" }),
        )
        const headers = { ...both, "mcp-session-id": opened.headers["mcp-session-id"] ?? "" }
        const own = yield* http.request("GET", headers)
        const sse = yield* http.request("GET", {}, undefined, undefined, "/sse")
        const posting = yield* Effect.forkChild(
          http.request("POST", headers, requestOf(1, "wait")),
          { startImmediately: true },
        )
        yield* quiet
        yield* TestClock.adjust("1 second")
        const call = yield* Fiber.join(posting)
        yield* TestClock.adjust("1 minute")
        yield* quiet
        const before = fibers()
        yield* TestClock.adjust("1 hour")
        yield* quiet
        assert.strictEqual(fibers(), before)
        for (const reading of [own, sse, call]) {
          assert.isAtLeast(keptAlive(reading), 240)
          assert.isFalse(reading.isOver())
        }
        yield* program.respond(0, "after an hour")
        yield* quiet
        assert.include(call.text(), "after an hour")
      }),
    ),
  )
})

describe("a reader that stops", () => {
  it.effect("L6 costs the bound of its log, and the program goes on after the time for it", () =>
    Effect.gen(function* () {
      const log = new EventLog({ maxChars: 10_000, stallMs: 1000 })
      log.attach()
      let sent = 0
      let largest = 0
      const sending = Effect.forEach(
        Array.from({ length: 1000 }),
        () =>
          Effect.suspend(() => {
            log.push("x".repeat(100))
            sent++
            largest = Math.max(largest, log.size)
            return log.hasRoom
          }),
        { discard: true },
      )
      const sender = yield* Effect.forkChild(sending, { startImmediately: true })
      yield* quiet
      assert.isAtMost(sent, 101)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(sender)
      assert.strictEqual(sent, 1000)
      assert.isAtMost(largest, 10_100)
    }),
  )
})
