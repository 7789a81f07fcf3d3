import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import type { ResponseItem } from "@colloquy/protocol/ResponseItem"
import { EventLog } from "../../src/log/EventLog.ts"
import { historyOf } from "../../src/log/History.ts"
import { callItem, outputItem, userItem } from "../support.ts"

const note = (seq: number): Event => ({
  seq,
  id: "t",
  msg: { type: "background_event", message: `${seq}` },
})
const piece = (seq: number, delta: string): Event => ({
  seq,
  id: "t",
  msg: { type: "agent_message_delta", delta },
})

describe("EventLog", () => {
  it("L4 keeps the durable events by their number", () => {
    const log = new EventLog()
    assert.deepStrictEqual([log.seq, log.all()], [0, []])
    log.append([note(0), piece(0, "a"), note(1)])
    log.append([])
    log.append([piece(1, "b"), piece(1, "c")])
    assert.strictEqual(log.seq, 2)
    assert.deepStrictEqual(log.all(), [note(0), note(1)])
  })

  it("keeps the time of each durable event", () => {
    const log = new EventLog()
    log.append([note(0), piece(0, "a"), note(1)], [5, 6])
    log.append([piece(1, "b"), note(2), piece(2, "c"), note(3)], [8, 9])
    assert.deepStrictEqual(
      [0, 1, 2, 3].map((seq) => log.timeOf(seq)),
      [5, 6, 8, 9],
    )
  })

  it("reads a slice from a number on, and nothing past its end", () => {
    const log = new EventLog()
    log.append([0, 1, 2, 3].map(note))
    assert.deepStrictEqual(log.slice(1, 2), [note(1), note(2)])
    assert.deepStrictEqual(log.slice(3, 5), [note(3)])
    assert.deepStrictEqual([log.slice(4, 5), log.slice(9, 5)], [[], []])
  })

  it("returns a text in progress as one delta after the last durable event", () => {
    const log = new EventLog()
    log.append([note(0), piece(0, "a"), note(1), piece(1, "b")])
    assert.deepStrictEqual(log.inProgress(), [piece(1, "ab")])
    const message: EventMsg = { type: "agent_message", message: "ab" }
    log.append([{ seq: 2, id: "t", msg: message }])
    assert.deepStrictEqual(log.inProgress(), [])
  })

  it("returns the sections of a summary that is not recorded, each before the break that ends it", () => {
    const event = (seq: number, msg: EventMsg): Event => ({ seq, id: "t", msg })
    const thought = (seq: number, delta: string) =>
      event(seq, { type: "agent_reasoning_delta", delta })
    const end = (seq: number) => event(seq, { type: "agent_reasoning_section_break" })
    const summary = (seq: number, text: string) => event(seq, { type: "agent_reasoning", text })
    const log = new EventLog()
    log.append([note(0), end(1), thought(1, "o"), thought(1, "ne"), end(2), note(3)])
    log.append([thought(3, "two"), end(4), thought(4, "three")])
    const one = [thought(1, "one"), end(2)]
    assert.deepStrictEqual(
      [2, 3, 4, 5].map((seq) => log.sectionsBefore(seq)),
      [[], one, one, [...one, thought(3, "two"), end(4)]],
    )
    const ended = () => log.all().map((one) => log.endedBy(one)?.msg)
    const [first, second] = [thought(1, "one").msg, thought(3, "two").msg]
    assert.deepStrictEqual(ended(), [undefined, undefined, first, undefined, second])
    assert.deepStrictEqual(log.inProgress(), [thought(4, "three")])
    // A record belongs to the oldest section that a listener has: one that gets the record needs the text.
    log.append([summary(5, "one")])
    assert.deepStrictEqual(
      [5, 6].map((seq) => log.sectionsBefore(seq)),
      [
        [...one, thought(3, "two"), end(4)],
        [thought(3, "two"), end(4)],
      ],
    )
    assert.deepStrictEqual(ended().slice(0, 5), [undefined, undefined, first, undefined, second])
    log.append([summary(6, "two"), summary(7, "three")])
    assert.deepStrictEqual([log.sectionsBefore(8), log.inProgress()], [[], []])
    assert.deepStrictEqual(new Set(ended()), new Set([undefined]))
  })

  it("returns the same history after every event as a fold of the whole log", () => {
    const items: ReadonlyArray<ResponseItem> = [
      userItem("a"),
      callItem("x", "1"),
      callItem("y", "2"),
      outputItem("2", "two"),
      outputItem("1", "one"),
      userItem("b"),
    ]
    const log = new EventLog()
    const given = items.map((item, seq) => {
      log.append([{ seq, id: "t", msg: { type: "raw_response_item", item } }])
      return log.history()
    })
    assert.deepStrictEqual(
      given,
      items.map((_, seq) => historyOf(log.all().slice(0, seq + 1))),
    )
  })
})
