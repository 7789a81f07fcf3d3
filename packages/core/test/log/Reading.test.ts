import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { decide } from "../../src/decider/Decide.ts"
import { type Reading, stepReading } from "../../src/log/Reading.ts"
import { after, idle, refusal, say, submit } from "../decisions.ts"

const said: EventMsg = { type: "user_message", message: "hi", kind: "plain" }
const answered: EventMsg = { type: "task_complete", last_agent_message: "ok" }
const silent: EventMsg = { type: "task_complete", last_agent_message: null }
const marked = (read: boolean): EventMsg => ({ type: "read_marked", read })

/** The reading after these events, each with the id of its turn, numbered from 0. */
const read = (...events: ReadonlyArray<readonly [id: string, msg: EventMsg]>) =>
  events.reduce<Reading | undefined>(
    (reading, [id, msg], seq) => stepReading(reading, { seq, id, msg }),
    undefined,
  )

describe("Reading", () => {
  it("is unread from the first turn with input, once a turn has an answer", () => {
    assert.isUndefined(read(["a", silent]))
    assert.isUndefined(read(["a", said], ["a", silent])?.unread)
    assert.deepStrictEqual(read(["a", said], ["a", silent], ["b", said], ["b", answered]), {
      revision: 3,
      since: "a",
      unread: { turnId: "a" },
    })
  })

  it("keeps the first unread turn while more turns have answers", () => {
    assert.deepStrictEqual(read(["a", said], ["a", answered], ["b", said], ["b", answered]), {
      revision: 3,
      since: "a",
      unread: { turnId: "a" },
    })
  })

  it("after everything was read, the next turn is the first unread one", () => {
    const before = [
      ["a", said],
      ["a", answered],
      ["m", marked(true)],
    ] as const
    assert.deepStrictEqual(read(...before), { revision: 2 })
    assert.deepStrictEqual(read(...before, ["b", said], ["b", answered])?.unread, { turnId: "b" })
    assert.deepStrictEqual(read(...before, ["m", marked(false)])?.unread, {})
  })

  it("is read once turns are dropped", () => {
    const dropped: EventMsg = { type: "thread_rolled_back", num_turns: 1, turn_id: "a" }
    assert.deepStrictEqual(read(["a", said], ["a", answered], ["r", dropped]), { revision: 2 })
  })
})

describe("decide: mark_read", () => {
  const mark = (isRead: boolean, revision?: number) =>
    submit(
      { type: "mark_read", read: isRead, ...(revision === undefined ? {} : { revision }) },
      { id: "m" },
    )

  it("records a change, and nothing where nothing changes", () => {
    const { events } = decide(idle, mark(false))
    assert.deepStrictEqual(events, [{ id: "m", msg: marked(false) }])
    assert.deepStrictEqual(decide(idle, mark(true)).events, [])
    assert.deepStrictEqual(after(idle, mark(false)).reading?.unread, {})
  })

  it("is refused for another revision", () => {
    assert.deepStrictEqual(
      say(idle, mark(false, 7)),
      refusal("ReadingChanged", "what is unread has changed"),
    )
    const unread = after(idle, mark(false))
    const revision = unread.reading?.revision ?? -1
    assert.isUndefined(decide(unread, submit({ type: "mark_read", read: true, revision })).refused)
  })
})
