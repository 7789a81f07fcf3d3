/** What a call over HTTP costs, in operations, fibers and timers, its client in memory included. Never in time. */
import { withCore } from "../../../server/test/support/Harness.ts"
import * as Features from "@colloquy/server/features/Features"
import { tool } from "@colloquy/server/features/Tool"
import * as McpServer from "@colloquy/server/McpServer"
import type { Server } from "@colloquy/server/Server"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import { type Headers, mcpHttp } from "../support/McpHttp.ts"

/** A scheduler that counts the operations of all fibers that use it. */
class CountingScheduler extends Scheduler.MixedScheduler {
  operations = 0
  override shouldYield(fiber: Parameters<Scheduler.MixedScheduler["shouldYield"]>[0]): boolean {
    this.operations++
    return super.shouldYield(fiber)
  }
}

const echo = tool({
  name: "echo",
  input: { type: "object", properties: { text: { type: "string" } } },
  run: ({ text }) => Effect.succeed(String(text)),
})

const both: Headers = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
}

const requestOf = (id: number, method: string, params: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

const clientInfo = { name: "client", version: "1" }

const initialize = requestOf(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo,
})

const call = requestOf(1, "tools/call", { name: "echo", arguments: { text: "text" } })

/** The costs of the last of several calls. */
const costsOfCall = Effect.fnUntraced(function* (
  scheduler: CountingScheduler,
  timersSoFar: () => number,
) {
  const context = yield* Effect.context<Server>()
  const http = yield* mcpHttp((connection) =>
    Effect.provideContext(McpServer.serve(connection), context),
  )
  const post = (headers: Headers, body: string) =>
    Effect.scoped(Effect.tap(http.request("POST", headers, body), ({ over }) => over))
  const opened = yield* post(both, initialize)
  const session = { ...both, "mcp-session-id": opened.headers["mcp-session-id"] ?? "" }
  yield* Effect.repeat(post(session, call), { times: 4 })
  const next = Effect.map(Effect.forkChild(Effect.void), ({ id }) => id)
  const from = yield* next
  const timersBefore = timersSoFar()
  scheduler.operations = 0
  const response = yield* post(session, call)
  const { operations } = scheduler
  const fibers = (yield* next) - from - 1
  assert.include(response.text(), '"text":"text"')
  return { operations, fibers, timers: timersSoFar() - timersBefore }
})

describe("a call of a tool over HTTP", () => {
  it.effect("costs few operations and fibers, and no timer", () =>
    Effect.gen(function* () {
      const features = yield* Features.make({ tools: [echo] })
      const scheduler = new CountingScheduler()
      let timers = 0
      const live = yield* Clock.Clock
      const clock = Object.create(live, {
        sleep: {
          value: (duration: Parameters<Clock.Clock["sleep"]>[0]) => {
            timers++
            return live.sleep(duration)
          },
        },
      }) as Clock.Clock
      const {
        operations,
        fibers,
        timers: started,
      } = yield* withCore(
        [],
        () => Effect.scoped(costsOfCall(scheduler, () => timers)),
        undefined,
        undefined,
        undefined,
        undefined,
        { features },
      ).pipe(
        Effect.provideService(Scheduler.Scheduler, scheduler),
        Effect.provideService(Clock.Clock, clock),
      )
      // 169 measured, those of the client included; 10 % more is a regression.
      assert.isAtMost(operations, 186)
      assert.isAtMost(fibers, 4)
      assert.strictEqual(started, 0)
    }),
  )
})
