import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { numberDrafts } from "../../src/decider/State.ts"
import type { ConversationSettings } from "../../src/ConversationSettings.ts"
import { EventLog } from "../../src/log/EventLog.ts"
import { ModelClient } from "../../src/ModelClient.ts"
import { ToolRuntime } from "../../src/ToolRuntime.ts"
import * as Turn from "../../src/turn/Turn.ts"
import type { Step, TurnPort } from "../../src/turn/TurnPort.ts"
import {
  assistantItem,
  callItem,
  completed,
  conversationId,
  delta,
  done,
  modelError,
  outputItem,
  type Response,
  scripted,
  settings,
  tools,
  usage,
  userItem,
  withRetries,
} from "../support.ts"

type Advance = Parameters<TurnPort["advance"]>[0]

/** Creates a turn on a port that continues the turn exactly as long as there are follow-ups. */
const setUp = (
  responses: ReadonlyArray<Response>,
  options: {
    readonly tools?: ToolRuntime["Service"]
    readonly settings?: ConversationSettings
  } = {},
) => {
  const script = scripted(...responses)
  const log = new EventLog()
  const emitted: Array<EventMsg> = []
  const asked: Array<Advance> = []
  let total: Step["usage"]
  const record = (messages: ReadonlyArray<EventMsg>) => {
    log.append(
      numberDrafts(
        log.seq,
        messages.map((msg) => ({ id: "t", msg })),
      ),
    )
    for (const msg of messages) {
      if (msg.type === "token_count") total = msg.info?.total_token_usage ?? total
    }
  }
  record([{ type: "raw_response_item", item: userItem("hi") }])
  const port: TurnPort = {
    ask: () => Effect.die("no tool asks here"),
    granted: () => Effect.succeed(false),
    callClient: () => Effect.die("no client runs a tool here"),
    elicit: () => Effect.die("no tool server asks here"),
    permissions: Effect.succeed({}),
    requestInput: () => Effect.die("no agent asks here"),
    canRequestInput: Effect.succeed(false),
    eventCallId: (id) => id,
    imageNames: Effect.succeed,
    recordCall: () => Effect.succeed(true),
    emit: (messages) =>
      Effect.sync(() => {
        emitted.push(...messages)
        record(messages)
      }),
    emitCompaction: (messages) =>
      Effect.sync(() => {
        emitted.push(...messages)
        record(messages)
      }),
    advance: (progress) =>
      Effect.sync(() => {
        asked.push(progress)
        return progress.followUp
          ? { history: log.history(), seq: log.seq - 1, usage: total, tokens: log.tokens() }
          : undefined
      }),
  }
  const run = Turn.run(
    { id: "t", conversationId, settings: options.settings ?? settings },
    port,
  ).pipe(
    Effect.provideService(ModelClient, script.service),
    Effect.provideService(ToolRuntime, options.tools ?? tools()),
  )
  return { run, requests: script.requests, emitted, asked }
}

const record = (item: ResponseItem): EventMsg => ({ type: "raw_response_item", item })
const noUsage: EventMsg = { type: "token_count", info: null, rate_limits: null }
const final = [done(assistantItem("ok")), completed]

describe("Turn", () => {
  it.effect("sends the settings and the history", () =>
    Effect.gen(function* () {
      const { run, requests } = setUp([final], {
        settings: {
          ...settings,
          baseInstructions: "base",
          developerInstructions: "dev",
          effort: "high",
          supportsReasoning: true,
          verbosity: "low",
        },
        tools: tools({ look: () => Effect.succeed("") }),
      })
      yield* run
      assert.deepStrictEqual(requests, [
        {
          conversationId,
          provider: settings.provider,
          model: "mock-model",
          instructions: "base\n\ndev",
          input: [userItem("hi")],
          tools: [
            {
              type: "function",
              name: "look",
              description: "look",
              parameters: { type: "object" },
            },
          ],
          effort: "high",
          summary: "auto",
          verbosity: "low",
        },
      ])
    }),
  )

  it.effect("reports the rate limits of the provider with the token count of the response", () =>
    Effect.gen(function* () {
      const rateLimits = { primary: { used_percent: 12 }, secondary: null }
      const { run, emitted } = setUp([
        [done(assistantItem("ok")), { _tag: "Completed", usage: usage(1, 2), rateLimits }],
      ])
      yield* run
      const last = emitted.at(-1)
      assert.deepStrictEqual(
        last?.type === "token_count" ? last.rate_limits : undefined,
        rateLimits,
      )
    }),
  )

  it.effect("runs the calls of a response in order, each before the next event is read", () =>
    Effect.gen(function* () {
      const trace: Array<string> = []
      const traced = (name: string) =>
        Stream.sync(() => {
          trace.push(name)
          return completed
        }).pipe(Stream.drain)
      const { run, emitted, requests } = setUp(
        [
          Stream.fromArray([
            delta("x"),
            done(callItem("slow", "1")),
            done(callItem("quick", "2")),
          ]).pipe(
            Stream.concat(traced("read on")),
            Stream.concat(Stream.fromArray([done(callItem("quick", "3")), completed])),
          ),
          final,
        ],
        {
          tools: tools({
            slow: (_, context) =>
              Effect.andThen(
                Effect.yieldNow,
                Effect.as(
                  context.emit({ type: "background_event", message: "slow runs" }),
                  (trace.push("slow"), "slow out"),
                ),
              ),
            quick: (call) => Effect.sync(() => `quick ${(trace.push("quick"), call.call_id)}`),
          }),
        },
      )
      yield* run
      assert.deepStrictEqual(trace, ["slow", "quick", "read on", "quick"])
      assert.deepStrictEqual(emitted, [
        { type: "agent_message_delta", delta: "x" },
        record(callItem("slow", "1")),
        { type: "background_event", message: "slow runs" },
        record(outputItem("1", "slow out")),
        record(callItem("quick", "2")),
        record(outputItem("2", "quick 2")),
        record(callItem("quick", "3")),
        record(outputItem("3", "quick 3")),
        noUsage,
        record(assistantItem("ok")),
        { type: "agent_message", message: "ok" },
        noUsage,
      ])
      assert.deepStrictEqual(requests[1]?.input, [
        userItem("hi"),
        callItem("slow", "1"),
        outputItem("1", "slow out"),
        callItem("quick", "2"),
        outputItem("2", "quick 2"),
        callItem("quick", "3"),
        outputItem("3", "quick 3"),
      ])
    }),
  )

  it.effect("gives the call of an unknown tool an output and sends another request", () =>
    Effect.gen(function* () {
      const custom = { type: "custom_tool_call", call_id: "2", name: "b", input: "" } as const
      const shell = {
        type: "local_shell_call",
        call_id: "3",
        status: "completed",
        action: { type: "exec", command: ["ls"] },
      } as const
      const { run, requests } = setUp([
        [done(callItem("a", "1")), done(custom), done(shell), completed],
        final,
      ])
      yield* run
      assert.deepStrictEqual(requests[1]?.input.slice(1), [
        callItem("a", "1"),
        outputItem("1", "unsupported call: a"),
        custom,
        {
          type: "custom_tool_call_output",
          call_id: "2",
          output: "unsupported custom tool call: b",
        },
        shell,
        outputItem("3", "unsupported call: local_shell"),
      ])
    }),
  )

  it.effect(
    "gives the call of a tool that fails with a defect or throws an output, and continues",
    () =>
      Effect.gen(function* () {
        const { run, emitted, requests } = setUp(
          [[done(callItem("dies", "1")), done(callItem("throws", "2")), completed], final],
          {
            tools: tools({
              dies: () => Effect.die(new Error("secret")),
              throws: () => {
                throw new Error("secret")
              },
            }),
          },
        )
        yield* run
        const text = "execution error: the tool failed with an internal error"
        assert.deepStrictEqual(
          emitted.filter(({ type }) => type === "raw_response_item"),
          [
            record(callItem("dies", "1")),
            record(outputItem("1", text)),
            record(callItem("throws", "2")),
            record(outputItem("2", text)),
            record(assistantItem("ok")),
          ],
        )
        assert.strictEqual(requests.length, 2)
      }),
  )

  it.effect(
    "waits between attempts, reports each, and the next one contains what was recorded",
    () =>
      Effect.gen(function* () {
        const broken = Stream.concat(
          Stream.fromArray([delta("lost"), done(callItem("look", "1")), delta("more")]),
          Stream.fail(modelError({ retryable: true, retryAfterMs: 1500 })),
        )
        const { run, emitted, requests, asked } = setUp(
          [broken, Stream.fail(modelError({ retryable: true })), final],
          { tools: tools({ look: () => Effect.succeed("seen") }), settings: withRetries(5) },
        )
        const fiber = yield* Effect.forkChild(run)
        yield* TestClock.adjust(1499)
        assert.deepStrictEqual(emitted.slice(-2), [
          { type: "agent_message_delta", delta: "more" },
          {
            type: "stream_error",
            message: "stream error: boom; retrying 1/5 in 1.5s…",
          },
        ])
        assert.strictEqual(requests.length, 1)
        yield* TestClock.adjust(1)
        assert.strictEqual(requests.length, 2)
        const second = emitted.at(-1)
        const delay = second?.type === "stream_error" ? second.message : ""
        assert.match(delay, /^stream error: boom; retrying 2\/5 in (3[6-9]\d|4[0-3]\d|440)ms…$/)
        yield* TestClock.adjust(359)
        assert.strictEqual(requests.length, 2)
        yield* TestClock.adjust(81)
        yield* Fiber.join(fiber)
        const seen = [userItem("hi"), callItem("look", "1"), outputItem("1", "seen")]
        assert.deepStrictEqual(
          requests.map(({ input }) => input),
          [[userItem("hi")], seen, seen],
        )
        assert.deepStrictEqual(asked.at(-1), { sawSeq: 4, followUp: false, lastMessage: "ok" })
      }),
  )

  it.effect("counts attempts from 1 again after a complete response", () =>
    Effect.gen(function* () {
      const fail = Stream.fail(modelError({ retryable: true, retryAfterMs: 1 }))
      const { run, emitted } = setUp([fail, [done(callItem("a", "1")), completed], fail, final], {
        settings: withRetries(1),
      })
      const fiber = yield* Effect.forkChild(run)
      yield* TestClock.adjust(10)
      yield* Fiber.join(fiber)
      const errors = emitted.filter(({ type }) => type === "stream_error")
      const again: EventMsg = {
        type: "stream_error",
        message: "stream error: boom; retrying 1/1 in 1ms…",
      }
      assert.deepStrictEqual(errors, [again, again])
    }),
  )

  it.effect("fails with the last error when the retries are used up", () =>
    Effect.gen(function* () {
      const error = modelError({ retryable: true, retryAfterMs: 1, message: "still" })
      const { run, requests } = setUp([Stream.fail(error)], { settings: withRetries(2) })
      const fiber = yield* Effect.forkChild(Effect.exit(run))
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.fail(error))
      assert.strictEqual(requests.length, 3)
    }),
  )

  it.effect("fails at once with an error that is not retryable", () =>
    Effect.gen(function* () {
      const error = modelError({ retryable: false, reason: "Key", message: "no key" })
      const { run, emitted, requests } = setUp([Stream.fail(error)], { settings: withRetries(5) })
      assert.deepStrictEqual(yield* Effect.exit(run), Exit.fail(error))
      assert.deepStrictEqual([emitted, requests.length], [[], 1])
    }),
  )

  it.effect("ends with the last message of the final request, or none", () =>
    Effect.gen(function* () {
      const last = Effect.fnUntraced(function* (...responses: ReadonlyArray<Response>) {
        const { run, asked } = setUp(responses)
        yield* run
        return asked.map(({ lastMessage }) => lastMessage)
      })
      const call = done(callItem("a", "1"))
      assert.deepStrictEqual(
        [
          yield* last([done(assistantItem("a")), done(assistantItem("b", "c")), completed]),
          yield* last([done(assistantItem("early")), call, completed], [completed]),
          yield* last([completed]),
          yield* last([delta("only a delta"), completed]),
        ],
        [
          [null, "c"],
          [null, "early", null],
          [null, null],
          [null, null],
        ],
      )
    }),
  )

  it.effect("adds up the usage of its requests", () =>
    Effect.gen(function* () {
      const { run, emitted } = setUp([
        [done(callItem("a", "1")), { _tag: "Completed", usage: usage(10, 5) }],
        [done(callItem("a", "2")), completed],
        [done(assistantItem("ok")), { _tag: "Completed", usage: usage(20, 7) }],
      ])
      yield* run
      assert.deepStrictEqual(
        emitted.flatMap((msg) =>
          msg.type === "token_count" ? [msg.info?.total_token_usage.total_tokens] : [],
        ),
        [15, 15, 42],
      )
    }),
  )

  it.effect("stops the model when it is interrupted", () =>
    Effect.gen(function* () {
      let released = false
      const { run } = setUp([
        Stream.concat(Stream.succeed(delta("x")), Stream.never).pipe(
          Stream.ensuring(Effect.sync(() => (released = true))),
        ),
      ])
      const fiber = yield* Effect.forkChild(run, { startImmediately: true })
      yield* Fiber.interrupt(fiber)
      assert.isTrue(released)
    }),
  )
})
