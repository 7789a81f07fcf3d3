import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { ConversationSettings } from "../src/ConversationSettings.ts"
import { environmentContext } from "../src/decider/EnvironmentContext.ts"
import { historyOf } from "../src/log/History.ts"
import {
  answer,
  assistantItem,
  callItem,
  completed,
  done,
  durableOf,
  endings,
  isEnd,
  isType,
  modelError,
  open,
  outputItem,
  type Response,
  says,
  settings,
  settle,
  takeUntil,
  tools,
  usage,
  userItem,
  withRetries,
} from "./support.ts"

const compact: Op = { type: "compact" }
const trigger = userItem("Start Summarization")
const environment = environmentContext(settings)
const summed = (said: string, summary: string) =>
  userItem(
    `The conversation up to here was replaced by this message, to make room.\n\nWhat I said in it, oldest first:\n\n${said}\n\nYour own summary of it:\n\n${summary}`,
  )

/** A response of one message, with the token count that the provider reports for it. */
const counts = (text: string, total: number): Response => [
  done(assistantItem(text)),
  { _tag: "Completed", usage: usage(total - 5, 5) },
]
/** A response that calls the tool `look`, with the token count that the provider reports for it. */
const calls = (callId: string, total: number): Response => [
  done(callItem("look", callId)),
  { _tag: "Completed", usage: usage(total - 5, 5) },
]
const overflow: Response = Stream.fail(
  modelError({ reason: "ContextWindow", message: "too long", retryable: false }),
)
const broken: Response = Stream.fail(modelError({ retryable: false }))

const looking = { tools: tools({ look: () => Effect.succeed("seen") }) }
const limited = (limit: number, more: Partial<ConversationSettings> = {}) => ({
  ...looking,
  settings: { ...settings, baseInstructions: "", autoCompactTokenLimit: limit, ...more },
})

const messagesOf = (
  seen: Parameters<typeof durableOf>[0],
): ReadonlyArray<readonly [string, EventMsg]> =>
  durableOf(seen).map(({ id, msg }) => [id, msg] as const)

const typesOf = (seen: Parameters<typeof durableOf>[0]) =>
  durableOf(seen).map(({ id, msg }) => `${id} ${msg.type}`)

const stillAbove = (limit: number | string, current: number) =>
  `Conversation is still above the token limit after automatic summarization (limit ${limit}, current ${current}). Please start a new session or trim your input.`

/** Submits the op and takes deliveries until the turn has ended. */
const turn = (
  { conversation, listener }: Effect.Success<ReturnType<typeof open>>,
  op: Op,
  id: string,
) => Effect.andThen(conversation.submit(op, { id }), takeUntil(listener, isEnd))

const outcomeOf = (seen: Parameters<typeof durableOf>[0]) =>
  durableOf(seen).flatMap(({ msg }) =>
    msg.type === "error" ? [msg.message] : msg.type === "task_complete" ? ["complete"] : [],
  )

describe("compact", () => {
  it.effect("summarises as a separate turn, and later requests begin with the summary", () =>
    Effect.gen(function* () {
      const it = yield* open([answer("one"), counts("the gist", 40), answer("two")], looking)
      yield* turn(it, says("a"), "t")
      const seen = yield* turn(it, compact, "c")
      assert.deepStrictEqual(messagesOf(seen), [
        ["c", { type: "task_started", model_context_window: null }],
        [
          "c",
          {
            type: "token_count",
            info: {
              total_token_usage: usage(35, 5),
              last_token_usage: usage(35, 5),
              model_context_window: null,
            },
            rate_limits: null,
          },
        ],
        ["c", { type: "compacted", message: "the gist" }],
        ["c", { type: "agent_message", message: "Compact task completed" }],
        ["c", { type: "task_complete", last_agent_message: null }],
      ])
      yield* turn(it, says("b"), "u")
      const [, summary, after] = it.requests
      assert.deepStrictEqual(summary?.tools, [])
      assert.deepStrictEqual(summary?.input, [
        environment,
        userItem("a"),
        assistantItem("one"),
        trigger,
      ])
      assert.include(summary?.instructions, "handover")
      assert.deepStrictEqual(after?.input, [environment, summed("a", "the gist"), userItem("b")])
      assert.strictEqual(after?.tools.length, 1)
    }),
  )

  it.effect("uses the given prompt instead of the built-in one", () =>
    Effect.gen(function* () {
      const it = yield* open([counts("s", 9)], {
        settings: { ...settings, compactPrompt: "Be very brief." },
      })
      yield* turn(it, compact, "c")
      assert.deepStrictEqual(it.requests[0]?.instructions, "Be very brief.")
    }),
  )

  it.effect("reports an empty history and an empty answer of the model", () =>
    Effect.gen(function* () {
      const it = yield* open([[completed]])
      yield* turn(it, compact, "c")
      assert.deepStrictEqual(historyOf(yield* it.conversation.durableEvents), [
        environment,
        summed("(none)", "(no summary available)"),
      ])
    }),
  )

  it.effect("is retried like a turn, and reports each retry", () =>
    Effect.gen(function* () {
      const failing = Stream.fail(modelError({ retryable: true, retryAfterMs: 200 }))
      const it = yield* open([failing, failing, counts("s", 9)], { settings: withRetries(2) })
      yield* it.conversation.submit(compact, { id: "c" })
      const seen = yield* Effect.forkChild(takeUntil(it.listener, isEnd))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(typesOf(yield* Fiber.join(seen)).slice(-7), [
        "c task_started",
        "c stream_error",
        "c stream_error",
        "c token_count",
        "c compacted",
        "c agent_message",
        "c task_complete",
      ])
    }),
  )

  it.effect("L5 ends like a failed turn when it fails, and the history is unchanged", () =>
    Effect.gen(function* () {
      const it = yield* open([answer("one"), broken, answer("two")])
      yield* turn(it, says("a"), "t")
      const before = historyOf(yield* it.conversation.durableEvents)
      assert.deepStrictEqual(messagesOf(yield* turn(it, compact, "c")).slice(1), [
        ["c", { type: "error", message: "boom" }],
        ["c", { type: "task_complete", last_agent_message: null }],
      ])
      assert.deepStrictEqual(historyOf(yield* it.conversation.durableEvents), before)
    }),
  )

  it.effect("L14 ends at once when it is interrupted, and the history is unchanged", () =>
    Effect.gen(function* () {
      const it = yield* open([answer("one"), Stream.never, answer("two")])
      yield* turn(it, says("a"), "t")
      const before = historyOf(yield* it.conversation.durableEvents)
      yield* it.conversation.submit(compact, { id: "c" })
      yield* settle
      yield* it.conversation.submit({ type: "interrupt" })
      assert.deepStrictEqual(messagesOf(yield* takeUntil(it.listener, isEnd)).slice(1), [
        ["c", { type: "turn_aborted", reason: "interrupted" }],
      ])
      const events = yield* it.conversation.durableEvents
      assert.deepStrictEqual(historyOf(events), before)
      assert.deepStrictEqual(endings(events, "c"), { terminal: ["turn_aborted"], after: [] })
      assert.include(outcomeOf(yield* turn(it, says("b"), "u")), "complete")
    }),
  )

  it.effect("is added to a running turn as text", () =>
    Effect.gen(function* () {
      const held = Stream.concat(
        Stream.fromEffectDrain(Effect.sleep("1 second")),
        Stream.fromIterable(answer("one")),
      )
      const it = yield* open([held, answer("two")])
      yield* it.conversation.submit(says("a"), { id: "t" })
      yield* settle
      assert.deepStrictEqual(yield* it.conversation.submit(compact, { id: "c" }), {
        id: "t",
        disposition: "joined",
      })
      const seen = yield* Effect.forkChild(takeUntil(it.listener, isEnd))
      yield* TestClock.adjust("1 second")
      assert.notInclude(
        durableOf(yield* Fiber.join(seen)).map(({ msg }) => msg.type),
        "compacted",
      )
      assert.deepStrictEqual(it.requests[1]?.input.at(-2), trigger)
    }),
  )

  it.effect("waits for the running turn, or replaces it, as requested", () =>
    Effect.gen(function* () {
      const it = yield* open([Stream.never, counts("s", 9), counts("s", 9)])
      yield* it.conversation.submit(says("a"), { id: "t" })
      const receipts = [
        yield* it.conversation.submit(compact, { id: "c", whileRunning: "wait" }),
        yield* it.conversation.submit(compact, { id: "d", whileRunning: "interrupt" }),
      ]
      assert.deepStrictEqual(receipts, [
        { id: "c", disposition: "waiting" },
        { id: "d", disposition: "waiting" },
      ])
      const seen = yield* takeUntil(
        it.listener,
        (d) => isEnd(d) && d._tag === "Event" && d.event.id === "c",
      )
      const ends = durableOf(seen).filter(({ msg }) => isEndMsg(msg))
      assert.deepStrictEqual(
        ends.map(({ id, msg }) => [id, msg.type]),
        [
          ["t", "turn_aborted"],
          ["d", "task_complete"],
          ["c", "task_complete"],
        ],
      )
    }),
  )

  it.effect("accepts no input: it waits for a separate turn", () =>
    Effect.gen(function* () {
      const held = Stream.concat(
        Stream.fromEffectDrain(Effect.sleep("1 second")),
        Stream.fromIterable(answer("gist")),
      )
      const it = yield* open([held, answer("two")])
      yield* it.conversation.submit(compact, { id: "c" })
      assert.deepStrictEqual(yield* it.conversation.submit(says("b"), { id: "u" }), {
        id: "u",
        disposition: "waiting",
      })
      const steered = yield* Effect.flip(
        it.conversation.submit(says("c"), { whileRunning: "steer" }),
      )
      assert.strictEqual(steered.message, "turn `c` summarises the history and accepts no input")
      const seen = yield* Effect.forkChild(
        takeUntil(it.listener, (d) => isEnd(d) && d._tag === "Event" && d.event.id === "u"),
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(seen)
      assert.deepStrictEqual(it.requests[1]?.input, [
        environment,
        summed("(none)", "gist"),
        userItem("b"),
      ])
    }),
  )

  it.effect("refuses the ids of its own events", () =>
    Effect.gen(function* () {
      const { conversation } = yield* open([answer("x")])
      const refused = yield* Effect.flip(conversation.submit(says("a"), { id: "auto-compact-0" }))
      assert.deepInclude(refused, { _tag: "SubmissionRefused", reason: "DuplicateId" })
    }),
  )
})

const isEndMsg = (msg: EventMsg) => msg.type === "task_complete" || msg.type === "turn_aborted"

describe("automatic summaries", () => {
  it.effect(
    "are made when the provider counts as many tokens as the limit and another request follows",
    () =>
      Effect.gen(function* () {
        const it = yield* open(
          [calls("1", 100), counts("gist", 90), counts("done", 40)],
          limited(100),
        )
        const seen = yield* turn(it, says("a"), "t")
        assert.deepStrictEqual(typesOf(seen).slice(2), [
          "t task_started",
          "t raw_response_item",
          "t user_message",
          "t raw_response_item",
          "t raw_response_item",
          "t token_count",
          "auto-compact-0 token_count",
          "auto-compact-0 compacted",
          "auto-compact-0 agent_message",
          "t raw_response_item",
          "t agent_message",
          "t token_count",
          "t task_complete",
        ])
        assert.deepStrictEqual(
          it.requests.map(({ input }) => input),
          [
            [environment, userItem("a")],
            [environment, userItem("a"), callItem("look", "1"), outputItem("1", "seen"), trigger],
            [environment, summed("a", "gist")],
          ],
        )
        assert.strictEqual((yield* it.conversation.state).usage?.total_tokens, 230)
      }),
  )

  it.effect("are not made when no other request follows, but before the next turn", () =>
    Effect.gen(function* () {
      const it = yield* open(
        [counts("one", 100), counts("gist", 90), counts("two", 40)],
        limited(100),
      )
      assert.notInclude(typesOf(yield* turn(it, says("a"), "t")), "auto-compact-0 compacted")
      const seen = yield* turn(it, says("b"), "u")
      assert.include(typesOf(seen), "auto-compact-0 compacted")
      assert.deepStrictEqual(
        it.requests.slice(1).map(({ input }) => input),
        [
          [environment, userItem("a"), assistantItem("one"), trigger],
          [environment, summed("a", "gist"), userItem("b")],
        ],
      )
    }),
  )

  it.effect("include outputs that the provider has not counted", () =>
    Effect.gen(function* () {
      const long = "x".repeat(4_000)
      const it = yield* open([calls("1", 100), counts("gist", 90), counts("done", 40)], {
        ...limited(1_000),
        tools: tools({ look: () => Effect.succeed(long) }),
      })
      assert.include(typesOf(yield* turn(it, says("a"), "t")), "auto-compact-0 compacted")
    }),
  )

  it.effect(
    "have a limit of four fifths of the window when none is set, and none when it is 0",
    () =>
      Effect.gen(function* () {
        const responses = [calls("1", 81), counts("gist", 9), counts("done", 9)]
        const window = { ...settings, contextWindow: 100 }
        const byWindow = yield* open(responses, { ...looking, settings: window })
        assert.include(typesOf(yield* turn(byWindow, says("a"), "t")), "auto-compact-0 compacted")
        const off = yield* open(responses, {
          ...looking,
          settings: { ...window, autoCompactTokenLimit: 0 },
        })
        assert.notInclude(typesOf(yield* turn(off, says("a"), "t")), "auto-compact-0 compacted")
      }),
  )

  it.effect(
    "are not made before the first answer of the model: there is nothing to summarise",
    () =>
      Effect.gen(function* () {
        const it = yield* open([counts("one", 5)], limited(1))
        assert.deepStrictEqual(outcomeOf(yield* turn(it, says("a"), "t")), ["complete"])
        assert.strictEqual(it.requests.length, 1)
      }),
  )

  it.effect("end the turn when the answer after one is above the limit again", () =>
    Effect.gen(function* () {
      const it = yield* open([calls("1", 100), counts("gist", 90), calls("2", 120)], limited(100))
      const seen = yield* turn(it, says("a"), "t")
      // The output has 4 bytes and its wrapping 16, which are estimated to be 5 tokens.
      assert.deepStrictEqual(messagesOf(seen).slice(-2), [
        ["t", { type: "error", message: stillAbove(100, 125) }],
        ["t", { type: "task_complete", last_agent_message: null }],
      ])
      assert.strictEqual(it.requests.length, 3)
    }),
  )

  it.effect("are made again, numbered, once an answer in between was below the limit", () =>
    Effect.gen(function* () {
      const it = yield* open(
        [
          calls("1", 100),
          counts("gist", 90),
          calls("2", 20),
          calls("3", 100),
          counts("more", 90),
          counts("done", 20),
        ],
        limited(100),
      )
      const seen = yield* turn(it, says("a"), "t")
      assert.deepStrictEqual(outcomeOf(seen), ["complete"])
      assert.deepStrictEqual(
        durableOf(seen).flatMap(({ id, msg }) => (msg.type === "compacted" ? [id] : [])),
        ["auto-compact-0", "auto-compact-1"],
      )
      assert.deepStrictEqual(it.requests.at(-1)?.input, [environment, summed("a", "more")])
    }),
  )

  it.effect("leave messages sent meanwhile out of the summary and put them after it", () =>
    Effect.gen(function* () {
      const held = Stream.concat(
        Stream.fromEffectDrain(Effect.sleep("1 second")),
        Stream.fromIterable([done(assistantItem("gist")), completed]),
      )
      const it = yield* open([calls("1", 100), held, counts("done", 20)], limited(100))
      yield* it.conversation.submit(says("a"), { id: "t" })
      yield* settle
      yield* it.conversation.submit(says("b"))
      const seen = yield* Effect.forkChild(takeUntil(it.listener, isEnd))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(seen)
      assert.deepStrictEqual(it.requests.at(-1)?.input, [
        environment,
        summed("a", "gist"),
        userItem("b"),
      ])
    }),
  )

  it.effect("L5 end the turn when they fail, and the history is unchanged", () =>
    Effect.gen(function* () {
      const it = yield* open([calls("1", 100), broken], limited(100))
      const seen = yield* turn(it, says("a"), "t")
      assert.deepStrictEqual(outcomeOf(seen), ["boom", "complete"])
      assert.deepStrictEqual(historyOf(yield* it.conversation.durableEvents), [
        environment,
        userItem("a"),
        callItem("look", "1"),
        outputItem("1", "seen"),
      ])
    }),
  )

  it.effect("L14 are interrupted with their turn, which ends once", () =>
    Effect.gen(function* () {
      const it = yield* open([calls("1", 100), Stream.never], limited(100))
      yield* it.conversation.submit(says("a"), { id: "t" })
      yield* takeUntil(it.listener, isType("token_count"))
      yield* it.conversation.cancel("t")
      assert.deepStrictEqual(messagesOf(yield* takeUntil(it.listener, isEnd)), [
        ["t", { type: "turn_aborted", reason: "interrupted" }],
      ])
    }),
  )
})

describe("a request that is too long for the model", () => {
  it.effect("is sent again after a summary", () =>
    Effect.gen(function* () {
      const it = yield* open(
        [answer("one"), overflow, counts("gist", 90), counts("two", 40)],
        looking,
      )
      yield* turn(it, says("a"), "t")
      const seen = yield* turn(it, says("b"), "u")
      assert.deepStrictEqual(typesOf(seen).slice(3), [
        "u stream_error",
        "auto-compact-0 token_count",
        "auto-compact-0 compacted",
        "auto-compact-0 agent_message",
        "u raw_response_item",
        "u agent_message",
        "u token_count",
        "u task_complete",
      ])
      assert.deepStrictEqual(it.requests.at(-1)?.input, [
        environment,
        summed("a", "gist"),
        userItem("b"),
      ])
    }),
  )

  it.effect("ends the turn when it is too long after the summary as well", () =>
    Effect.gen(function* () {
      const it = yield* open([answer("one"), overflow, counts("gist", 90), overflow], {
        settings: { ...settings, baseInstructions: "", contextWindow: 1_000_000 },
      })
      yield* turn(it, says("a"), "t")
      const [error, end] = outcomeOf(yield* turn(it, says("b"), "u"))
      assert.match(
        error ?? "",
        /^Conversation is still above the token limit after automatic summarization \(limit 800000, current \d+\)\. Please start a new session or trim your input\.$/,
      )
      assert.strictEqual(end, "complete")
      assert.strictEqual(it.requests.length, 4)
    }),
  )

  it.effect("is reported unchanged when there is nothing to summarise", () =>
    Effect.gen(function* () {
      const it = yield* open([overflow])
      assert.deepStrictEqual(outcomeOf(yield* turn(it, says("a"), "t")), ["too long", "complete"])
      assert.strictEqual(it.requests.length, 1)
    }),
  )

  it.effect(
    "is shortened from its beginning, calls with their outputs, when it is one for a summary",
    () =>
      Effect.gen(function* () {
        const it = yield* open(
          [calls("1", 10), calls("2", 10), answer("one"), overflow, overflow, counts("gist", 9)],
          looking,
        )
        yield* turn(it, says("a"), "t")
        const seen = yield* turn(it, compact, "c")
        assert.deepStrictEqual(typesOf(seen).slice(1), [
          "c background_event",
          "c token_count",
          "c compacted",
          "c agent_message",
          "c task_complete",
        ])
        const all = [
          environment,
          userItem("a"),
          callItem("look", "1"),
          outputItem("1", "seen"),
          callItem("look", "2"),
          outputItem("2", "seen"),
          assistantItem("one"),
        ]
        assert.deepStrictEqual(
          it.requests.slice(3).map(({ input }) => input.slice(0, -1)),
          [all, all.slice(1), all.slice(4)],
        )
      }),
  )
})
