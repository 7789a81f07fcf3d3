import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../../src/ConversationManager.ts"
import { answer, isEnd, isType, modelError, says, settings, settle, takeUntil } from "../support.ts"
import { diskFull, observed } from "../stores.ts"
import { lines, observing, shown } from "./support.ts"
import { caller, created, managed, turnWithApproval, withApproval } from "./turns.ts"

describe("spans", () => {
  it.effect(
    "a turn, its requests, its tool call and its approval have spans by the conventions",
    () =>
      Effect.gen(function* () {
        const telemetry = observing()
        const { conversation, turnId } = yield* managed(telemetry, withApproval)(turnWithApproval)
        const model = {
          "gen_ai.provider.name": "mock",
          "gen_ai.request.model": "mock-model",
          "gen_ai.conversation.id": conversation.id,
        }
        const [turn, first, tool] = telemetry.spans
        assert.deepStrictEqual(telemetry.spans.map(shown), [
          {
            name: "invoke_agent colloquy",
            kind: "internal",
            parent: caller.spanId,
            attributes: {
              "gen_ai.operation.name": "invoke_agent",
              ...model,
              "gen_ai.agent.name": "colloquy",
              "colloquy.turn.id": turnId,
              "colloquy.turn.outcome": "completed",
              "gen_ai.usage.input_tokens": 30,
              "gen_ai.usage.output_tokens": 12,
            },
            seconds: 5,
            exit: "Success",
          },
          {
            name: "chat mock-model",
            kind: "client",
            parent: turn?.spanId,
            attributes: {
              "gen_ai.operation.name": "chat",
              ...model,
              "gen_ai.usage.input_tokens": 10,
              "gen_ai.usage.output_tokens": 5,
              "gen_ai.usage.cache_read.input_tokens": 1,
            },
            seconds: 5,
            exit: "Success",
          },
          {
            name: "execute_tool ask",
            kind: "internal",
            parent: turn?.spanId,
            attributes: {
              "gen_ai.operation.name": "execute_tool",
              "gen_ai.conversation.id": conversation.id,
              "gen_ai.tool.name": "ask",
              "gen_ai.tool.type": "function",
              "gen_ai.tool.call.id": "call-1",
            },
            seconds: 3,
            exit: "Success",
          },
          {
            name: "approval exec",
            kind: "internal",
            parent: tool?.spanId,
            attributes: {
              "gen_ai.conversation.id": conversation.id,
              "gen_ai.tool.call.id": "call-1",
              "colloquy.approval.kind": "exec",
              "colloquy.approval.decision": "approved",
              "colloquy.approval.reason": "answered",
            },
            seconds: 3,
            exit: "Success",
          },
          {
            name: "chat mock-model",
            kind: "client",
            parent: turn?.spanId,
            attributes: {
              "gen_ai.operation.name": "chat",
              ...model,
              "gen_ai.usage.input_tokens": 20,
              "gen_ai.usage.output_tokens": 7,
              "gen_ai.usage.cache_read.input_tokens": 1,
            },
            seconds: 0,
            exit: "Success",
          },
        ])
        assert.isDefined(first)
        assert.deepStrictEqual(
          new Set(telemetry.spans.map(({ traceId }) => traceId)),
          new Set([caller.traceId]),
        )
      }),
  )

  it.effect("a failed turn has the type of the error and no text of it", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      const failing = Stream.fail(modelError({ retryable: false, message: "the secret prompt" }))
      yield* managed(telemetry, [failing])(
        Effect.gen(function* () {
          const { conversation, listener } = yield* created
          yield* conversation.submit(says("go"))
          yield* takeUntil(listener, isEnd)
          yield* settle
        }),
      )
      const [turn, request] = telemetry.spans.map(shown)
      assert.strictEqual(turn?.attributes["error.type"], "Stream")
      assert.strictEqual(turn?.attributes["colloquy.turn.outcome"], "failed")
      assert.strictEqual(request?.attributes["error.type"], "Stream")
      assert.deepStrictEqual([turn?.exit, request?.exit], ["Failure", "Failure"])
      assert.notInclude(
        JSON.stringify(
          telemetry.spans.map(({ attributes, status }) => [
            ...attributes,
            "exit" in status ? status.exit : "",
          ]),
        ),
        "secret",
      )
      const scraped = yield* telemetry.scrape
      assert.include(scraped, `colloquy_turns_total{outcome="failed"} 1`)
      assert.lengthOf(
        lines(scraped, "gen_ai_client_operation_duration_seconds_count").filter((line) =>
          line.includes(`error_type="Stream"`),
        ),
        2,
      )
    }),
  )

  it.effect("an interrupt ends every open span once", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      yield* managed(
        telemetry,
        withApproval,
      )(
        Effect.gen(function* () {
          const { conversation, listener } = yield* created
          yield* conversation.submit(says("go"))
          yield* settle
          yield* TestClock.adjust("2 seconds")
          yield* takeUntil(listener, isType("exec_approval_request"))
          yield* conversation.submit({ type: "interrupt" })
          yield* takeUntil(listener, isEnd)
          yield* settle
        }),
      )
      assert.deepStrictEqual(
        telemetry.spans.map(({ name, status }) => [name, status._tag]),
        [
          ["invoke_agent colloquy", "Ended"],
          ["chat mock-model", "Ended"],
          ["execute_tool ask", "Ended"],
          ["approval exec", "Ended"],
        ],
      )
      assert.include(yield* telemetry.scrape, `colloquy_turns_total{outcome="interrupted"} 1`)
    }),
  )

  it.effect("a turn that cannot be recorded ends with its conversation", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      const store = observed()
      yield* managed(telemetry, [answer("hi")], { store: store.layer })(
        Effect.gen(function* () {
          const { conversation } = yield* created
          // The turn has begun its request by then.
          store.faults.append = () => Effect.andThen(settle, diskFull("append"))
          yield* Effect.exit(conversation.submit(says("go")))
          yield* settle
        }),
      )
      assert.isAbove(telemetry.spans.length, 0)
      for (const { name, status } of telemetry.spans) assert.strictEqual(status._tag, "Ended", name)
    }),
  )

  it.effect("calls without a trace begin one for each turn", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      yield* managed(telemetry, [answer("hi")])(
        Effect.gen(function* () {
          const { conversation, listener } = yield* created
          for (const text of ["one", "two"]) {
            yield* conversation.submit(says(text))
            yield* takeUntil(listener, isEnd)
          }
          yield* settle
        }),
      )
      const turns = telemetry.spans.filter(({ name }) => name === "invoke_agent colloquy")
      assert.lengthOf(turns, 2)
      assert.lengthOf(new Set(turns.map(({ traceId }) => traceId)), 2)
    }),
  )
})

describe("without telemetry", () => {
  it.effect("a turn starts no span and makes no series; with it, it starts no further fiber", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      const fiberId = Effect.map(Effect.forkChild(Effect.void), ({ id }) => id)
      const counted = Effect.gen(function* () {
        const { conversation, listener } = yield* created
        const from = yield* fiberId
        yield* Effect.withParentSpan(conversation.submit(says("go")), caller)
        yield* takeUntil(listener, isEnd)
        yield* settle
        return (yield* fiberId) - from
      })
      const registry: Metric.MetricRegistry = new Map()
      const without = yield* managed({ layer: Layer.empty }, [answer("hi")])(counted).pipe(
        Effect.provideService(Tracer.Tracer, telemetry.tracer),
        Effect.provideService(Metric.MetricRegistry, registry),
        Effect.withTracerEnabled(false),
      )
      assert.isEmpty(telemetry.spans)
      assert.strictEqual(registry.size, 0)
      assert.isAtMost(yield* managed(telemetry, [answer("hi")])(counted), without)
      assert.lengthOf(telemetry.spans, 2)
    }),
  )
})

describe("metrics", () => {
  it.effect("counts tokens, durations, outcomes and questions", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      const scraped = yield* managed(
        telemetry,
        withApproval,
      )(Effect.andThen(turnWithApproval, telemetry.scrape))
      const of = `gen_ai_operation_name="chat",gen_ai_provider_name="mock",gen_ai_request_model="mock-model"`
      for (const line of [
        `gen_ai_client_token_usage_sum{${of},gen_ai_token_type="input"} 30`,
        `gen_ai_client_token_usage_count{${of},gen_ai_token_type="output"} 2`,
        `gen_ai_client_operation_duration_seconds_sum{${of}} 5`,
        `gen_ai_client_operation_duration_seconds_count{${of.replace("chat", "execute_tool")}} 1`,
        `gen_ai_client_operation_duration_seconds_count{${of.replace("chat", "invoke_agent")}} 1`,
        `colloquy_turns_total{outcome="completed"} 1`,
        `colloquy_turns_total{outcome="failed"} 0`,
        `colloquy_question_duration_seconds_sum{reason="answered"} 3`,
        `colloquy_conversations_loaded 1`,
        `colloquy_turns_running 0`,
        `colloquy_questions_pending 0`,
        `colloquy_evictions_total 0`,
      ]) {
        assert.include(scraped.split("\n"), line)
      }
    }),
  )

  it.effect("the gauges say what is so when they are read", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      const scraped = yield* managed(
        telemetry,
        withApproval,
      )(
        Effect.gen(function* () {
          const { conversation, listener } = yield* created
          yield* conversation.attach({ from: 0 })
          yield* conversation.submit(says("go"))
          yield* settle
          yield* TestClock.adjust("2 seconds")
          yield* takeUntil(listener, isType("exec_approval_request"))
          yield* conversation.submit(says("next"), { whileRunning: "wait" })
          return yield* telemetry.scrape
        }),
      )
      for (const line of [
        `colloquy_turns_running 1`,
        `colloquy_questions_pending 1`,
        `colloquy_inputs_queued 1`,
        `colloquy_listeners 2`,
        `colloquy_inbox_longest 0`,
      ]) {
        assert.include(scraped.split("\n"), line)
      }
      const [lag = ""] = lines(scraped, "colloquy_listener_lag ")
      // The second listener has read nothing: all durable events of the log.
      assert.isAtLeast(Number(lag.split(" ")[1]), 5)
    }),
  )

  it.effect("counts evictions, and the gauges go with the manager", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      yield* managed(telemetry, [answer("hi")], { idleTimeToLive: "1 second" })(
        Effect.gen(function* () {
          yield* Effect.scoped(created)
          yield* TestClock.adjust("10 seconds")
          yield* settle
          const scraped = yield* telemetry.scrape
          assert.include(scraped, "colloquy_evictions_total 1")
          assert.include(scraped, "colloquy_conversations_loaded 0")
        }),
      )
      assert.notInclude(yield* telemetry.scrape, "colloquy_conversations_loaded")
    }),
  )

  it.effect("a client that names many models adds no series beyond a bound", () =>
    Effect.gen(function* () {
      const telemetry = observing()
      const scraped = yield* managed(telemetry, [answer("hi")])(
        Effect.gen(function* () {
          const manager = yield* ConversationManager
          for (let index = 0; index < 100; index++) {
            const conversation = yield* manager.create({ ...settings, model: `model-${index}` })
            const turn = Effect.gen(function* () {
              const listener = yield* conversation.attach()
              yield* conversation.submit(says("go"))
              yield* takeUntil(listener, isEnd)
            })
            yield* Fiber.join(yield* Effect.forkChild(Effect.scoped(turn)))
          }
          return yield* telemetry.scrape
        }),
      )
      const counts = lines(scraped, "gen_ai_client_operation_duration_seconds_count").filter(
        (line) => line.includes(`"chat"`),
      )
      assert.lengthOf(counts, 65)
      assert.isTrue(counts.some((line) => line.includes(`model="other"} 36`)))
    }),
  )
})
