/**
 * Events that providers and their proxies send between ordinary ones: none of them changes the
 * answer.
 */
import type { ModelEvent } from "@colloquy/core/ModelClient"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ChatWire from "../src/ChatWire.ts"
import { decodeStream } from "./support/Bodies.ts"
import type { WireDecoder } from "../src/internal/WireDecoder.ts"
import * as ResponsesWire from "../src/ResponsesWire.ts"

const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const item = (of: object) => frame({ type: "response.output_item.done", item: of })
const chunk = (delta: unknown, more: object = {}) => frame({ choices: [{ delta, ...more }] })

interface WireCase {
  readonly name: string
  readonly decoder: () => WireDecoder
  readonly good: ReadonlyArray<string>
  readonly odd: ReadonlyArray<string>
}

/** Stands for anything confidential in an event; no log may contain it. */
const secret = "sk-s3cret"

/** What either wire may receive, as the bytes of whole events. */
const common = [
  "data:\n\n",
  "data: \n\n",
  "data\n\n",
  "event: ping\n\n",
  "event: ping\ndata:\n\n",
  'event: ping\ndata: {"type":"ping"}\n\n',
  "data: {}\n\n",
  "data: null\n\n",
  "data: []\n\n",
  "data: 7\n\n",
  `data: "${secret}"\n\n`,
  `data: {not json ${secret}\n\n`,
  `data: ${"[".repeat(300)}\n\n`,
  ": comment\n\n",
  "retry: 5\n\n",
]

const answerItems = [
  { type: "message", role: "assistant", content: [] },
  { type: "function_call", name: "shell", arguments: "{}", call_id: "x" },
  { type: "custom_tool_call", name: "apply_patch", input: "x", call_id: "x" },
  { type: "local_shell_call", status: "completed", action: { type: "exec", command: ["ls"] } },
]
const optionalMembers = new Set(["call_id", "content"])

/**
 * Finished items that are not items, and those of each kind with one member, or all, null, missing
 * or of another type.
 */
const unreadableItems: ReadonlyArray<string> = [
  frame({ type: "response.output_item.done" }),
  ...[null, [], 7, secret, {}, { type: null }, { type: 7, name: secret }].map((value) =>
    frame({ type: "response.output_item.done", item: value }),
  ),
  ...answerItems.flatMap(({ type, ...members }) => [
    item({ type }),
    item({ type, ...Object.fromEntries(Object.keys(members).map((name) => [name, null])) }),
    ...Object.keys(members)
      .filter((name) => !optionalMembers.has(name))
      .flatMap((name) => [
        item({ type, ...members, [name]: null }),
        item({ type, ...members, [name]: 7 }),
      ]),
  ]),
]

const responses: WireCase = {
  name: "responses",
  decoder: () => ResponsesWire.makeDecoder(),
  good: [
    frame({ type: "response.created", response: { id: "r" } }),
    frame({ type: "response.reasoning_summary_part.added" }),
    frame({ type: "response.reasoning_summary_text.delta", delta: "think" }),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "think" }] }),
    frame({ type: "response.output_item.added", item: { type: "web_search_call", id: "w" } }),
    item({ type: "web_search_call", id: "w", action: { type: "search", query: "q" } }),
    frame({ type: "response.output_text.delta", delta: "he" }),
    frame({ type: "response.output_text.delta", delta: "llo" }),
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "hello" }] }),
    item({ type: "function_call", name: "shell", arguments: "{}", call_id: "c" }),
    frame({ type: "response.completed", response: { usage: null } }),
  ],
  odd: [
    ...common,
    frame({ type: "response.output_text.delta", delta: null }),
    frame({ type: "response.output_text.delta" }),
    frame({ type: "response.reasoning_summary_text.delta", delta: { text: secret } }),
    frame({ type: "response.output_item.added", item: null }),
    frame({ type: null, delta: secret }),
    frame({ delta: secret }),
    item({ type: "reasoning", summary: secret }),
    item({ type: "web_search_call", action: secret }),
    frame({ type: "response.new_kind", item: 7 }),
    "data: [DONE]\n\n",
    ...unreadableItems,
  ],
}

/** Pieces of tool calls that are empty. */
const emptyFragments: ReadonlyArray<string> = [
  chunk({ tool_calls: [] }),
  ...[
    {},
    { index: 9 },
    { index: null, id: null, type: null, function: null },
    { index: 9, id: null, function: { name: null, arguments: null } },
    { index: 9, id: "", function: { name: "", arguments: "" } },
    { index: 9, function: {}, custom: null },
  ].map((fragment) => chunk({ tool_calls: [fragment] })),
]

const chat: WireCase = {
  name: "chat",
  decoder: () => ChatWire.makeDecoder(),
  good: [
    chunk({ role: "assistant", content: "" }),
    chunk({ reasoning_content: "think" }),
    chunk({ content: "he" }),
    chunk({ content: "llo" }),
    chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "shell", arguments: '{"a"' } }] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
    chunk({}, { finish_reason: "tool_calls" }),
    frame({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }),
    "data: [DONE]\n\n",
  ],
  odd: [
    ...common,
    chunk({ content: null }),
    chunk({ content: 7, refusal: 7, reasoning: 7 }),
    chunk({ tool_calls: null }),
    chunk({ tool_calls: [null] }),
    ...emptyFragments,
    chunk(null),
    chunk(secret),
    chunk({}, { finish_reason: 7 }),
    frame({ choices: null }),
    frame({ choices: secret }),
    frame({ choices: [secret] }),
    frame({ id: secret, error: null }),
    frame({ choices: [], usage: secret }),
  ],
}

interface Outcome {
  readonly events: ReadonlyArray<ModelEvent>
  readonly error: string | undefined
}

/** Cuts the bytes so that most events lie in two pieces. */
const pieces = (text: string): ReadonlyArray<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  return Array.from({ length: Math.ceil(bytes.length / 37) }, (_, i) =>
    bytes.subarray(i * 37, (i + 1) * 37),
  )
}

/** The outcome of a stream, and the lines that were logged. */
const read = (decoder: WireDecoder, frames: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const events: Array<ModelEvent> = []
    const logged: Array<string> = []
    const body = Stream.rechunk(Stream.fromIterable(pieces(frames.join(""))), 1)
    const ended = yield* decodeStream(body, decoder, {
      idleTimeout: Duration.minutes(5),
      provider: "mock",
      maxEventBytes: 100_000,
      maxResponseBytes: 1_000_000,
    }).pipe(
      Stream.runForEach((event) => Effect.sync(() => events.push(event))),
      Effect.result,
      Effect.provide(
        Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void logged.push(line))]),
      ),
    )
    const outcome: Outcome = {
      events,
      error: Result.isFailure(ended) ? ended.failure.message : undefined,
    }
    return { outcome, logged }
  })

/** Deterministic pseudo-random numbers below `bound`. */
const draws = (seed: number) => {
  let state = seed
  return (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

/** The unusual events that dispatch no server-sent event, so that nothing can be logged. */
const silent = new Set([
  "event: ping\n\n",
  'event: ping\ndata: {"type":"ping"}\n\n',
  ": comment\n\n",
  "retry: 5\n\n",
  "data: [DONE]\n\n",
  chunk({ content: null }),
  chunk({ content: 7, refusal: 7, reasoning: 7 }),
  chunk({ tool_calls: null }),
  chunk({ tool_calls: [null] }),
  chunk(null),
  chunk({}, { finish_reason: 7 }),
  frame({ choices: [], usage: secret }),
  frame({ type: "response.new_kind", item: 7 }),
])

/** What an unusual event means on one wire only. */
const isSilent = (wire: WireCase, odd: string) =>
  silent.has(odd) && !(wire.name === "chat" && odd.includes('"ping"'))

for (const wire of [responses, chat]) {
  describe(`unusual events of the ${wire.name} wire`, () => {
    it.effect(
      "L13 each of them at any place of an ordinary stream leaves the answer unchanged",
      () =>
        Effect.gen(function* () {
          const { outcome: expected, logged } = yield* read(wire.decoder(), wire.good)
          assert.deepStrictEqual(
            [expected.error, expected.events.at(-1)?._tag, logged],
            [undefined, "Completed", []],
          )
          for (const odd of wire.odd) {
            for (let at = 0; at < wire.good.length; at++) {
              const { outcome, logged } = yield* read(
                wire.decoder(),
                wire.good.toSpliced(at, 0, odd),
              )
              const where = `${JSON.stringify(odd)} before event ${at}`
              assert.deepStrictEqual(outcome, expected, where)
              // An empty piece adds nothing to an existing call, or starts one that is skipped at the
              // end.
              if (emptyFragments.includes(odd)) assert.isAtMost(logged.length, 1, where)
              else assert.strictEqual(logged.length, isSilent(wire, odd) ? 0 : 1, where)
              assert.notInclude(logged.join("\n"), secret)
            }
          }
        }),
    )

    it.effect("L13 any number of them at random places leaves it unchanged, in a bounded log", () =>
      Effect.gen(function* () {
        const { outcome: expected } = yield* read(wire.decoder(), wire.good)
        for (let seed = 1; seed <= 150; seed++) {
          const draw = draws(seed)
          const frames = wire.good.flatMap((good) => [
            ...Array.from({ length: draw(6) }, () => wire.odd[draw(wire.odd.length)] ?? ""),
            good,
          ])
          const { outcome, logged } = yield* read(wire.decoder(), frames)
          assert.deepStrictEqual(outcome, expected, `seed ${seed}`)
          assert.isAtMost(logged.length, 6)
          for (const line of logged) assert.isAtMost(line.length, 400)
          assert.notInclude(logged.join("\n"), secret)
        }
      }),
    )

    it.effect("L13 a stream of nothing else is a disconnected stream, in a bounded log", () =>
      Effect.gen(function* () {
        const frames = Array.from({ length: 200 }, () => "data: {broken\n\n")
        const { outcome, logged } = yield* read(wire.decoder(), frames)
        assert.deepStrictEqual(outcome.events, [])
        assert.match(outcome.error ?? "", /^stream disconnected before completion: /)
        assert.strictEqual(logged.length, 6)
        assert.match(
          logged[0] ?? "",
          /event stream of model provider `mock`: skipped an event of 7 /,
        )
        assert.match(logged[5] ?? "", /195 more/)
      }),
    )
  })
}

describe("a stream of the chat wire that ends without its final marker", () => {
  it.effect("L5 is answered once with what it contains, at whichever event it ends", () =>
    Effect.gen(function* () {
      const whole = [chunk({ content: "he" }), chunk({ content: "llo" })]
      const { outcome, logged } = yield* read(ChatWire.makeDecoder(), whole)
      assert.deepStrictEqual(outcome, {
        events: [
          { _tag: "TextDelta", delta: "he" },
          { _tag: "TextDelta", delta: "llo" },
          {
            _tag: "ItemDone",
            item: {
              type: "message",
              role: "assistant",
              content: [{ type: "output_text", text: "hello" }],
            },
          },
          { _tag: "Completed" },
        ],
        error: undefined,
      })
      assert.match(logged.join("\n"), /the stream ended without its final marker/)
      // The arguments of a call are incomplete between its two pieces, and nowhere else once the
      // text has started.
      for (let length = 0; length < chat.good.length; length++) {
        const { outcome } = yield* read(ChatWire.makeDecoder(), chat.good.slice(0, length))
        const isWhole = length >= 3 && length !== 5
        assert.strictEqual(outcome.error === undefined, isWhole, `the first ${length} events`)
        const completed = outcome.events.filter(({ _tag }) => _tag === "Completed")
        assert.strictEqual(completed.length, isWhole ? 1 : 0)
      }
    }),
  )
})
