import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { unfinishedAfter, unfinishedEvents } from "../../src/log/UnfinishedText.ts"
import { assistantItem } from "../support.ts"

const text = (delta: string): EventMsg => ({ type: "agent_message_delta", delta })
const thought = (delta: string): EventMsg => ({ type: "agent_reasoning_delta", delta })
const raw = (delta: string): EventMsg => ({ type: "agent_reasoning_raw_content_delta", delta })
const section: EventMsg = { type: "agent_reasoning_section_break" }
const again: EventMsg = { type: "stream_error", message: "again" }
const counted: EventMsg = { type: "token_count", info: null }
const message = (of: string): EventMsg => ({ type: "agent_message", message: of })
const summary = (of: string): EventMsg => ({ type: "agent_reasoning", text: of })
const content = (of: string): EventMsg => ({ type: "agent_reasoning_raw_content", text: of })
const record = (of: string): EventMsg => ({ type: "raw_response_item", item: assistantItem(of) })

const rows: ReadonlyArray<readonly [string, ReadonlyArray<EventMsg>, ReadonlyArray<EventMsg>]> = [
  ["nothing", [], []],
  ["a message", [text("par"), text("tial")], [record("partial"), message("partial")]],
  ["a message that was recorded", [text("all"), message("all")], []],
  ["an empty delta", [text(""), thought("")], []],
  ["reasoning, which is no part of the history", [thought("h"), thought("m")], [summary("hm")]],
  ["every section", [thought("1"), section, thought("2")], [summary("1"), summary("2")]],
  [
    "only the sections that were not recorded",
    [thought("1"), section, thought("2"), summary("1")],
    [summary("2")],
  ],
  ["raw reasoning", [raw("r")], [content("r")]],
  [
    "texts in the order in which they began",
    [thought("1"), raw("2"), text("3")],
    [summary("1"), content("2"), record("3"), message("3")],
  ],
  [
    "what a repeated request sends instead",
    [thought("old"), text("old"), again, thought("new"), text("new")],
    [summary("new"), record("new"), message("new")],
  ],
  ["what no further response has replaced", [thought("old"), counted], [summary("old")]],
]

describe("unfinished texts", () => {
  it.each(rows)("%s", (_, msgs, expected) => {
    assert.deepStrictEqual(unfinishedEvents(unfinishedAfter(undefined, "t", msgs)), expected)
    // Whether the events come at once or one by one makes no difference.
    const oneByOne = msgs.reduce(
      (before, msg) => unfinishedAfter(before, "t", [msg]),
      unfinishedAfter(undefined, "t", []),
    )
    assert.deepStrictEqual(unfinishedEvents(oneByOne), expected)
  })
})
