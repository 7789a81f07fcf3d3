import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import { answerOf } from "../../src/log/MessageEvents.ts"
import { deltaEvents, itemEvents, streamError, tokenCount } from "../../src/turn/ModelEvents.ts"
import { assistantItem, callItem, outputItem, settings, usage, userItem } from "../support.ts"

const shown = { ...settings, showRawReasoning: true }
const record = (item: ResponseItem): EventMsg => ({ type: "raw_response_item", item })

const reasoning: ResponseItem = {
  type: "reasoning",
  summary: [
    { type: "summary_text", text: "one" },
    { type: "summary_text", text: "two" },
  ],
  content: [{ type: "reasoning_text", text: "raw" }],
}

describe("itemEvents", () => {
  it("records a message, then emits each of its texts", () => {
    assert.deepStrictEqual(itemEvents(assistantItem("a", "b"), settings), [
      record(assistantItem("a", "b")),
      { type: "agent_message", message: "a" },
      { type: "agent_message", message: "b" },
    ])
    assert.deepStrictEqual(itemEvents(assistantItem(), settings), [record(assistantItem())])
  })

  it("emits no message that is not of the assistant", () => {
    assert.deepStrictEqual(itemEvents(userItem("a"), settings), [record(userItem("a"))])
  })

  it("emits each part of a reasoning summary, and the raw text only if it is enabled", () => {
    const summary: ReadonlyArray<EventMsg> = [
      record(reasoning),
      { type: "agent_reasoning", text: "one" },
      { type: "agent_reasoning", text: "two" },
    ]
    assert.deepStrictEqual(itemEvents(reasoning, settings), summary)
    assert.deepStrictEqual(itemEvents(reasoning, shown), [
      ...summary,
      { type: "agent_reasoning_raw_content", text: "raw" },
    ])
    const texts = ["ra", "", "w"].map((text) => ({ type: "reasoning_text" as const, text }))
    const several = { ...reasoning, content: texts }
    // Nothing separates the deltas of these parts: the text of one item is recorded as it was streamed.
    assert.deepStrictEqual(itemEvents(several, shown), [
      record(several),
      ...itemEvents(reasoning, shown).slice(1),
    ])
    const none = { ...reasoning, content: [] }
    assert.deepStrictEqual(itemEvents(none, shown), itemEvents(none, settings))
    const bare: ResponseItem = { type: "reasoning", summary: [] }
    assert.deepStrictEqual(itemEvents(bare, shown), [record(bare)])
  })

  it("only records everything else", () => {
    for (const item of [
      callItem("x", "1"),
      outputItem("1", "o"),
      { type: "web_search_call" } as const,
    ]) {
      assert.deepStrictEqual(itemEvents(item, shown), [record(item)])
    }
  })
})

describe("answerOf", () => {
  it("is the last text of an assistant's message", () => {
    assert.deepStrictEqual(
      [
        answerOf(assistantItem("a", "b")),
        answerOf(assistantItem()),
        answerOf(userItem("a")),
        answerOf(callItem("x", "1")),
      ],
      ["b", undefined, undefined, undefined],
    )
  })
})

describe("deltaEvents", () => {
  it("maps each model event to its event", () => {
    const hidden = deltaEvents({ _tag: "RawReasoningDelta", delta: "r" }, settings)
    assert.deepStrictEqual(
      [
        ...deltaEvents({ _tag: "TextDelta", delta: "a" }, settings),
        ...deltaEvents({ _tag: "ReasoningDelta", delta: "b" }, settings),
        ...deltaEvents({ _tag: "RawReasoningDelta", delta: "c" }, shown),
        ...deltaEvents({ _tag: "ReasoningSectionBreak" }, settings),
        ...hidden,
      ],
      [
        { type: "agent_message_delta", delta: "a" },
        { type: "agent_reasoning_delta", delta: "b" },
        { type: "agent_reasoning_raw_content_delta", delta: "c" },
        { type: "agent_reasoning_section_break" },
      ],
    )
  })
})

describe("tokenCount", () => {
  it("has no info while no usage was reported", () => {
    assert.deepStrictEqual(tokenCount(undefined, undefined, 100), {
      type: "token_count",
      info: null,
      rate_limits: null,
    })
  })

  it("has the rate limits that the provider reported", () => {
    const limits = { primary: { used_percent: 1 }, secondary: null }
    assert.deepStrictEqual(
      [
        tokenCount(undefined, undefined, 100, limits),
        tokenCount(usage(1, 2), undefined, 9, limits),
      ].map((msg) => (msg.type === "token_count" ? msg.rate_limits : undefined)),
      [limits, limits],
    )
  })

  it("adds every member of the last request to the total", () => {
    const info = (total: ReturnType<typeof usage>, last: ReturnType<typeof usage>) => ({
      total_token_usage: total,
      last_token_usage: last,
      model_context_window: 100,
    })
    const zero = {
      input_tokens: 0,
      cached_input_tokens: 0,
      output_tokens: 0,
      reasoning_output_tokens: 0,
      total_tokens: 0,
    }
    assert.deepStrictEqual(
      [
        tokenCount(usage(10, 20), usage(1, 2), 100),
        tokenCount(undefined, usage(1, 2), 100),
        tokenCount(usage(10, 20), undefined, 100),
      ].map((msg) => (msg.type === "token_count" ? msg.info : undefined)),
      [
        info(
          {
            input_tokens: 11,
            cached_input_tokens: 2,
            output_tokens: 22,
            reasoning_output_tokens: 4,
            total_tokens: 33,
          },
          usage(1, 2),
        ),
        info(usage(1, 2), usage(1, 2)),
        info(usage(10, 20), zero),
      ],
    )
  })
})

describe("streamError", () => {
  it("prints the delay as the original program does", () => {
    const delays: ReadonlyArray<readonly [number, string]> = [
      [0, "0ms"],
      [200.6, "201ms"],
      [999.4, "999ms"],
      [999.6, "1s"],
      [1000, "1s"],
      [1500, "1.5s"],
      [1234.56, "1.235s"],
      [60_000, "60s"],
    ]
    for (const [ms, text] of delays) {
      assert.deepStrictEqual(streamError("boom", 2, 5, ms), {
        type: "stream_error",
        message: `stream error: boom; retrying 2/5 in ${text}…`,
      })
    }
  })
})
