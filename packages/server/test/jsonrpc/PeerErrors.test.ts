import { failureText, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Schema from "effect/Schema"
import { rpcError } from "../../src/jsonrpc/PeerErrors.ts"

describe("rpcError", () => {
  it("is the same error as one with a stack, but for the stack", () => {
    const members = { code: -32602, message: "no", data: { field: "a" } }
    const error = new JsonRpcError(members)
    const without = rpcError(members.code, members.message, members.data)
    assert.instanceOf(without, JsonRpcError)
    assert.instanceOf(without, Error)
    assert.isUndefined(without.stack)
    assert.strictEqual(String(without), String(error))
    assert.strictEqual(failureText(1, without), failureText(1, error))
    assert.deepStrictEqual(Schema.encodeSync(JsonRpcError)(without), {
      _tag: "JsonRpcError",
      ...members,
    })
    assert.include(Cause.pretty(Cause.fail(without)), "no")
  })

  it("has no member for data that is absent", () => {
    assert.notProperty(rpcError(1, "no"), "data")
  })
})
