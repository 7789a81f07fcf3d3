import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { environmentContext } from "../src/decider/EnvironmentContext.ts"
import type { Delivery } from "../src/listeners/Delivery.ts"
import type { ModelEvent } from "../src/ModelClient.ts"
import {
  answer,
  assistantItem,
  callItem,
  completed,
  conversationId,
  delta,
  done,
  durableOf,
  eventsOf,
  isEnd,
  isType,
  open,
  outputItem,
  says,
  settings,
  settle,
  takeToEnd,
  takeUntil,
  tools,
  typesOf,
  usage,
  userItem,
} from "./support.ts"

/** A model whose stream consists of the events that the test puts into the queue. */
const puppet = Effect.map(Queue.bounded<ModelEvent, Cause.Done>(8), (queue) => ({
  queue,
  stream: Stream.fromQueue(queue),
}))

const textsOf = (messages: ReadonlyArray<EventMsg>) =>
  messages.map((msg) => ("delta" in msg ? msg.delta : "")).join("")

describe("Conversation", () => {
  it.effect("L3 begins with session_configured, then the environment", () =>
    Effect.gen(function* () {
      const { listener } = yield* open([])
      assert.deepStrictEqual(yield* listener.take, [
        {
          _tag: "Event",
          atMs: 0,
          event: {
            seq: 0,
            id: "",
            msg: {
              type: "session_configured",
              session_id: conversationId,
              model: "mock-model",
              history_log_id: 0,
              history_entry_count: 0,
              thread_id: conversationId,
              model_provider_id: "mock",
              approval_policy: "never",
              sandbox_policy: { mode: "read-only" },
              cwd: "/work",
            },
          },
        },
        {
          _tag: "Event",
          atMs: 0,
          event: {
            seq: 1,
            id: "",
            msg: { type: "raw_response_item", item: environmentContext(settings) },
          },
        },
        { _tag: "Synced", seq: 2 },
      ])
    }),
  )

  it.effect("runs a turn and delivers its events in the documented order", () =>
    Effect.gen(function* () {
      const { conversation, listener } = yield* open(
        [
          [
            { _tag: "ReasoningSectionBreak" },
            { _tag: "ReasoningDelta", delta: "th" },
            done({ type: "reasoning", summary: [{ type: "summary_text", text: "th" }] }),
            { _tag: "WebSearchBegin", callId: "w" },
            { _tag: "WebSearchEnd", callId: "w", query: "q" },
            done({ type: "web_search_call" }),
            done(callItem("look", "1")),
            { _tag: "Completed", usage: usage(1, 2) },
          ],
          answer("y"),
        ],
        { tools: tools({ look: () => Effect.succeed("seen") }) },
      )
      const receipt = yield* conversation.submit(says("hi"), { id: "7" })
      assert.deepStrictEqual(receipt, { id: "7", disposition: "started" })
      const seen = yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(typesOf(seen), [
        "session_configured",
        "raw_response_item",
        "task_started",
        "raw_response_item",
        "user_message",
        "agent_reasoning_section_break",
        "agent_reasoning_delta",
        "raw_response_item",
        "agent_reasoning",
        "web_search_begin",
        "web_search_end",
        "raw_response_item",
        "raw_response_item",
        "raw_response_item",
        "token_count",
        "agent_message_delta",
        "raw_response_item",
        "agent_message",
        "token_count",
        "task_complete",
      ])
      const ids = eventsOf(seen).map(({ id }) => id)
      assert.deepStrictEqual([ids.slice(0, 2), new Set(ids.slice(2))], [["", ""], new Set(["7"])])
      assert.deepStrictEqual(eventsOf(seen).at(-1)?.msg, {
        type: "task_complete",
        last_agent_message: "y",
      })
      const state = yield* conversation.state
      assert.deepStrictEqual([state.turn, state.usage], [undefined, usage(1, 2)])
    }),
  )

  it.effect("L4 attaches at any moment of a turn, without loss or duplicate", () =>
    Effect.gen(function* () {
      const { queue, stream } = yield* puppet
      const { conversation, listener, close } = yield* open([stream])
      yield* conversation.submit(says("hi"))
      const script: ReadonlyArray<ModelEvent> = [
        { _tag: "ReasoningDelta", delta: "th" },
        { _tag: "ReasoningDelta", delta: "ought" },
        done({ type: "reasoning", summary: [{ type: "summary_text", text: "thought" }] }),
        delta("one "),
        delta("two "),
        delta("three"),
        done(assistantItem("one two three")),
        completed,
      ]
      const late = []
      for (const [i, event] of script.entries()) {
        for (const from of [0, 3]) {
          const another = yield* conversation.attach({ from })
          // A listener that attaches while a text is in progress gets all of it as deltas; later, no delta of it.
          const expected = { from, message: i <= 6, thought: i <= 2 }
          late.push({ ...expected, fiber: yield* Effect.forkChild(takeToEnd(another)) })
        }
        yield* Queue.offer(queue, event)
        yield* settle
      }
      yield* Queue.end(queue)
      yield* settle
      yield* close
      const all = durableOf(yield* takeToEnd(listener))
      for (const { from, fiber, ...expected } of late) {
        const seen = yield* Fiber.join(fiber)
        assert.deepStrictEqual(durableOf(seen), all.slice(from))
        assert.strictEqual(seen.filter(({ _tag }) => _tag === "Synced").length, 1)
        const messages = eventsOf(seen).map(({ msg }) => msg)
        const message = textsOf(messages.filter(({ type }) => type === "agent_message_delta"))
        const thought = textsOf(messages.filter(({ type }) => type === "agent_reasoning_delta"))
        assert.deepStrictEqual(
          [message, thought],
          [expected.message ? "one two three" : "", expected.thought ? "thought" : ""],
        )
      }
    }),
  )

  it.effect("L4 delivers every section of reasoning that is not recorded, with the breaks", () =>
    Effect.gen(function* () {
      const { queue, stream } = yield* puppet
      const { conversation, listener } = yield* open([stream])
      yield* conversation.submit(says("hi"))
      const section: ModelEvent = { _tag: "ReasoningSectionBreak" }
      const thought = (text: string): ModelEvent => ({ _tag: "ReasoningDelta", delta: text })
      yield* Queue.offerAll(queue, [section, thought("on"), thought("e")])
      yield* Queue.offerAll(queue, [section, thought("t"), thought("wo")])
      yield* settle
      const { seq } = yield* conversation.state
      const streamed = (deliveries: ReadonlyArray<Delivery>) =>
        eventsOf(deliveries).flatMap(({ msg }) =>
          msg.type.startsWith("agent_reasoning") ? ["delta" in msg ? msg.delta : msg.type] : [],
        )
      const broken = "agent_reasoning_section_break"
      // One that has read the log, one that begins with it, one that has been there, and one that begins now.
      const options = [{ from: seq, lacksTexts: true }, { from: 0 }, { from: seq }, undefined]
      const late = yield* Effect.forEach(options, (one) => conversation.attach(one))
      const seen = yield* Effect.forEach(late, ({ take }) => take)
      assert.deepStrictEqual(seen.map(streamed), [
        ["one", broken, "two"],
        [broken, "one", broken, "two"],
        ["two"],
        ["one", broken, "two"],
      ])
      const [joined = []] = seen
      assert.deepStrictEqual(seen[3], joined)
      const all = durableOf(yield* listener.take)
      assert.deepStrictEqual(durableOf(joined), all.slice(-1))
      assert.deepStrictEqual(
        eventsOf(joined).map((one) => one.seq - seq),
        [-2, -1, -1],
      )
      assert.deepStrictEqual(joined.at(-1), { _tag: "Synced", seq })
    }),
  )

  it.effect("L4 delivers a text in progress as one delta, before synced", () =>
    Effect.gen(function* () {
      const { queue, stream } = yield* puppet
      const { conversation } = yield* open([stream])
      yield* conversation.submit(says("hi"))
      yield* Queue.offerAll(queue, [delta("one "), delta("two")])
      yield* settle
      const late = yield* conversation.attach()
      assert.deepStrictEqual(yield* late.take, [
        {
          _tag: "Event",
          atMs: 0,
          event: { seq: 4, id: "0", msg: { type: "agent_message_delta", delta: "one two" } },
        },
        { _tag: "Synced", seq: 5 },
      ])
      yield* Queue.offer(queue, delta(" three"))
      assert.deepStrictEqual(yield* late.take, [
        {
          _tag: "Event",
          atMs: 0,
          event: { seq: 4, id: "0", msg: { type: "agent_message_delta", delta: " three" } },
        },
      ])
    }),
  )

  it.effect("L4 a listener that attaches when an answer arrives gets every event once", () =>
    Effect.gen(function* () {
      const { conversation } = yield* open([answer("y")])
      yield* conversation.submit(says("hi"))
      const late = yield* conversation.attach({ from: 0 })
      const first = yield* late.take
      assert.include(typesOf(first), "task_started")
      const seen = durableOf([...first, ...(yield* takeUntil(late, isEnd))])
      assert.deepStrictEqual(
        seen.map(({ seq }) => seq),
        seen.map((_, seq) => seq),
      )
    }),
  )

  it.effect(
    "L6 a listener that never takes delays nothing and holds a bounded number of events",
    () =>
      Effect.gen(function* () {
        const deltas = Stream.range(1, 100_000).pipe(
          Stream.rechunk(100),
          Stream.map(() => delta("x")),
        )
        const { conversation, listener } = yield* open([
          Stream.concat(deltas, Stream.fromArray([done(assistantItem("x")), completed])),
        ])
        const never = yield* conversation.attach({ from: 0 })
        const stopped = yield* conversation.attach()
        const small = yield* conversation.attach({ limits: { maxEvents: 200, maxBytes: 10_000 } })
        for (const dead of [stopped, small]) yield* takeUntil(dead, ({ _tag }) => _tag === "Synced")
        yield* conversation.submit(says("hi"))
        const seen = eventsOf(yield* takeUntil(listener, isEnd)).map(({ msg }) => msg)
        yield* settle
        const isDelta = (msg: EventMsg) => msg.type === "agent_message_delta"
        assert.strictEqual(textsOf(seen.filter(isDelta)).length, 100_000)
        const durable = seen.filter((msg) => !isDelta(msg))
        assert.deepStrictEqual(
          eventsOf(yield* never.take).map(({ msg }) => msg),
          durable,
        )
        const held = yield* stopped.take
        assert.isAtMost(held.length, 128 + durable.length)
        assert.strictEqual(textsOf(eventsOf(held).map(({ msg }) => msg)).length, 100_000)
        assert.deepStrictEqual(
          (yield* small.take).map((d) => (d._tag === "Event" ? d.event.msg.type : d)),
          [
            { _tag: "Lagged", from: 2 },
            ...durable.slice(2).map(({ type }) => type),
            { _tag: "Synced", seq: durable.length },
          ],
        )
      }),
  )

  it.effect(
    "delivers each delta as it arrived to a listener that keeps up, also of a model that never pauses",
    () =>
      Effect.gen(function* () {
        const deltas = Stream.range(1, 20_000).pipe(
          Stream.rechunk(1),
          Stream.map(() => delta("x")),
        )
        const { conversation, listener } = yield* open([
          Stream.concat(deltas, Stream.fromArray([completed])),
        ])
        yield* conversation.submit(says("hi"))
        const seen = eventsOf(yield* takeUntil(listener, isEnd))
        const texts = textsOf(seen.map(({ msg }) => msg))
        assert.strictEqual(
          seen.filter(({ msg }) => msg.type === "agent_message_delta").length,
          20_000,
        )
        assert.strictEqual(texts.length, 20_000)
      }),
  )

  it.effect("delivers the same to two listeners", () =>
    Effect.gen(function* () {
      const { conversation, listener, close } = yield* open([answer("yes"), answer("no")])
      const other = yield* conversation.attach({ from: 0 })
      const both = yield* Effect.forkChild(
        Effect.all([takeToEnd(listener), takeToEnd(other)], { concurrency: "unbounded" }),
      )
      yield* conversation.submit(says("a"))
      yield* conversation.submit(says("b"), { whileRunning: "wait" })
      yield* settle
      yield* close
      const [a, b] = yield* Fiber.join(both)
      assert.deepStrictEqual(eventsOf(a), eventsOf(b))
      assert.strictEqual(typesOf(a).filter((type) => type === "task_complete").length, 2)
    }),
  )

  it.effect("adds queued input to the running turn, whose next request includes it", () =>
    Effect.gen(function* () {
      const { queue, stream } = yield* puppet
      const { conversation, listener, requests } = yield* open([stream, answer("both")])
      yield* conversation.submit(says("a"), { id: "a" })
      yield* Queue.offer(queue, delta("x"))
      yield* takeUntil(listener, isType("agent_message_delta"))
      assert.deepStrictEqual(yield* conversation.submit(says("b"), { id: "b" }), {
        id: "a",
        disposition: "joined",
      })
      yield* Queue.offerAll(queue, [done(assistantItem("x")), completed])
      yield* Queue.end(queue)
      const seen = yield* takeUntil(listener, isEnd)
      assert.deepStrictEqual(
        requests.map(({ input }) => input.slice(1)),
        [[userItem("a")], [userItem("a"), userItem("b"), assistantItem("x")]],
      )
      assert.deepStrictEqual(new Set(eventsOf(seen).map(({ id }) => id)), new Set(["a"]))
      assert.deepStrictEqual(eventsOf(seen).at(-1)?.msg, {
        type: "task_complete",
        last_agent_message: "both",
      })
    }),
  )

  it.effect("runs waiting input in separate turns, in order, without the cancelled one", () =>
    Effect.gen(function* () {
      const { queue, stream } = yield* puppet
      const { conversation, listener, requests, close } = yield* open([
        stream,
        answer("B"),
        answer("D"),
      ])
      const wait = { whileRunning: "wait" } as const
      yield* conversation.submit(says("a"), { id: "a" })
      for (const id of ["b", "c", "d"]) {
        assert.deepStrictEqual(yield* conversation.submit(says(id), { id, ...wait }), {
          id,
          disposition: "waiting",
        })
      }
      yield* conversation.cancel("c")
      yield* Queue.offer(queue, completed)
      yield* Queue.end(queue)
      yield* settle
      yield* close
      const ends = eventsOf(yield* takeToEnd(listener)).flatMap(({ id, msg }) =>
        ["task_started", "task_complete", "turn_aborted"].includes(msg.type)
          ? [`${id} ${msg.type}`]
          : [],
      )
      assert.deepStrictEqual(ends, [
        "a task_started",
        "c turn_aborted",
        "a task_complete",
        "b task_started",
        "b task_complete",
        "d task_started",
        "d task_complete",
      ])
      assert.deepStrictEqual(requests.at(-1)?.input.slice(1), [
        userItem("a"),
        userItem("b"),
        assistantItem("B"),
        userItem("d"),
      ])
    }),
  )

  it.effect("adds an output for the call of an aborted turn to the history of the next one", () =>
    Effect.gen(function* () {
      const { conversation, listener, requests } = yield* open(
        [[done(callItem("hang", "1")), completed], answer("ok")],
        { tools: tools({ hang: () => Effect.never }) },
      )
      yield* conversation.submit(says("a"))
      yield* takeUntil(
        listener,
        (d) =>
          d._tag === "Event" &&
          d.event.msg.type === "raw_response_item" &&
          d.event.msg.item.type === "function_call",
      )
      yield* conversation.submit({ type: "interrupt" })
      yield* conversation.submit(says("b"))
      yield* takeUntil(listener, isType("task_complete"))
      assert.deepStrictEqual(requests[1]?.input.slice(1), [
        userItem("a"),
        callItem("hang", "1"),
        outputItem("1", "aborted"),
        userItem("b"),
      ])
    }),
  )
})
