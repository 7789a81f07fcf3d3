import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import {
  refusedCall,
  type ToolCall,
  type ToolResult,
  type TurnTools,
} from "../../src/ToolRuntime.ts"
import { ToolCalls } from "../../src/turn/ToolCalls.ts"
import { callItem, outputItem } from "../support.ts"

/** Tools whose name gives the duration of a call; a name with `reads` may run in parallel. */
const tools = (log: Array<string>): TurnTools => ({
  specs: Effect.succeed([]),
  isReadOnly: (call) => nameOf(call).startsWith("reads"),
  run: (call): Effect.Effect<ToolResult> =>
    Effect.gen(function* () {
      const name = nameOf(call)
      if (name === "unknown") return refusedCall("unsupported call: unknown")
      log.push(`${call.call_id} begins`)
      yield* Effect.sleep(`${Number(/\d+/.exec(name)?.[0])} millis`)
      log.push(`${call.call_id} ends`)
      return { output: name, ...(name.endsWith("image") ? { images: [`data:${name}`] } : {}) }
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => log.push(`${call.call_id} stopped`)))),
})

const nameOf = (call: ToolCall) => (call.type === "local_shell_call" ? "" : call.name)

const setUp = Effect.gen(function* () {
  const log: Array<string> = []
  const emitted: Array<EventMsg> = []
  const calls = yield* ToolCalls.make(tools(log), {
    eventCallId: (id) => id,
    recordCall: () => Effect.succeed(true),
    emit: (messages) => Effect.sync(() => void emitted.push(...messages)),
  })
  const finish = Effect.map(calls.finish, (messages) => void emitted.push(...messages))
  return { calls, finish, log, emitted }
})

const output = (id: string, text: string): EventMsg => ({
  type: "raw_response_item",
  item: outputItem(id, text),
})

describe("ToolCalls", () => {
  it.effect("runs read-only calls in parallel and records them in their order", () =>
    Effect.gen(function* () {
      const { calls, finish, log, emitted } = yield* setUp
      const run = yield* Effect.forkChild(
        Effect.gen(function* () {
          yield* calls.start(callItem("reads 300", "a"))
          yield* calls.start(callItem("reads 100", "b"))
          yield* finish
        }),
        { startImmediately: true },
      )
      yield* TestClock.adjust("300 millis")
      yield* Fiber.join(run)
      assert.deepStrictEqual(log, ["a begins", "b begins", "b ends", "a ends"])
      assert.deepStrictEqual(emitted, [output("a", "reads 300"), output("b", "reads 100")])
    }),
  )

  it.effect("reports a refused call as one that failed, before its output", () =>
    Effect.gen(function* () {
      const { calls, emitted, finish } = yield* setUp
      yield* calls.start(callItem("unknown", "a"))
      yield* finish
      assert.deepStrictEqual(emitted, [
        { type: "tool_call_begin", call_id: "a", tool: "unknown", arguments: {} },
        {
          type: "tool_call_end",
          call_id: "a",
          tool: "unknown",
          duration: { secs: 0, nanos: 0 },
          result: { Err: "unsupported call: unknown" },
        },
        output("a", "unsupported call: unknown"),
      ])
    }),
  )

  it.effect(
    "runs a call that may change something after all before it, and before all after it",
    () =>
      Effect.gen(function* () {
        const { calls, finish, log, emitted } = yield* setUp
        const run = yield* Effect.forkChild(
          Effect.gen(function* () {
            for (const [name, id] of [
              ["reads 200", "a"],
              ["writes 50", "b"],
              ["reads 10", "c"],
            ] as const) {
              yield* calls.start(callItem(name, id))
            }
            yield* finish
          }),
          { startImmediately: true },
        )
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(run)
        assert.deepStrictEqual(log, [
          "a begins",
          "a ends",
          "b begins",
          "b ends",
          "c begins",
          "c ends",
        ])
        assert.deepStrictEqual(emitted, [
          output("a", "reads 200"),
          output("b", "writes 50"),
          output("c", "reads 10"),
        ])
      }),
  )

  it.effect("runs at most eight read-only calls at a time", () =>
    Effect.gen(function* () {
      const { calls, finish, log } = yield* setUp
      const ids = Array.from({ length: 20 }, (_, n) => `${n}`)
      const run = yield* Effect.forkChild(
        Effect.andThen(
          Effect.forEach(ids, (id) => calls.start(callItem("reads 100", id))),
          finish,
        ),
        { startImmediately: true },
      )
      yield* TestClock.adjust("99 millis")
      assert.strictEqual(log.length, 8)
      yield* TestClock.adjust("201 millis")
      yield* Fiber.join(run)
      assert.strictEqual(log.length, 40)
    }),
  )

  it.effect("adds the images of all calls after their outputs", () =>
    Effect.gen(function* () {
      const { calls, finish, emitted } = yield* setUp
      const run = yield* Effect.forkChild(
        Effect.gen(function* () {
          yield* calls.start(callItem("writes 1 image", "a"))
          yield* calls.start(callItem("reads 2 image", "b"))
          yield* finish
          yield* finish
        }),
        { startImmediately: true },
      )
      yield* TestClock.adjust("3 millis")
      yield* Fiber.join(run)
      assert.deepStrictEqual(emitted, [
        output("a", "writes 1 image"),
        output("b", "reads 2 image"),
        {
          type: "raw_response_item",
          item: {
            type: "message",
            role: "user",
            content: [
              { type: "input_image", image_url: "data:writes 1 image" },
              { type: "input_image", image_url: "data:reads 2 image" },
            ],
          },
        },
      ])
    }),
  )

  it.effect("L8 no call outlives the scope", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { calls, log } = yield* Scope.provide(setUp, scope)
      yield* calls.start(callItem("reads 500", "a"))
      yield* TestClock.adjust("100 millis")
      yield* Scope.close(scope, yield* Effect.exit(Effect.interrupt))
      assert.deepStrictEqual(log, ["a begins", "a stopped"])
    }),
  )
})
