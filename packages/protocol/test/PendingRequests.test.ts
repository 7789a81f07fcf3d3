import { assert, describe, it } from "@effect/vitest"
import { parse, type RequestId } from "../src/JsonRpc.ts"
import * as PendingRequests from "../src/PendingRequests.ts"

const idOf = (digits: string): RequestId => {
  const message = parse(`{"id":${digits},"method":"m"}`)
  assert.strictEqual(message._tag, "Request")
  return message._tag === "Request" ? message.id : ""
}

describe("PendingRequests", () => {
  it("L1 gives an entry to the first caller that takes it, and to no later one", () => {
    const pending = PendingRequests.make<string>()
    assert.isTrue(pending.add(7, "seven"))
    assert.strictEqual(pending.get(7), "seven")
    assert.deepStrictEqual(
      [pending.take(7), pending.take(7), pending.size],
      ["seven", undefined, 0],
    )
  })

  it("rejects an id that is in use and keeps the first value", () => {
    const pending = PendingRequests.make<string>()
    assert.deepStrictEqual([pending.add("a", "first"), pending.add("a", "second")], [true, false])
    assert.strictEqual(pending.take("a"), "first")
    assert.isTrue(pending.add("a", "third"))
  })

  it("distinguishes ids by type and value, including extreme ones", () => {
    const ids = [
      0,
      "0",
      "",
      -1,
      "-1",
      Number.MAX_SAFE_INTEGER,
      idOf("9007199254740993"),
      "n9007199254740993",
    ]
    const pending = PendingRequests.make<number>()
    assert.deepStrictEqual(
      ids.map((id, i) => pending.add(id, i)),
      ids.map(() => true),
    )
    assert.strictEqual(pending.size, ids.length)
    assert.isFalse(pending.add(idOf("9007199254740993"), 99))
    assert.deepStrictEqual(
      ids.map((id) => pending.take(id)),
      ids.map((_, i) => i),
    )
  })

  it("drains everything, oldest first, once", () => {
    const pending = PendingRequests.make<string>()
    pending.add(2, "b")
    pending.add(1, "a")
    assert.deepStrictEqual([pending.drain(), pending.drain(), pending.size], [["b", "a"], [], 0])
  })
})
