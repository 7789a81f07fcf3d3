import type { ModelEvent } from "@colloquy/core/ModelClient"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ChatWire from "../src/ChatWire.ts"
import { statusFailure } from "../src/internal/failures/StatusFailure.ts"
import { decodeStream } from "./support/Bodies.ts"
import type { WireDecoder } from "../src/internal/WireDecoder.ts"
import * as ResponsesWire from "../src/ResponsesWire.ts"

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`

/** The events of a decoder for one event and the end of the stream. */
const decode = (decoder: WireDecoder, ...data: ReadonlyArray<string>) => {
  const events: Array<ModelEvent> = []
  for (const one of data) {
    const { error } = decoder.event(one, events)
    if (error !== undefined) return { events, error }
  }
  return { events, error: decoder.end(events).error }
}

const options = { idleTimeout: Duration.minutes(5), provider: "mock" }

const deltaOf = (delta: string) => `{"choices":[{"delta":${delta}}]}`

describe("a hostile provider", () => {
  const deep: ReadonlyArray<readonly [what: string, decoder: () => WireDecoder, data: string]> = [
    [
      "arguments",
      () => ChatWire.makeDecoder(),
      deltaOf(`{"tool_calls":[{"function":{"name":"a","arguments":${nested(50_000)}}}]}`),
    ],
    ["text", () => ChatWire.makeDecoder(), deltaOf(`{"content":${nested(50_000)}}`)],
    [
      "an action",
      () => ResponsesWire.makeDecoder(),
      `{"type":"response.output_item.done","item":{"type":"web_search_call","action":{"type":"x","y":${nested(50_000)}}}}`,
    ],
  ]
  for (const [what, decoder, data] of deep) {
    it(`L13 that nests ${what} without end is skipped, and nothing of it is kept`, () => {
      const events: Array<ModelEvent> = []
      assert.deepStrictEqual(decoder().event(data, events), {
        note: `skipped an event of ${data.length} characters that is nested deeper than 256 levels`,
      })
      assert.deepStrictEqual(events, [])
      assert.match(
        decode(decoder(), data).error?.message ?? "",
        /^stream disconnected before completion: stream closed before /,
      )
    })
  }

  it("L13 with token counts beyond every number reports no usage, and the answer stays", () => {
    for (const count of ["9007199254740991", "-1", "1e308", "1.5"]) {
      const chat = `{"choices":[],"usage":{"prompt_tokens":${count},"completion_tokens":${count}}}`
      const finished = '{"choices":[{"delta":{},"finish_reason":"stop"}]}'
      assert.deepStrictEqual(decode(ChatWire.makeDecoder(), finished, chat, "[DONE]"), {
        events: [{ _tag: "Completed" }],
        error: undefined,
      })
      const responses = `{"type":"response.completed","response":{"usage":{"input_tokens":${count},"output_tokens":${count}}}}`
      assert.deepStrictEqual(decode(ResponsesWire.makeDecoder(), responses), {
        events: [{ _tag: "Completed" }],
        error: undefined,
      })
    }
  })

  it("L13 with a delay of 400 digits is not waited for, and the error is complete", () => {
    const digits = "9".repeat(400)
    const { error, repeats } = statusFailure(
      "responses",
      { status: 429, retryAfter: digits, body: "" },
      0,
    )
    assert.deepStrictEqual(
      [error.reason, error.retryable, repeats, Number.isSafeInteger(error.retryAfterMs)],
      ["RetryLimit", false, 0, true],
    )
    const failed = decode(
      ResponsesWire.makeDecoder(),
      `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"try again in ${digits}s"}}}`,
    )
    assert.deepStrictEqual(
      [failed.error?.retryable, Number.isSafeInteger(failed.error?.retryAfterMs)],
      [false, true],
    )
  })

  it(
    "L13 that opens 200,000 tool calls in one event is read in linear time",
    { timeout: 20_000 },
    () => {
      const calls = Array.from({ length: 200_000 }, (_, i) => `{"id":"c${i}"}`)
      const { error } = decode(
        ChatWire.makeDecoder(),
        deltaOf(`{"tool_calls":[${calls.join(",")}]}`),
      )
      assert.strictEqual(
        error?.message,
        "stream disconnected before completion: stream closed before completion",
      )
    },
  )

  for (const size of [1, 10_000]) {
    it.effect(
      `L13 that continues after a complete answer does not change it, in pieces of ${size} bytes`,
      () =>
        Effect.gen(function* () {
          const bytes = new TextEncoder().encode(
            `data: {"type":"response.completed","response":{}}\n\n: ${"x".repeat(5000)}`,
          )
          const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
            bytes.subarray(i * size, (i + 1) * size),
          )
          const body = Stream.rechunk(Stream.fromIterable(pieces), 1)
          const limits = { ...options, maxEventBytes: 1000, maxResponseBytes: 10_000 }
          const decoder = ResponsesWire.makeDecoder()
          const events = yield* Stream.runCollect(decodeStream(body, decoder, limits))
          assert.deepStrictEqual(events, [{ _tag: "Completed" }])
        }),
    )
  }

  it.effect(
    "L13 with an endless response is stopped at the limit, and the request is not repeated",
    () =>
      Effect.gen(function* () {
        const chunk = new TextEncoder().encode(
          `data: ${deltaOf(`{"content":"${"x".repeat(1000)}"}`)}\n\n`,
        )
        let sent = 0
        const body = Stream.forever(
          Stream.sync(() => {
            sent += chunk.length
            return chunk
          }),
        )
        const error = yield* decodeStream(body, ChatWire.makeDecoder(), {
          ...options,
          maxEventBytes: 4096,
          maxResponseBytes: 1_000_000,
        }).pipe(Stream.runDrain, Effect.flip)
        assert.deepStrictEqual(
          [error.message, error.retryable, sent <= 1_000_000 + chunk.length],
          [
            "stream disconnected before completion: the response is longer than the limit of 1000000 bytes",
            false,
            true,
          ],
        )
      }),
  )
})
