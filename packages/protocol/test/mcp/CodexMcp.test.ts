import { assert, describe, it } from "@effect/vitest"
import * as McpSchema from "effect/ai/McpSchema"
import * as Schema from "effect/Schema"
import { notificationText, parse, type RequestId } from "../../src/JsonRpc.ts"
import { Initialize, Cancelled, CodexEvent, ToolsCall, ToolsList } from "../../src/mcp/CodexMcp.ts"
import { negotiate, protocolVersions } from "../../src/mcp/Initialize.ts"
import { codexTools } from "../../src/mcp/CodexTools.ts"
import { codecOf, type Method } from "../../src/Method.ts"

const success = (result: ReturnType<ReturnType<typeof codecOf>["decodeParams"]>): unknown => {
  if (result._tag === "Failure") assert.fail(result.failure.message)
  return result.success
}
/** What goes over the wire when the other side writes it. */
const overTheWire = (method: Method, params: unknown): unknown => {
  const text = notificationText(method._tag, success(codecOf(method).encodeParams(params)))
  const message = parse(text)
  assert.strictEqual(message._tag, "Notification")
  return message._tag === "Notification" ? success(codecOf(method).decodeParams(message.params)) : 0
}

const idOf = (digits: string): RequestId => {
  const message = parse(`{"id":${digits},"method":"m"}`)
  return message._tag === "Request" ? message.id : ""
}

describe("CodexMcp", () => {
  it.each<readonly [offered: string, agreed: string]>([
    ["2024-11-05", "2024-11-05"],
    ["2025-03-26", "2025-03-26"],
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2025-11-2", "2025-11-25"],
    ["DRAFT-2026", "2025-11-25"],
    ["", "2025-11-25"],
  ])("offered %j, agreed %s", (offered, agreed) => {
    assert.strictEqual(negotiate(offered), agreed)
  })

  it("revisions are listed newest first", () => {
    assert.deepStrictEqual([...protocolVersions], [...protocolVersions].toSorted().toReversed())
  })

  it.each(["0", '"0"', '""', "-1", "9007199254740991", "9007199254740993", '"9007199254740993"'])(
    "an event and a cancellation keep the digits of request id %s",
    (digits) => {
      const requestId = idOf(digits)
      const event = {
        _meta: { requestId, threadId: "t" },
        id: "1",
        msg: { type: "agent_message", message: "m" },
      }
      const text = notificationText("e", success(codecOf(CodexEvent).encodeParams(event)))
      assert.include(text, `"_meta":{"requestId":${digits},"threadId":"t"}`)
      assert.deepStrictEqual(overTheWire(CodexEvent, event), event)
      assert.deepStrictEqual(overTheWire(Cancelled, { requestId }), { requestId })
    },
  )

  it("an event of a later version passes through a client of this one", () => {
    const sent = { type: "a_later_event", deep: { list: [1, null] } }
    assert.deepStrictEqual(overTheWire(CodexEvent, { id: "1", msg: sent }), {
      id: "1",
      msg: { type: "unknown_event", sent },
    })
  })

  it("what it writes another implementation reads", () => {
    const initialized = {
      protocolVersion: "2025-11-25",
      capabilities: { tools: { listChanged: true }, experimental: { "codex/event": {} } },
      serverInfo: { name: "colloquy", title: "Colloquy", version: "1" },
      instructions: "Use it.",
    }
    const result = success(codecOf(Initialize).encodeResult(initialized))
    const read = Schema.decodeUnknownSync(McpSchema.InitializeResult)(result)
    assert.strictEqual(read.protocolVersion, "2025-11-25")

    const tools = codexTools.map(({ arguments: _, ...tool }) => tool)
    const list = success(codecOf(ToolsList).encodeResult({ tools, nextCursor: "c" }))
    const page = Schema.decodeUnknownSync(McpSchema.ListToolsResult)(list)
    assert.deepStrictEqual([page.tools.length, page.nextCursor], [2, "c"])

    const called = success(
      codecOf(ToolsCall).encodeResult({
        content: [{ type: "text", text: "t" }],
        structuredContent: { threadId: "t" },
        isError: true,
      }),
    )
    const outcome = Schema.decodeUnknownSync(McpSchema.CallToolResult)(called)
    assert.deepStrictEqual([outcome.isError, outcome.structuredContent], [true, { threadId: "t" }])
  })

  it("what another implementation writes it reads", () => {
    const params = Schema.encodeUnknownSync(McpSchema.Initialize.payloadSchema)({
      protocolVersion: "2025-06-18",
      capabilities: McpSchema.ClientCapabilities.make({ roots: { listChanged: true } }),
      clientInfo: { name: "another", version: "2" },
    })
    assert.strictEqual(codecOf(Initialize).decodeParams(params)._tag, "Success")
    const call = Schema.encodeUnknownSync(McpSchema.CallTool.payloadSchema)({
      name: "codex",
      arguments: { prompt: "x" },
    })
    assert.strictEqual(codecOf(ToolsCall).decodeParams(call)._tag, "Success")
  })

  it("keeps content of an unknown type", () => {
    const result = {
      content: [
        { type: "hologram", depth: 3 },
        { type: "text", text: "t" },
      ],
    }
    const decoded = success(codecOf(ToolsCall).decodeResult(result))
    assert.deepStrictEqual(success(codecOf(ToolsCall).encodeResult(decoded)), result)
  })
})
