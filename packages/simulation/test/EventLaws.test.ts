import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { eventLaws } from "../src/EventLaws.ts"

const started: EventMsg = { type: "task_started", model_context_window: null }
const ended: EventMsg = { type: "task_complete", last_agent_message: null }
const asked: EventMsg = { type: "tool_approval_request", call_id: "c", tool: "t", arguments: {} }
const resolved = (decision: "approved" | "denied"): EventMsg => ({
  type: "approval_resolved",
  call_id: "c",
  decision,
  reason: "answered",
})
const begun: EventMsg = { type: "tool_call_begin", call_id: "c", tool: "t", arguments: {} }
const done: EventMsg = {
  type: "tool_call_end",
  call_id: "c",
  tool: "t",
  duration: { secs: 0, nanos: 0 },
  result: { Ok: 1 },
}

const log = (...turns: ReadonlyArray<ReadonlyArray<EventMsg>>): ReadonlyArray<Event> =>
  turns
    .flatMap((msgs, turn) => msgs.map((msg) => ({ id: `turn-${turn}`, msg })))
    .map((event, i) => ({ seq: i + 1, ...event }))

const broken = (events: ReadonlyArray<Event>) =>
  eventLaws.flatMap(({ check, law }) => check(events).map((what) => `${law} ${what}`))

const good = log(
  [started, asked, resolved("approved"), begun, done, ended],
  [started, asked, resolved("denied"), ended],
)

describe("laws of event logs", () => {
  it("L4 L5 L7 a log that keeps them has no violation", () => {
    assert.deepStrictEqual(broken(good), [])
    assert.deepStrictEqual(broken([]), [])
  })

  it.each<[string, ReadonlyArray<Event>, string]>([
    ["L3 a late start", log([{ type: "session_configured" } as EventMsg]), "L3 event 1 is"],
    ["L4 a gap", good.toSpliced(3, 1), "L4 tool_call_end has number 5"],
    ["L4 a repetition", [...good, ...good.slice(-1)], "where 11 is next"],
    ["L5 no end", log([started]), "L5 turn turn-0: 0 terminal events"],
    ["L5 two ends", log([started, ended, ended]), "L5 turn turn-0: 2 terminal events"],
    ["L5 events after the end", log([started, ended, begun, done]), "tool_call_end after its end"],
    ["L5 two starts", log([started, started, ended]), "L5 turn turn-0: started 2 times"],
    ["L5 a turn within another", log([started], [started, ended]), "starts within turn-0"],
    ["L5 a call without an end", log([started, begun, ended]), "L5 call c of turn turn-0: 0 ends"],
    ["L7 an open question", log([started, asked, ended]), "resolved 0 times"],
    [
      "L7 a call without its approval",
      log([started, asked, resolved("denied"), begun, done, ended]),
      "L7 call c of turn turn-0: runs without its approval",
    ],
  ])("%s is a violation", (_, events, what) => {
    assert.include(broken(events).join("\n"), what)
  })
})
