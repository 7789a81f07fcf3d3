import { assert, describe, it } from "@effect/vitest"
import { headerFault, type Headers } from "../../../src/mcp/eras/Headers.ts"
import { newest, saying } from "../../support/Stateless.ts"

const inputSchema = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    count: { type: "integer", "x-mcp-header": "Count" },
    dry: { type: "boolean", "x-mcp-header": "Dry" },
    other: { type: "string" },
  },
}

const call = (args: unknown, name = "t") => ({
  method: "tools/call",
  params: saying({ name, arguments: args }),
})

const base: Headers = {
  "mcp-protocol-version": newest,
  "mcp-method": "tools/call",
  "mcp-name": "t",
}

const faultOf = (
  headers: Headers,
  request = call({}),
  schema: typeof inputSchema = inputSchema,
) => {
  const fault = headerFault(headers, request, schema)
  assert.strictEqual(fault?.code ?? -32020, -32020)
  return fault?.message.replace("Header mismatch: ", "")
}

describe("Headers", () => {
  it("accepts headers that agree with the body", () => {
    assert.isUndefined(faultOf(base))
    assert.isUndefined(
      faultOf(
        { "mcp-protocol-version": newest, "mcp-method": "tools/list" },
        {
          method: "tools/list",
          params: saying(),
        },
      ),
    )
    assert.isUndefined(faultOf({ ...base, "mcp-name": " \tt ", "mcp-param-unknown": "x" }))
  })

  it.each<readonly [headers: Headers, fault: string]>([
    [{ "mcp-protocol-version": undefined }, "MCP-Protocol-Version is absent"],
    [{ "mcp-protocol-version": "2025-11-25" }, "MCP-Protocol-Version differs from the body"],
    [{ "mcp-method": undefined }, "Mcp-Method is absent"],
    [{ "mcp-method": "Tools/Call" }, "Mcp-Method differs from the body"],
    [{ "mcp-name": undefined }, "Mcp-Name is absent"],
    [{ "mcp-name": "T" }, "Mcp-Name differs from the body"],
    [{ "mcp-name": "=?base64?dQ==?=" }, "Mcp-Name differs from the body"],
    [{ "mcp-param-region": "eu" }, "Mcp-Param-Region is there, and its argument is not"],
  ])("refuses %j", (headers, fault) => {
    assert.strictEqual(faultOf({ ...base, ...headers }), fault)
  })

  it.each<readonly [method: string, member: string]>([
    ["prompts/get", "name"],
    ["resources/read", "uri"],
    ["tasks/get", "taskId"],
    ["tasks/update", "taskId"],
    ["tasks/cancel", "taskId"],
  ])("%s is named by its %s", (method, member) => {
    const request = { method, params: saying({ [member]: "x" }) }
    const headers = { ...base, "mcp-method": method }
    assert.isUndefined(headerFault({ ...headers, "mcp-name": "x" }, request))
    assert.strictEqual(headerFault({ ...headers, "mcp-name": "y" }, request)?.code, -32020)
  })

  it.each<readonly [value: unknown, header: string | undefined, accepted: boolean]>([
    ["Hello", "Hello", true],
    ["Hello", "hello", false],
    ["Hello", undefined, false],
    ["Hello", "=?base64?SGVsbG8=?=", true],
    ["Hello", "=?base64?SGVsbG8?=", false],
    ["Hello", "=?base64?SGVs!!!bG8=?=", false],
    ["Hello", "=?base64?SGVsbG8=?= ", true],
    ["=?base64?SGVsbG8=", "=?base64?SGVsbG8=", true],
    ["SGVsbG8=?=", "SGVsbG8=?=", true],
    ["é", "=?base64?w6k=?=", true],
    ["é", "=?base64?6Q==?=", false],
    [" a\r\n", "=?base64?IGENCg==?=", true],
    ["", "", true],
    ["", "=?base64??=", true],
    [null, undefined, true],
    [null, "", false],
  ])("the argument %j with the header %j: %s", (region, header, accepted) => {
    const headers = header === undefined ? base : { ...base, "mcp-param-region": header }
    assert.strictEqual(faultOf(headers, call({ region })) === undefined, accepted)
  })

  it.each<readonly [args: unknown, headers: Headers, accepted: boolean]>([
    [{ count: 7 }, { "mcp-param-count": "7" }, true],
    [{ count: 7 }, { "mcp-param-count": "7.0" }, true],
    [{ count: 7 }, { "mcp-param-count": "07x" }, false],
    [{ count: 0 }, { "mcp-param-count": "" }, false],
    [{ count: 7 }, { "mcp-param-count": "8" }, false],
    [{ dry: false }, { "mcp-param-dry": "false" }, true],
    [{ dry: false }, { "mcp-param-dry": "False" }, false],
    [{ other: "x" }, {}, true],
  ])("numbers are compared as numbers: %j and %j: %s", (args, headers, accepted) => {
    assert.strictEqual(faultOf({ ...base, ...headers }, call(args)) === undefined, accepted)
  })
})
