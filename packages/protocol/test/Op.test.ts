import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { isLegacyOp, Op } from "../src/Op.ts"

const decode = Schema.decodeUnknownSync(Op)
const encode = Schema.encodeSync(Op)

describe("Op", () => {
  it.prop("every op reads back as it was written", { op: Op }, ({ op }) => {
    const wire: unknown = JSON.parse(JSON.stringify(encode(op)))
    assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(encode(decode(wire)))), wire)
  })

  it("has the ops of the original, and those for the questions of tools, the queue of input and the end of a conversation", () => {
    assert.deepStrictEqual(Op.members.map((member) => member.fields.type.literal).toSorted(), [
      "add_to_history",
      "client_tool_result",
      "compact",
      "edit_queued",
      "elicitation_answer",
      "exec_approval",
      "get_history_entry_request",
      "get_path",
      "interrupt",
      "list_custom_prompts",
      "list_mcp_tools",
      "mark_read",
      "override_turn_context",
      "patch_approval",
      "permissions_approval",
      "remove_queued",
      "reorder_queue",
      "revert",
      "review",
      "run_user_shell_command",
      "shutdown",
      "start_queued",
      "tool_approval",
      "user_input",
      "user_input_answer",
      "user_turn",
    ])
  })

  it("marks the ops that every conversation rejects", () => {
    assert.deepStrictEqual(
      Op.members
        .filter((member) => isLegacyOp({ type: member.fields.type.literal } as Op))
        .map((member) => member.fields.type.literal),
      ["add_to_history", "get_history_entry_request", "get_path", "list_custom_prompts"],
    )
  })

  it.each<readonly [wire: unknown, message: RegExp]>([
    [{ type: "user_inptu", items: [] }, /type/],
    [{ type: "user_input" }, /items/],
    [{ type: "user_input", items: [{ type: "text" }] }, /text/],
    [{ type: "exec_approval", id: "1", decision: "maybe" }, /decision/],
    [{ type: "override_turn_context", effort: "extreme" }, /effort/],
    [{}, /type/],
    [null, /Expected/],
  ])("%j is rejected with the name of the wrong member", (wire, message) => {
    assert.throws(() => decode(wire), message)
  })

  it("an absent member of override_turn_context keeps its value, null clears the effort", () => {
    assert.deepStrictEqual<unknown>(decode({ type: "override_turn_context" }), {
      type: "override_turn_context",
    })
    assert.deepStrictEqual<unknown>(decode({ type: "override_turn_context", effort: null }), {
      type: "override_turn_context",
      effort: null,
    })
  })
})
