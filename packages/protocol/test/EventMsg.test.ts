import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { AnyEventMsg, EventMsg, isEphemeral, isTerminal } from "../src/EventMsg.ts"
import { recordedEvents } from "./support.ts"

const decode = Schema.decodeUnknownSync(AnyEventMsg)
const encode = Schema.encodeSync(AnyEventMsg)
const isKnown = Schema.is(EventMsg)

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Variants by their tags. */
const variants = new Map(EventMsg.members.map((member) => [member.fields.type.literal, member]))

/** Events that 0.29 sent in another shape, by type: they stay readable unchanged. */
const older = ["exec_command_output_delta", "token_count"]

describe("EventMsg", () => {
  it("has every variant once", () => {
    assert.strictEqual(variants.size, EventMsg.members.length)
    assert.isAtLeast(variants.size, 37)
  })

  for (const [type, member] of variants) {
    it.prop(
      `${type} reads back as it was written`,
      { msg: member },
      ({ msg }) => {
        const wire = json(encode(msg))
        assert.isTrue(isKnown(decode(wire)))
        assert.deepStrictEqual(json(encode(decode(wire))), wire)
      },
      { arbitrary: { runs: 20 } },
    )
  }

  it.each([
    { type: "from_the_future", nested: { list: [1, "two", null] } },
    { type: "" },
    { type: "error", message: 42, more: true },
    { type: "task_complete" },
    { type: "session_configured", session_id: null },
    { type: "agent_message_delta", delta: ["par"] },
    { type: "turn_aborted", reason: "a_new_reason" },
    { type: "token_count", info: { total_token_usage: "many" } },
    {
      type: "patch_apply_begin",
      call_id: "c",
      auto_approved: true,
      changes: { a: { rename: {} } },
    },
  ])("what is unknown or malformed encodes back unchanged: %j", (msg) => {
    const decoded = decode(msg)
    assert.isFalse(isKnown(msg))
    assert.deepStrictEqual<unknown>(encode(decoded), msg)
  })

  it.each([undefined, null, "error", 7, [], {}, { type: 1 }])("%j is no event", (value) => {
    assert.throws(() => decode(value))
  })

  it("exactly these events end a turn or are ephemeral", () => {
    const of = (accept: (msg: EventMsg) => boolean) =>
      [...variants.keys()].filter((type) => accept({ type } as EventMsg))
    assert.deepStrictEqual(of(isTerminal), ["task_complete", "turn_aborted"])
    assert.deepStrictEqual(of(isEphemeral), [
      "agent_message_delta",
      "agent_reasoning_delta",
      "agent_reasoning_raw_content_delta",
      "exec_command_output_delta",
      "mcp_tool_call_progress",
    ])
  })
})

describe("EventMsg: the events of all recordings of 0.29", () => {
  it("are there", () => {
    assert.isAbove(recordedEvents.length, 200)
    assert.isAbove(new Set(recordedEvents.map(({ msg }) => msg.type)).size, 20)
  })

  it("all decode and encode back unchanged", () => {
    for (const { recording, msg } of recordedEvents) {
      assert.deepStrictEqual<unknown>(encode(decode(msg)), msg, recording)
    }
  })

  it("are known events, except for the shapes that changed after 0.29", () => {
    const unknown = recordedEvents.filter(({ msg }) => !isKnown(msg)).map(({ msg }) => msg.type)
    assert.deepStrictEqual([...new Set(unknown)].toSorted(), older.toSorted())
  })
})
