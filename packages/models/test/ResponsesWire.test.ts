import type { ModelEvent } from "@colloquy/core/ModelClient"
import { assert, describe, it } from "@effect/vitest"
import * as ResponsesWire from "../src/ResponsesWire.ts"
import { conversationId, decodeAll, request, usage, user } from "./support/Requests.ts"

const completed = {
  type: "response.completed",
  response: {
    id: "r",
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 3 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 18,
    },
  },
}
const decode = (...events: ReadonlyArray<unknown>) => decodeAll(ResponsesWire.makeDecoder(), events)
const item = (u: unknown) => ({ type: "response.output_item.done", item: u })
const itemOf = (u: unknown) =>
  decode(item(u), completed).events.find(({ _tag }) => _tag === "ItemDone" || _tag === "Completed")
const prefix = "stream disconnected before completion: "

const tool = {
  type: "function",
  name: "shell",
  description: "Runs.",
  parameters: { type: "object", properties: {} },
} as const

describe("ResponsesWire.body", () => {
  it("has every member of the wire for a model without reasoning", () => {
    assert.deepStrictEqual(ResponsesWire.body(request({ tools: [tool] })), {
      model: "mock-model",
      instructions: "Be brief.",
      input: [user("hello")],
      tools: [
        {
          type: "function",
          name: "shell",
          description: "Runs.",
          strict: false,
          parameters: { type: "object", properties: {} },
        },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning: null,
      store: false,
      stream: true,
      include: [],
      prompt_cache_key: conversationId,
    })
  })

  it("requests encrypted reasoning if the request has an effort or a summary, and otherwise not", () => {
    const of = (overrides: Parameters<typeof request>[0]) => {
      const { reasoning, include, text } = ResponsesWire.body(request(overrides))
      return { reasoning, include, text }
    }
    const include = ["reasoning.encrypted_content"]
    assert.deepStrictEqual(
      [
        of({ model: "gpt-5", effort: "high", summary: "detailed", verbosity: "low" }),
        of({ model: "o4-mini", summary: "auto" }),
        of({ model: "codex-mini-latest", summary: "none" }),
        of({ model: "unknown", effort: "low" }),
        of({ model: "gpt-4.1", verbosity: "low" }),
      ],
      [
        { reasoning: { effort: "high", summary: "detailed" }, include, text: { verbosity: "low" } },
        { reasoning: { summary: "auto" }, include, text: undefined },
        { reasoning: {}, include, text: undefined },
        { reasoning: { effort: "low", summary: "auto" }, include, text: undefined },
        { reasoning: null, include: [], text: undefined },
      ],
    )
  })
})

it("ResponsesWire.body asks for an answer of a schema", () => {
  const outputSchema = { type: "object", properties: {} }
  const format = {
    type: "json_schema",
    strict: true,
    schema: outputSchema,
    name: "codex_output_schema",
  }
  const textOf = (of: Parameters<typeof request>[0]) => ResponsesWire.body(request(of))["text"]
  assert.deepStrictEqual(textOf({ outputSchema }), { format })
  assert.deepStrictEqual(textOf({ model: "gpt-5", verbosity: "low", outputSchema }), {
    verbosity: "low",
    format,
  })
})

describe("ResponsesWire.makeDecoder", () => {
  it("turns each event type into its model event, in order, and ignores the others", () => {
    const { events, fault } = decode(
      { type: "response.created", response: { id: "r" } },
      { type: "response.reasoning_summary_part.added", summary_index: 0 },
      { type: "response.reasoning_summary_text.delta", delta: "Thin" },
      { type: "response.reasoning_text.delta", delta: "raw" },
      { type: "response.output_item.added", item: { type: "message", id: "m" } },
      { type: "response.output_item.added", item: { type: "web_search_call", id: "ws_1" } },
      { type: "response.output_text.delta", delta: "Hel" },
      { type: "response.refusal.delta", delta: "No." },
      { type: "response.something_new", delta: 7 },
      completed,
    )
    const expected: ReadonlyArray<ModelEvent> = [
      { _tag: "ReasoningSectionBreak" },
      { _tag: "ReasoningDelta", delta: "Thin" },
      { _tag: "RawReasoningDelta", delta: "raw" },
      { _tag: "WebSearchBegin", callId: "ws_1" },
      { _tag: "TextDelta", delta: "Hel" },
      { _tag: "TextDelta", delta: "No." },
      {
        _tag: "ItemDone",
        item: {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "HelNo." }],
        },
      },
      { _tag: "Completed", usage },
    ]
    assert.deepStrictEqual({ events, fault }, { events: expected, fault: undefined })
  })

  it("keeps finished items without their ids and drops unknown item types and parts", () => {
    assert.deepStrictEqual(
      [
        itemOf({
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [
            { type: "output_text", text: "a", annotations: [] },
            { type: "refusal", refusal: "b" },
            { type: "hologram", data: 1 },
          ],
        }),
        itemOf({ type: "reasoning", id: "rs", summary: [], encrypted_content: "sealed" }),
        itemOf({
          type: "reasoning",
          summary: [{ type: "summary_text", text: "s" }],
          content: [{ type: "reasoning_text", text: "raw" }],
        }),
        itemOf({ type: "function_call", id: "f", name: "shell", arguments: "{}", call_id: "c1" }),
        itemOf({ type: "custom_tool_call", id: "f", name: "p", input: "x", call_id: "c2" }),
        itemOf({
          type: "local_shell_call",
          id: "lsh",
          status: "completed",
          action: { type: "exec", command: ["ls"], timeout_ms: 5 },
        }),
        itemOf({ type: "web_search_call", id: "w", status: "completed" }),
        itemOf({ type: "teleport_call", id: "t" }),
      ],
      [
        {
          _tag: "ItemDone",
          item: {
            type: "message",
            role: "assistant",
            content: [
              { type: "output_text", text: "a" },
              { type: "output_text", text: "b" },
            ],
          },
        },
        {
          _tag: "ItemDone",
          item: { type: "reasoning", summary: [], encrypted_content: "sealed" },
        },
        {
          _tag: "ItemDone",
          item: {
            type: "reasoning",
            summary: [{ type: "summary_text", text: "s" }],
            content: [{ type: "reasoning_text", text: "raw" }],
          },
        },
        {
          _tag: "ItemDone",
          item: { type: "function_call", name: "shell", arguments: "{}", call_id: "c1" },
        },
        {
          _tag: "ItemDone",
          item: { type: "custom_tool_call", call_id: "c2", name: "p", input: "x" },
        },
        {
          _tag: "ItemDone",
          item: {
            type: "local_shell_call",
            call_id: "lsh",
            status: "completed",
            action: { type: "exec", command: ["ls"], timeout_ms: 5 },
          },
        },
        { _tag: "ItemDone", item: { type: "web_search_call", status: "completed" } },
        { _tag: "Completed", usage },
      ],
    )
  })

  it("surrounds each search of the provider with a begin and an end event", () => {
    const search = (id: string | null, action: unknown) =>
      item({ type: "web_search_call", id, status: "completed", action })
    const added = {
      type: "response.output_item.added",
      item: { type: "web_search_call", id: "ws_1" },
    }
    const searches = decode(
      added,
      search("ws_1", { type: "search", query: "effect 4" }),
      search("ws_2", { type: "open_page", url: "https://effect.website" }),
      search(null, null),
      completed,
    ).events.filter(({ _tag }) => _tag.startsWith("WebSearch"))
    assert.deepStrictEqual(searches, [
      { _tag: "WebSearchBegin", callId: "ws_1" },
      { _tag: "WebSearchEnd", callId: "ws_1", query: "effect 4" },
      { _tag: "WebSearchBegin", callId: "ws_2" },
      { _tag: "WebSearchEnd", callId: "ws_2", query: "https://effect.website" },
      { _tag: "WebSearchBegin", callId: "" },
      { _tag: "WebSearchEnd", callId: "", query: "" },
    ])
    assert.deepStrictEqual(itemOf({ type: "web_search_call", status: null, action: null }), {
      _tag: "ItemDone",
      item: { type: "web_search_call" },
    })
  })

  it("completes without usage when there is none, or none that can be read", () => {
    const ends = [undefined, null, { input_tokens: "many" }].map(
      (u) => decode({ type: "response.completed", response: { id: "r", usage: u } }).events,
    )
    assert.deepStrictEqual(ends, [
      [{ _tag: "Completed" }],
      [{ _tag: "Completed" }],
      [{ _tag: "Completed" }],
    ])
  })

  it("reads usage with null details and without a total", () => {
    const response = {
      usage: { input_tokens: 1, input_tokens_details: null, output_tokens: 2 },
    }
    assert.deepStrictEqual(decode({ type: "response.completed", response }).events, [
      {
        _tag: "Completed",
        usage: {
          input_tokens: 1,
          cached_input_tokens: 0,
          output_tokens: 2,
          reasoning_output_tokens: 0,
          total_tokens: 3,
        },
      },
    ])
  })

  it("reports a failure when the stream ends, whatever completes after it", () => {
    const events: Array<ModelEvent> = []
    const decoder = ResponsesWire.makeDecoder()
    const failed = {
      type: "response.failed",
      response: {
        error: {
          code: "rate_limit_exceeded",
          message: "Rate limit reached. Please try again in 11.054s. Visit …",
        },
      },
    }
    assert.isUndefined(decoder.event(JSON.stringify(failed), events).error)
    assert.strictEqual(decoder.phase(), "answered")
    assert.isUndefined(decoder.event(JSON.stringify(completed), events).error)
    const { error } = decoder.end(events)
    assert.deepStrictEqual(
      { events, message: error?.message, retryable: error?.retryable, after: error?.retryAfterMs },
      {
        events: [],
        message: `${prefix}Rate limit reached. Please try again in 11.054s. Visit …`,
        retryable: true,
        after: 11_054,
      },
    )
  })

  it("determines from the code of a failure whether the same request can succeed, and says what the code means", () => {
    const of = (error: unknown) => {
      const decoder = ResponsesWire.makeDecoder()
      decoder.event(JSON.stringify({ type: "response.failed", response: { error } }), [])
      const fault = decoder.end([]).error
      return [fault?.message, fault?.retryable, fault?.retryAfterMs]
    }
    assert.deepStrictEqual(
      [
        of({ code: "rate_limit_exceeded", message: "try again in 28ms" }),
        of({ code: "server_error", message: "Please try again in 5s." }),
        of({ code: "context_length_exceeded", message: "Too long." }),
        of(null),
      ],
      [
        [`${prefix}try again in 28ms (rate limit exceeded)`, true, 28],
        [`${prefix}Please try again in 5s.`, true, undefined],
        [`${prefix}Too long. (context length exceeded)`, false, undefined],
        [`${prefix}response.failed event received`, true, undefined],
      ],
    )
  })

  it("states why an answer is incomplete, early or as an error of its own", () => {
    assert.deepStrictEqual(
      [
        decode({
          type: "response.incomplete",
          response: { incomplete_details: { reason: "max_output_tokens" } },
        }).fault,
        decode({ type: "response.output_text.delta", delta: "par" }).fault,
        decode({ type: "error", code: "server_error", message: "Boom." }).fault,
      ],
      [
        `${prefix}incomplete response: max_output_tokens`,
        `${prefix}stream closed before response.completed`,
        `${prefix}Boom.`,
      ],
    )
  })

  it("does not repeat what would fail the same way or wait for more than a minute", () => {
    const retryable = (event: unknown) => {
      const decoder = ResponsesWire.makeDecoder()
      return (decoder.event(JSON.stringify(event), []).error ?? decoder.end([]).error)?.retryable
    }
    const failed = (code: string, message: string) =>
      retryable({ type: "response.failed", response: { error: { code, message } } })
    const incomplete = (reason: string) =>
      retryable({ type: "response.incomplete", response: { incomplete_details: { reason } } })
    assert.deepStrictEqual(
      [
        incomplete("max_output_tokens"),
        incomplete("content_filter"),
        incomplete("something_new"),
        failed("rate_limit_exceeded", "Please try again in 60s."),
        failed("rate_limit_exceeded", "Please try again in 61s."),
      ],
      [false, false, true, true, false],
    )
  })

  it("L13 says what is wrong with a part of the answer it cannot read, without quoting it", () => {
    assert.deepStrictEqual(
      [
        decode("{not json", completed).fault,
        decode(item({ type: "function_call", name: "shell" }), completed).fault,
        decode(item("text"), completed).fault,
        decode(item({ type: "reasoning", summary: [] }), item(null), completed).fault,
      ],
      [
        `${prefix}the answer could not be read: skipped an event of 9 characters that is not JSON`,
        `${prefix}the answer could not be read: skipped response.output_item.done: Missing key at ["arguments"]`,
        `${prefix}the answer could not be read: skipped response.output_item.done: expected an object with a \`type\` at \`item\``,
        `${prefix}the answer could not be read: skipped response.output_item.done: expected an object with a \`type\` at \`item\``,
      ],
    )
  })

  it("L13 an unreadable call beside a complete message is skipped, and the message is the answer", () => {
    const broken = { type: "function_call", name: null, arguments: null, call_id: null }
    const message = {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "a" }],
    }
    for (const odd of [null, {}, broken]) {
      const { events, fault } = decode(item(odd), item(message), completed)
      assert.isUndefined(fault)
      assert.deepStrictEqual(
        events.map(({ _tag }) => _tag),
        ["ItemDone", "Completed"],
      )
    }
  })

  it("L5 gives each call without an id a new one, unlike those of the history", () => {
    const call = (more: object) =>
      item({ type: "function_call", name: "a", arguments: "{}", ...more })
    const { events } = decodeAll(
      ResponsesWire.makeDecoder(() => ["call_2"]),
      [
        call({ call_id: "" }),
        call({}),
        call({ call_id: null }),
        call({ call_id: "own" }),
        item({ type: "custom_tool_call", name: "p", input: "x" }),
        item({
          type: "local_shell_call",
          status: "completed",
          action: { type: "exec", command: [] },
        }),
        completed,
      ],
    )
    const ids = events.flatMap((event) =>
      event._tag === "ItemDone" && "call_id" in event.item ? [event.item.call_id] : [],
    )
    assert.deepStrictEqual(ids, ["call_1", "call_3", "call_4", "own", "call_5", "call_6"])
  })

  it("L5 makes the text of the deltas the answer where no finished message contains it", () => {
    const delta = (text: string) => ({ type: "response.output_text.delta", delta: text })
    const message = (content: unknown) => item({ type: "message", role: "assistant", content })
    const answer: ModelEvent = {
      _tag: "ItemDone",
      item: {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "hello" }],
      },
    }
    const whole = message([{ type: "output_text", text: "hello" }])
    for (const items of [[], [message([])], [message(null)], [message(7)], [item(null)], [whole]]) {
      const { events, fault } = decode(delta("hel"), delta("lo"), ...items, completed)
      assert.isUndefined(fault)
      assert.deepStrictEqual(events.slice(2), [answer, { _tag: "Completed", usage }])
    }
    // The lost event may have been a part of the text.
    for (const odd of ["{not json", { type: "response.output_text.delta", delta: { text: "l" } }]) {
      for (const items of [[], [message([])]]) {
        const { fault } = decode(delta("hel"), odd, delta("o"), ...items, completed)
        assert.match(fault ?? "", /the answer could not be read: skipped /)
      }
      assert.isUndefined(decode(delta("hel"), odd, whole, completed).fault)
    }
  })

  it("reads nothing after the end of the answer", () => {
    assert.deepStrictEqual(decode(completed, "{not json", completed).events, [
      { _tag: "Completed", usage },
    ])
  })
})
