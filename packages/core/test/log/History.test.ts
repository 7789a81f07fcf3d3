import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { assert, describe, it } from "@effect/vitest"
import { foldHistory, historyOf, isToolCall, outputFor } from "../../src/log/History.ts"
import { assistantItem, callItem, outputItem, userItem } from "../support.ts"

const isItem = (x: ResponseItem | EventMsg): x is ResponseItem =>
  [
    "message",
    "reasoning",
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "function_call_output",
    "custom_tool_call_output",
    "web_search_call",
  ].includes(x.type)

const events = (...entries: ReadonlyArray<ResponseItem | EventMsg>): ReadonlyArray<Event> =>
  entries.map((x, seq) => ({
    seq,
    id: "t",
    msg: isItem(x) ? { type: "raw_response_item", item: x } : x,
  }))

const aborted: EventMsg = { type: "turn_aborted", reason: "interrupted" }
const custom: ResponseItem = { type: "custom_tool_call", call_id: "u", name: "patch", input: "" }
const shell: ResponseItem = {
  type: "local_shell_call",
  status: "completed",
  action: { type: "exec", command: ["ls"] },
}

describe("historyOf", () => {
  it("keeps the items of the log in order and nothing else", () => {
    assert.deepStrictEqual(
      historyOf(
        events(
          userItem("a"),
          { type: "user_message", message: "a" },
          { type: "reasoning", summary: [] },
          assistantItem("b"),
          { type: "agent_message", message: "b" },
          { type: "web_search_call" },
        ),
      ),
      [
        userItem("a"),
        { type: "reasoning", summary: [] },
        assistantItem("b"),
        { type: "web_search_call" },
      ],
    )
  })

  it("puts each output right after its call", () => {
    assert.deepStrictEqual(
      historyOf(
        events(
          callItem("x", "1"),
          callItem("y", "2"),
          assistantItem("b"),
          outputItem("2", "two"),
          outputItem("1", "one"),
        ),
      ),
      [
        callItem("x", "1"),
        outputItem("1", "one"),
        callItem("y", "2"),
        outputItem("2", "two"),
        assistantItem("b"),
      ],
    )
  })

  it("gives a call without an output one of the matching type that says aborted", () => {
    assert.deepStrictEqual(historyOf(events(callItem("x", "1"), custom, shell, aborted)), [
      callItem("x", "1"),
      outputItem("1", "aborted"),
      custom,
      { type: "custom_tool_call_output", call_id: "u", output: "aborted" },
      shell,
      outputItem("", "aborted"),
    ])
  })

  it("distinguishes repeated call ids, oldest first", () => {
    assert.deepStrictEqual(
      historyOf(
        events(
          callItem("x", "1"),
          outputItem("1", "first"),
          callItem("x", "1"),
          callItem("x", "1"),
          outputItem("1", "second"),
          outputItem("1", "third"),
        ),
      ),
      ["first", "second", "third"].flatMap((text) => [callItem("x", "1"), outputItem("1", text)]),
    )
  })

  it("gives no output to a call of an earlier turn that was aborted", () => {
    assert.deepStrictEqual(
      historyOf(
        events(callItem("x", "1"), aborted, callItem("x", "1"), outputItem("1", "of the second")),
      ),
      [
        callItem("x", "1"),
        outputItem("1", "aborted"),
        callItem("x", "1"),
        outputItem("1", "of the second"),
      ],
    )
  })

  it("leaves out an output without a call", () => {
    assert.deepStrictEqual(historyOf(events(outputItem("9", "lost"), userItem("a"))), [
      userItem("a"),
    ])
  })
})

describe("outputFor", () => {
  it("matches the type of the call", () => {
    assert.deepStrictEqual(
      [callItem("x", "1"), custom, shell].filter(isToolCall).map((call) => outputFor(call, "o")),
      [
        outputItem("1", "o"),
        { type: "custom_tool_call_output", call_id: "u", output: "o" },
        outputItem("", "o"),
      ],
    )
  })

  it("drops the last messages of the user where a file of the original says only their number", () => {
    const said = (text: string) => [
      { type: "task_started", model_context_window: null } as const,
      userItem(text),
      { type: "user_message", message: text, kind: "plain" } as const,
      assistantItem(`to ${text}`),
    ]
    const dropped = (num_turns: number) => ({ type: "thread_rolled_back", num_turns }) as const
    assert.deepStrictEqual(
      historyOf(events(...said("a"), ...said("b"), ...said("c"), dropped(2), ...said("d"))),
      [userItem("a"), assistantItem("to a"), userItem("d"), assistantItem("to d")],
    )
    assert.deepStrictEqual(historyOf(events(...said("a"), dropped(5))), [])
    assert.lengthOf(historyOf(events(...said("a"), dropped(0))), 2)
  })

  it("replaces the images that an error names, and no later ones, and counts their tokens no more", () => {
    const image = (image_url: string): ResponseItem => ({
      type: "message",
      role: "user",
      content: [{ type: "input_image", image_url }],
    })
    const refused = (skip: number, count: number): EventMsg => ({
      type: "error",
      message: "no",
      refused_images: { skip, count },
    })
    const placeholder = userItem("[image left out: the model provider refused it]")
    const before = [image("a"), image("b"), image("c"), image("d")]
    const after = [image("a"), placeholder, placeholder, image("d")]
    const first = events(...before, refused(1, 2))
    assert.deepStrictEqual(historyOf(first), after)
    // Images that were replaced count no more.
    const second = events(...before, refused(1, 2), refused(1, 1))
    assert.deepStrictEqual(historyOf(second), [...after.slice(0, 3), placeholder])
    assert.deepStrictEqual(foldHistory(first).tokens, foldHistory(events(...after)).tokens)
    // A log names no more images than its history has; one that does is no fault.
    assert.deepStrictEqual(historyOf(events(userItem("x"), refused(3, 5))), [userItem("x")])
  })
})
