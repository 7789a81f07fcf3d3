import type { AskForApproval, ToolServerApproval } from "@colloquy/protocol/Policy"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import { needsApproval } from "../../src/policy/ToolServerPolicy.ts"

const tools = {
  reads: { annotations: { readOnlyHint: true } },
  writes: { annotations: { destructiveHint: true } },
  silent: {},
}

const asked = (
  approval: ToolServerApproval | undefined,
  approvalPolicy: AskForApproval,
  toolServerApproval?: ToolServerApproval,
) => {
  const server = {
    transport: { _tag: "Stdio" as const, command: "x", args: [], env: {} },
    startupTimeout: Duration.seconds(1),
    toolTimeout: Duration.seconds(1),
    ...(approval === undefined ? {} : { approval }),
  }
  const settings = {
    approvalPolicy,
    mcpServers: { s: server },
    ...(toolServerApproval === undefined ? {} : { toolServerApproval }),
  }
  return Object.entries(tools).flatMap(([name, tool]) =>
    needsApproval(settings, "s", tool) ? [name] : [],
  )
}

describe("needsApproval of a call of a tool server", () => {
  it.each([
    [undefined, "on-request", []],
    ["approve", "on-request", []],
    ["prompt", "never", ["reads", "writes", "silent"]],
    ["writes", "never", ["writes", "silent"]],
    ["auto", "on-request", ["writes", "silent"]],
    ["auto", "untrusted", ["writes", "silent"]],
    ["auto", "never", []],
  ] as const)("%s under the policy %s: %j", (approval, policy, expected) => {
    assert.deepStrictEqual<ReadonlyArray<string>>(asked(approval, policy), expected)
  })

  it("what the configuration says of a server counts more than the setting of the conversation", () => {
    assert.deepStrictEqual(asked(undefined, "on-request", "auto"), ["writes", "silent"])
    assert.deepStrictEqual(asked("approve", "on-request", "auto"), [])
  })
})
