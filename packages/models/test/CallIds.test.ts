import { assert, describe, it } from "@effect/vitest"
import * as ChatWire from "../src/ChatWire.ts"
import { makeCallIds } from "../src/internal/CallIds.ts"
import * as ResponsesWire from "../src/ResponsesWire.ts"

const responsesEvents = (call_id: string | undefined) => [
  {
    type: "response.output_item.done",
    item: { type: "function_call", name: "shell", arguments: "{}", call_id },
  },
  { type: "response.completed", response: { id: "r" } },
]
const chatEvents = (id: string | undefined) => [
  { choices: [{ delta: { tool_calls: [{ id, function: { name: "shell", arguments: "{}" } }] } }] },
  { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
]

/** How often the ids of the history are looked up for a response with one call. */
const lookUps = (
  makeDecoder: typeof ChatWire.makeDecoder,
  events: ReadonlyArray<unknown>,
): readonly [count: number, callIds: ReadonlyArray<string>] => {
  let count = 0
  const decoder = makeDecoder(() => {
    count++
    return ["call_1"]
  })
  const out: Parameters<typeof decoder.event>[1] = []
  for (const event of events) decoder.event(JSON.stringify(event), out)
  decoder.end(out)
  const ids = out.flatMap((event) =>
    event._tag === "ItemDone" && event.item.type === "function_call" ? [event.item.call_id] : [],
  )
  return [count, ids]
}

describe("ids of calls", () => {
  it("are taken from the response without a look at the history when every call has one", () => {
    assert.deepStrictEqual(lookUps(ResponsesWire.makeDecoder, responsesEvents("a")), [0, ["a"]])
    assert.deepStrictEqual(lookUps(ChatWire.makeDecoder, chatEvents("a")), [0, ["a"]])
  })

  it("are made different from those of the history for calls without one", () => {
    const made: ReturnType<typeof lookUps> = [1, ["call_2"]]
    assert.deepStrictEqual(lookUps(ResponsesWire.makeDecoder, responsesEvents("")), made)
    assert.deepStrictEqual(lookUps(ChatWire.makeDecoder, chatEvents(undefined)), made)
  })

  it("count the calls of the history and of the response, and look the history up once", () => {
    let count = 0
    const next = makeCallIds(() => {
      count++
      return ["a", "call_4", "b"]
    })
    const ids = ["x", "", null, "call_7", undefined, undefined].map(next)
    assert.deepStrictEqual(ids, ["x", "call_5", "call_6", "call_7", "call_8", "call_9"])
    assert.strictEqual(count, 1)
  })
})
