import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { PartialTexts } from "../../src/log/PartialText.ts"
import { assistantItem } from "../support.ts"

const text = (delta: string): EventMsg => ({ type: "agent_message_delta", delta })
const thought = (delta: string): EventMsg => ({ type: "agent_reasoning_delta", delta })
const raw = (delta: string): EventMsg => ({ type: "agent_reasoning_raw_content_delta", delta })

const after = (...messages: ReadonlyArray<EventMsg>) => {
  const partials = new PartialTexts()
  for (const msg of messages) partials.add("t", msg)
  return partials.current().map(({ msg }) => msg)
}

describe("PartialTexts", () => {
  it("joins the pieces of each text in progress, under the id of its turn", () => {
    const partials = new PartialTexts()
    for (const msg of [thought("a"), text("x"), thought("b"), raw("r"), text("y")]) {
      partials.add("t", msg)
    }
    const current = [
      { id: "t", msg: thought("ab") },
      { id: "t", msg: text("xy") },
      { id: "t", msg: raw("r") },
    ]
    assert.deepStrictEqual(partials.current(), current)
    assert.deepStrictEqual(partials.current(), current)
  })

  it("forgets a text when the event that repeats it in full arrives, and only that text", () => {
    const all = [text("x"), thought("a"), raw("r")]
    const left = (msg: EventMsg) => after(...all, msg)
    assert.deepStrictEqual(left({ type: "agent_message", message: "x" }), [thought("a"), raw("r")])
    assert.deepStrictEqual(left({ type: "agent_reasoning", text: "a" }), [text("x"), raw("r")])
    assert.deepStrictEqual(left({ type: "agent_reasoning_section_break" }), [text("x"), raw("r")])
    assert.deepStrictEqual(left({ type: "agent_reasoning_raw_content", text: "r" }), [
      text("x"),
      thought("a"),
    ])
  })

  it("keeps the text of the running turn when a queued submission ends", () => {
    const partials = new PartialTexts()
    partials.add("t", text("x"))
    partials.add("waiting", { type: "turn_aborted", reason: "interrupted" })
    partials.add("t", text("y"))
    assert.deepStrictEqual(partials.current(), [{ id: "t", msg: text("xy") }])
  })

  it("forgets every text when a request fails or ends, or its turn does", () => {
    const ends: ReadonlyArray<EventMsg> = [
      { type: "stream_error", message: "again" },
      { type: "token_count", info: null },
      { type: "task_complete", last_agent_message: null },
      { type: "turn_aborted", reason: "interrupted" },
    ]
    for (const end of ends) {
      assert.deepStrictEqual(after(text("x"), thought("a"), raw("r"), end), [])
      assert.deepStrictEqual(after(text("x"), end, text("y")), [text("y")])
    }
  })

  it("keeps the texts through every other event", () => {
    assert.deepStrictEqual(
      after(
        text("x"),
        { type: "raw_response_item", item: assistantItem("x") },
        { type: "user_message", message: "more" },
        { type: "background_event", message: "b" },
        { type: "error", message: "e" },
      ),
      [text("x")],
    )
  })
})
