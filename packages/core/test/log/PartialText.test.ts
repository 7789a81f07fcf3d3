import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { PartialTexts } from "../../src/log/PartialText.ts"
import { assistantItem } from "../support.ts"

const text = (delta: string): EventMsg => ({ type: "agent_message_delta", delta })
const thought = (delta: string): EventMsg => ({ type: "agent_reasoning_delta", delta })
const raw = (delta: string): EventMsg => ({ type: "agent_reasoning_raw_content_delta", delta })

const section: EventMsg = { type: "agent_reasoning_section_break" }
const summary = (of: string): EventMsg => ({ type: "agent_reasoning", text: of })

/** The texts after these messages, of which each has its place as its number. */
const partialsAfter = (...messages: ReadonlyArray<EventMsg>) => {
  const partials = new PartialTexts()
  for (const [seq, msg] of messages.entries()) partials.add({ seq, id: "t", msg })
  return partials
}

const after = (...messages: ReadonlyArray<EventMsg>) =>
  partialsAfter(...messages)
    .current()
    .map(({ msg }) => msg)

/** The sections that a break has ended: the number of the break, the text, and the number of the record. */
const endedAfter = (...messages: ReadonlyArray<EventMsg>) =>
  partialsAfter(...messages).sections.map(({ end, record, text }) =>
    record === undefined ? [end, text] : [end, text, record],
  )

describe("PartialTexts", () => {
  it("joins the pieces of each text in progress, under the id of its turn", () => {
    const partials = new PartialTexts()
    for (const msg of [thought("a"), text("x"), thought("b"), raw("r"), text("y")]) {
      partials.add({ seq: 0, id: "t", msg })
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
    assert.deepStrictEqual(left(section), [text("x"), raw("r")])
    assert.deepStrictEqual(left({ type: "agent_reasoning_raw_content", text: "r" }), [
      text("x"),
      thought("a"),
    ])
  })

  it("keeps every section of a summary until it is recorded, the oldest first", () => {
    const streamed = [
      section,
      thought("1"),
      thought("one"),
      section,
      section,
      thought("2"),
      section,
    ]
    assert.deepStrictEqual(endedAfter(...streamed, thought("3")), [
      [3, "1one"],
      [6, "2"],
    ])
    assert.deepStrictEqual(after(...streamed, thought("3")), [thought("3")])
    assert.deepStrictEqual(endedAfter(...streamed, thought("3"), summary("1one")), [
      [3, "1one", 8],
      [6, "2"],
    ])
    const all = [summary("1one"), summary("2"), summary("3")]
    assert.deepStrictEqual(endedAfter(...streamed, thought("3"), ...all), [])
    assert.deepStrictEqual(after(...streamed, thought("3"), ...all.slice(1)), [thought("3")])
    assert.deepStrictEqual(after(...streamed, thought("3"), ...all), [])
  })

  it("keeps no section without text, and none of another submission than that of the break", () => {
    assert.deepStrictEqual(endedAfter(thought(""), section), [])
    const partials = partialsAfter(thought("1"))
    partials.add({ seq: 1, id: "waiting", msg: section })
    assert.deepStrictEqual([partials.sections.length, partials.current().length], [0, 1])
  })

  it("keeps the text of the running turn when a queued submission ends", () => {
    const partials = new PartialTexts()
    for (const msg of [thought("1"), section, text("x")]) partials.add({ seq: 0, id: "t", msg })
    partials.add({ seq: 1, id: "waiting", msg: { type: "turn_aborted", reason: "interrupted" } })
    partials.add({ seq: 1, id: "t", msg: text("y") })
    assert.deepStrictEqual(partials.current(), [{ id: "t", msg: text("xy") }])
    assert.deepStrictEqual(partials.sections, [{ id: "t", end: 0, text: "1", record: undefined }])
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
      assert.deepStrictEqual(endedAfter(thought("1"), section, end), [])
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
