import type { ModelEvent } from "@colloquy/core/ModelClient"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import * as ChatWire from "../src/ChatWire.ts"
import { assistant, call, decodeAll, output, request, usage, user } from "./support/Requests.ts"

const messages = (...input: ReadonlyArray<ResponseItem>) =>
  (ChatWire.body(request({ input }))["messages"] as ReadonlyArray<unknown>).slice(1)
const decode = (...chunks: ReadonlyArray<unknown>) => decodeAll(ChatWire.makeDecoder(), chunks)
const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const toolDelta = (...tool_calls: ReadonlyArray<object>) => chunk({ tool_calls })
const done = (item: ResponseItem): ModelEvent => ({ _tag: "ItemDone", item })
const wireCall = (id: string, args = "{}") => ({
  id,
  type: "function",
  function: { name: "shell", arguments: args },
})
const thought = (text: string): ResponseItem => ({
  type: "reasoning",
  summary: [],
  content: [{ type: "reasoning_text", text }],
  encrypted_content: null,
})
const prefix = "stream disconnected before completion: "

describe("ChatWire.body", () => {
  it("has the members of the wire, requests usage, and has no tools when there are none", () => {
    assert.deepStrictEqual(ChatWire.body(request()), {
      model: "mock-model",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it("asks for an answer of a schema", () => {
    const schema = { type: "object", properties: {} }
    assert.deepStrictEqual(ChatWire.body(request({ outputSchema: schema }))["response_format"], {
      type: "json_schema",
      json_schema: { name: "codex_output_schema", strict: true, schema },
    })
  })

  it("wraps each tool", () => {
    const parameters = { type: "object" }
    const tool = { type: "function", name: "shell", description: "Runs.", parameters } as const
    assert.deepStrictEqual(ChatWire.body(request({ tools: [tool] }))["tools"], [
      {
        type: "function",
        function: { name: "shell", description: "Runs.", strict: false, parameters },
      },
    ])
  })

  it("joins the calls of one turn in one message, text included, followed by their outputs", () => {
    assert.deepStrictEqual(
      messages(
        user("go"),
        assistant("Looking."),
        call("a", "shell", ""),
        call("b"),
        output("b", "B"),
        output("a", "A"),
        assistant("Done."),
      ),
      [
        { role: "user", content: "go" },
        { role: "assistant", content: "Looking.", tool_calls: [wireCall("a"), wireCall("b")] },
        { role: "tool", tool_call_id: "a", content: "A" },
        { role: "tool", tool_call_id: "b", content: "B" },
        { role: "assistant", content: "Done." },
      ],
    )
  })

  it("separates calls whose outputs lie between them, also under one id", () => {
    assert.deepStrictEqual(
      messages(call("x"), output("x", "first"), call("x"), output("x", "second")),
      [
        { role: "assistant", content: null, tool_calls: [wireCall("x")] },
        { role: "tool", tool_call_id: "x", content: "first" },
        { role: "assistant", content: null, tool_calls: [wireCall("x")] },
        { role: "tool", tool_call_id: "x", content: "second" },
      ],
    )
  })

  it("adds an output to a call without one and leaves out an output without a call", () => {
    assert.deepStrictEqual(messages(output("a", "?"), call("a"), user("next")), [
      { role: "assistant", content: null, tool_calls: [wireCall("a")] },
      { role: "tool", tool_call_id: "a", content: "aborted" },
      { role: "user", content: "next" },
    ])
  })

  it("sends images as parts, joins texts, and sends developer as system", () => {
    assert.deepStrictEqual(
      messages(
        { type: "message", role: "developer", content: [{ type: "input_text", text: "d" }] },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "see" },
            { type: "input_image", image_url: "data:x" },
          ],
        },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "a" },
            { type: "input_text", text: "b" },
          ],
        },
      ),
      [
        { role: "system", content: "d" },
        {
          role: "user",
          content: [
            { type: "text", text: "see" },
            { type: "image_url", image_url: { url: "data:x" } },
          ],
        },
        { role: "user", content: "ab" },
      ],
    )
  })

  it("maps custom and local shell calls, and leaves out web searches", () => {
    const action = { type: "exec", command: ["ls"] } as const
    assert.deepStrictEqual(
      messages(
        { type: "custom_tool_call", call_id: "c", name: "apply_patch", input: "P" },
        { type: "custom_tool_call_output", call_id: "c", output: "ok" },
        { type: "local_shell_call", call_id: "l", status: "completed", action },
        output("l", "files"),
        { type: "web_search_call", status: "completed" },
      ),
      [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "custom", custom: { name: "apply_patch", input: "P" } }],
        },
        { role: "tool", tool_call_id: "c", content: "ok" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "l", type: "local_shell_call", status: "completed", action }],
        },
        { role: "tool", tool_call_id: "l", content: "files" },
      ],
    )
  })

  it("sends raw reasoning back with the unfinished turn, and with no finished one", () => {
    const calling = [user("q"), thought("hm"), call("a"), output("a", "A")]
    assert.deepStrictEqual(messages(thought("old"), ...calling), [
      { role: "user", content: "q" },
      { role: "assistant", content: null, tool_calls: [wireCall("a")], reasoning: "hm" },
      { role: "tool", tool_call_id: "a", content: "A" },
    ])
    assert.deepStrictEqual(messages(...calling, user("next"))[1], {
      role: "assistant",
      content: null,
      tool_calls: [wireCall("a")],
    })
  })
})

describe("ChatWire.makeDecoder", () => {
  it("streams text and reasoning as they arrive and emits the items at the end", () => {
    const { events, fault } = decode(
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning: "th" }),
      chunk({ reasoning_content: { text: "in" } }),
      chunk({ reasoning: { content: "k" } }),
      chunk({ content: "Hel" }),
      chunk({ content: [{ type: "text", text: "lo" }] }),
      chunk({}, "stop"),
      {
        choices: [],
        usage: {
          prompt_tokens: 11,
          prompt_tokens_details: { cached_tokens: 3 },
          completion_tokens: 7,
          completion_tokens_details: { reasoning_tokens: 2 },
          total_tokens: 18,
        },
      },
      "[DONE]",
    )
    const expected: ReadonlyArray<ModelEvent> = [
      { _tag: "RawReasoningDelta", delta: "th" },
      { _tag: "RawReasoningDelta", delta: "in" },
      { _tag: "RawReasoningDelta", delta: "k" },
      { _tag: "TextDelta", delta: "Hel" },
      { _tag: "TextDelta", delta: "lo" },
      done(thought("think")),
      done(assistant("Hello")),
      { _tag: "Completed", usage },
    ]
    assert.deepStrictEqual({ events, fault }, { events: expected, fault: undefined })
  })

  it("distinguishes several calls of one response by index, with their pieces interleaved", () => {
    const { events } = decode(
      toolDelta({ index: 0, id: "a", function: { name: "shell", arguments: '{"x"' } }),
      toolDelta({ index: 1, id: "b", function: { name: "plan", arguments: "" } }),
      toolDelta({ index: 0, function: { arguments: ":1}" } }),
      toolDelta({ index: 1, function: { arguments: "{}" } }),
      chunk({}, "tool_calls"),
    )
    assert.deepStrictEqual(events, [
      done(call("a", "shell", '{"x":1}')),
      done(call("b", "plan", "{}")),
      { _tag: "Completed" },
    ])
  })

  it("distinguishes calls by id where every index is 0 or none is given", () => {
    const whole = (id: string, index?: number) =>
      toolDelta({
        ...(index === undefined ? {} : { index }),
        id,
        function: { name: "shell", arguments: "{}" },
      })
    const expected: ReadonlyArray<ModelEvent> = [
      done(call("a")),
      done(call("b")),
      { _tag: "Completed" },
    ]
    assert.deepStrictEqual(decode(whole("a", 0), whole("b", 0), "[DONE]").events, expected)
    assert.deepStrictEqual(decode(whole("a"), whole("b"), "[DONE]").events, expected)
    assert.deepStrictEqual(
      decode(
        toolDelta({ id: "a", function: { name: "shell", arguments: "{" } }),
        toolDelta({ function: { arguments: "}" } }),
        whole("b"),
        "[DONE]",
      ).events,
      expected,
    )
  })

  it("numbers calls without an id after those of the history, and accepts arguments given as an object", () => {
    const nameless = { index: 0, function: { name: "shell", arguments: { a: 1 } } }
    const { events } = decodeAll(
      ChatWire.makeDecoder(() => ["a", "b", "c", "d"]),
      [toolDelta(nameless), "[DONE]"],
    )
    assert.deepStrictEqual(events[0], done(call("call_4", "shell", '{"a":1}')))
    const taken = decodeAll(
      ChatWire.makeDecoder(() => ["call_1"]),
      [toolDelta(nameless), "[DONE]"],
    )
    assert.deepStrictEqual(taken.events[0], done(call("call_2", "shell", '{"a":1}')))
  })

  it("accepts the minimal streams of mock servers", () => {
    const bareCall = { id: "call1234", function: { name: "shell", arguments: "{}" } }
    assert.deepStrictEqual(
      [
        decode({ choices: [{ delta: { content: "Done" }, finish_reason: "stop" }] }, "DONE"),
        decode(toolDelta(bareCall), "DONE"),
        decode(chunk({}, "stop"), "[DONE]"),
        decode({ choices: [{ message: { content: "whole" }, finish_reason: "stop" }] }),
      ],
      [
        {
          events: [
            { _tag: "TextDelta", delta: "Done" },
            done(assistant("Done")),
            { _tag: "Completed" },
          ],
        },
        { events: [done(call("call1234")), { _tag: "Completed" }] },
        { events: [{ _tag: "Completed" }] },
        {
          events: [
            { _tag: "TextDelta", delta: "whole" },
            done(assistant("whole")),
            { _tag: "Completed" },
          ],
        },
      ],
    )
  })

  it("accepts an end without marker after a complete answer, and fails for one without an answer", () => {
    const args = (text: string) =>
      toolDelta({ index: 0, id: "a", function: { name: "shell", arguments: text } })
    const tooEarly = `${prefix}stream closed before completion`
    assert.deepStrictEqual(decode(chunk({ content: "whole" })), {
      events: [
        { _tag: "TextDelta", delta: "whole" },
        done(assistant("whole")),
        { _tag: "Completed" },
      ],
    })
    assert.deepStrictEqual(decode(args('{"command":["ls"]}')), {
      events: [done(call("a", "shell", '{"command":["ls"]}')), { _tag: "Completed" }],
    })
    for (const open of ["", '{"command":["l', "7"]) {
      assert.deepStrictEqual(decode(chunk({ content: "first" }), args(open)).fault, tooEarly)
    }
    assert.deepStrictEqual(decode(), { events: [], fault: tooEarly })
    assert.strictEqual(decode(chunk({ reasoning: "thinking" })).fault, tooEarly)
  })

  it("L5 takes the end marker alone for a stream without an answer, like reasoning alone", () => {
    for (const data of [["[DONE]"], [chunk({ reasoning: "thinking" }), "[DONE]"]]) {
      const { events, fault } = decode(...data)
      assert.strictEqual(fault, `${prefix}stream closed before completion`)
      assert.notInclude(
        events.map(({ _tag }) => _tag),
        "Completed",
      )
    }
  })

  it("L13 states why an answer is cut off, like the Responses wire, and does not repeat the request", () => {
    for (const [reason, sentence] of [
      ["length", "the model reached the limit of output tokens"],
      ["content_filter", "the content filter of the provider stopped the answer"],
    ] as const) {
      for (const end of [[], ["[DONE]"]]) {
        const { events, fault } = decode(chunk({ content: "cut" }, reason), ...end)
        assert.deepStrictEqual(events, [{ _tag: "TextDelta", delta: "cut" }])
        assert.strictEqual(
          fault,
          `${prefix}incomplete response: ${sentence} (finish_reason \`${reason}\`)`,
        )
      }
      const decoder = ChatWire.makeDecoder()
      decoder.event(JSON.stringify(chunk({ content: "cut" }, reason)), [])
      assert.strictEqual(decoder.phase(), "answered")
      assert.strictEqual(decoder.end([]).error?.retryable, false)
    }
  })

  it("L13 fails when every tool call is empty, and says so", () => {
    assert.strictEqual(
      decode(toolDelta({}), chunk({}, "tool_calls"), "[DONE]").fault,
      `${prefix}the answer could not be read: skipped 1 tool call without a name and arguments`,
    )
  })

  it("L13 says what is wrong with a chunk it cannot read, and what a gateway reports in one", () => {
    assert.deepStrictEqual(
      [
        decode("<html>").fault,
        decode("<html>", "[DONE]").fault,
        decode(chunk({ tool_calls: "x" })).fault,
        decode(toolDelta({ index: 0, id: "a", function: { arguments: "{}" } }), "[DONE]").fault,
        decode({ error: { code: 502, message: "Upstream failed." } }).fault,
        decode({ error: {} }).fault,
      ],
      [
        `${prefix}stream closed before completion`,
        `${prefix}the answer could not be read: skipped an event of 6 characters that is not JSON`,
        `${prefix}malformed event: choices[0].delta.tool_calls: Expected array`,
        `${prefix}malformed event: tool call 0 has no function name`,
        `${prefix}Upstream failed.`,
        `${prefix}the provider reported an error without a message`,
      ],
    )
  })
})
