/** What a call and a delivered event cost the server, in operations, fibers, timers and bytes. Never in time. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Scheduler from "effect/Scheduler"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { ListenerEnd } from "@colloquy/core/listeners/Listener"
import { ConversationId } from "@colloquy/protocol/Ids"
import * as McpServer from "../src/McpServer.ts"
import { TurnForwarder } from "../src/mcp/codex/TurnForwarder.ts"
import { callContext } from "./support/CallContext.ts"
import { serve } from "./support/PeerHarness.ts"
import { type Harness, type HarnessOptions, toolCall, withServer } from "./support/Harness.ts"
import { read } from "./support/Wire.ts"

const threadId = ConversationId.make("01a205be-6d44-7679-bef1-96f5ec412ffb")

/** A scheduler that counts the operations of all fibers that use it. */
class CountingScheduler extends Scheduler.MixedScheduler {
  operations = 0
  override shouldYield(fiber: Parameters<Scheduler.MixedScheduler["shouldYield"]>[0]): boolean {
    this.operations++
    return super.shouldYield(fiber)
  }
}

interface Costs {
  readonly operations: number
  readonly fibers: number
  readonly timers: number
  /** Times that texts were handed to the connection. */
  readonly sends: number
  readonly texts: ReadonlyArray<string>
}

/** Runs `use` against a server whose connection accepts texts at once; `costs` measures what the server does about a part. */
const measured = <A>(
  options: HarnessOptions,
  use: (
    server: Harness,
    costs: (part: Effect.Effect<unknown>) => Effect.Effect<Costs>,
  ) => Effect.Effect<A>,
) => {
  const scheduler = new CountingScheduler()
  const sends: Array<ReadonlyArray<string>> = []
  let timers = 0
  const serveMeasured: typeof McpServer.serve = (connection, served) =>
    Effect.clockWith((live) => {
      const clock: Clock.Clock = Object.create(live, {
        sleep: {
          value: (duration: Parameters<Clock.Clock["sleep"]>[0]) => {
            timers++
            return live.sleep(duration)
          },
        },
      }) as Clock.Clock
      const sendNow = (texts: ReadonlyArray<string>) => {
        sends.push(texts)
        return true
      }
      return McpServer.serve({ ...connection, sendNow }, served).pipe(
        Effect.provideService(Scheduler.Scheduler, scheduler),
        Effect.provideService(Clock.Clock, clock),
      )
    })
  return withServer({ ...options, serve: serveMeasured }, (server) =>
    use(server, (part) =>
      Effect.gen(function* () {
        const next = Effect.map(Effect.forkChild(Effect.void), (fiber) => fiber.id)
        scheduler.operations = 0
        timers = 0
        sends.length = 0
        const from = yield* next
        yield* part
        const fibers = (yield* next) - from - 1
        const { operations } = scheduler
        return { operations, fibers, timers, sends: sends.length, texts: sends.flat() }
      }),
    ),
  )
}

const calls = 64

/** The costs of many calls that arrive together, per call. */
const costsOfCalls = (request: (id: number) => unknown) =>
  measured({}, (server, costs) =>
    Effect.gen(function* () {
      const all = (from: number) => Array.from({ length: calls }, (_, n) => request(from + n))
      const run = (from: number) => Effect.andThen(server.send(...all(from)), server.quiet)
      yield* run(0)
      const total = yield* costs(run(calls))
      assert.deepStrictEqual(
        total.texts.map((text) => read(text).id),
        Array.from({ length: calls }, (_, n) => calls + n),
      )
      return { ...total, operations: total.operations / calls }
    }),
  )

describe("the costs of a call", () => {
  it.effect("a ping needs no fiber, no timer, and no operation of its own", () =>
    Effect.gen(function* () {
      const { fibers, operations, timers } = yield* costsOfCalls((id) => ({
        jsonrpc: "2.0",
        id,
        method: "ping",
      }))
      assert.deepStrictEqual({ fibers, timers }, { fibers: 0, timers: 0 })
      assert.isBelow(operations, 1)
    }),
  )

  it.effect("a call of an unknown tool needs no more than a ping", () =>
    Effect.gen(function* () {
      const { fibers, operations, timers } = yield* costsOfCalls((id) => toolCall(id, "nothing"))
      assert.deepStrictEqual({ fibers, timers }, { fibers: 0, timers: 0 })
      assert.isBelow(operations, 1)
    }),
  )

  it.effect("a call whose arguments are refused needs no more than a ping", () =>
    Effect.gen(function* () {
      const { fibers, operations, timers } = yield* costsOfCalls((id) =>
        toolCall(id, "codex-reply", { thread: 1 }),
      )
      assert.deepStrictEqual({ fibers, timers }, { fibers: 0, timers: 0 })
      assert.isBelow(operations, 1)
    }),
  )
})

const delta = (text: string): Delivery => ({
  _tag: "Event",
  atMs: 0,
  event: { seq: -1, id: "1", msg: { type: "agent_message_delta", delta: text } },
})

/** Forwards the batches of a conversation to a connection that accepts texts at once, and gives the costs of that. */
const costsOfBatches = (batches: ReadonlyArray<ReadonlyArray<Delivery>>) =>
  Effect.gen(function* () {
    const scheduler = new CountingScheduler()
    const sends: Array<ReadonlyArray<string>> = []
    const sendNow = (texts: ReadonlyArray<string>) => {
      sends.push(texts)
      return true
    }
    const { peer } = yield* serve({ sendNow })
    const deliveries = yield* Queue.unbounded<Delivery, ListenerEnd>()
    const forwarder = new TurnForwarder(callContext(peer.control), {
      conversation: { id: threadId },
      turnId: "1",
      listener: { take: Queue.takeAll(deliveries) },
      events: "on",
      progress: undefined,
      questions: undefined,
    })
    yield* forwarder.run.pipe(
      Effect.provideService(Scheduler.Scheduler, scheduler),
      Effect.forkChild({ startImmediately: true }),
    )
    yield* Effect.yieldNow
    scheduler.operations = 0
    for (const batch of batches) {
      yield* Queue.offerAll(deliveries, batch)
      for (let n = 0; n < 4; n++) yield* Effect.yieldNow
    }
    return { operations: scheduler.operations, sends: sends.length, texts: sends.flat() }
  }).pipe(Effect.scoped)

describe("the costs of a delivered event", () => {
  const events = Array.from({ length: 1000 }, () => delta("word "))
  /** What the connection carries about a delta besides its text. */
  const framing = 183

  it.effect("an event that comes alone is one send, and needs few operations", () =>
    Effect.gen(function* () {
      const { operations, sends, texts } = yield* costsOfBatches(events.map((event) => [event]))
      assert.deepStrictEqual([sends, texts.length], [1000, 1000])
      assert.isAtMost(operations / 1000, 1.1 * 9)
    }),
  )

  it.effect("events that come together are one send, and need no operation each", () =>
    Effect.gen(function* () {
      const { operations, sends, texts } = yield* costsOfBatches([events])
      assert.deepStrictEqual([sends, texts.length], [1, 1000])
      assert.isAtMost(operations, 1.1 * 9)
    }),
  )

  it.effect("a delta is written with few bytes besides its text", () =>
    Effect.gen(function* () {
      const { texts } = yield* costsOfBatches([events])
      const bytes = texts.join("\n").length / texts.length
      assert.isAtMost(bytes, 1.1 * (framing + "word ".length))
    }),
  )
})
