import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { codecOf } from "../../src/Method.ts"
import { AnyThreadItem } from "../../src/thread/Items.ts"
import { ErrorNotification, ThreadStatusChanged } from "../../src/thread/Notifications.ts"
import { ThreadStart } from "../../src/thread/Threads.ts"

const roundTrip = <S extends Schema.Codec<unknown>>(schema: S, value: unknown) => {
  const decoded = Schema.decodeUnknownSync(schema)(value)
  assert.deepStrictEqual(Schema.encodeSync(schema)(decoded), value)
  return decoded
}

describe("what a later version of the server sends", () => {
  it("an item of an unknown type, or with an unknown status, is read and written back unchanged", () => {
    const times = { startedAtMs: null, completedAtMs: 1 }
    for (const sent of [
      { type: "hologram", id: "i", depth: { cm: 3 }, ...times },
      { type: "fileChange", id: "i", changes: [], status: "postponed", ...times },
      { type: "plan" },
    ]) {
      assert.deepStrictEqual(roundTrip(AnyThreadItem, sent), { type: "unknown_item", sent })
    }
    const known = { type: "plan", id: "i", text: "first", ...times } as const
    assert.deepStrictEqual(roundTrip(AnyThreadItem, known), known)
  })

  it("an item narrows by its type", () => {
    const read = (item: AnyThreadItem): string => {
      switch (item.type) {
        case "plan":
          return item.text
        case "unknown_item":
          return item.sent.type
        default:
          return item.id
      }
    }
    const sent = { type: "hologram" }
    assert.strictEqual(read(Schema.decodeUnknownSync(AnyThreadItem)(sent)), "hologram")
  })

  it("an unknown member of an enumeration is read and written back unchanged", () => {
    const status = { threadId: "t", status: { type: "paused", since: 3 } }
    assert.deepStrictEqual(roundTrip(ThreadStatusChanged.payloadSchema, status), {
      threadId: "t",
      status: { unknown: { type: "paused", since: 3 } },
    })
    const error = { message: "m", additionalDetails: null, misalignment: null }
    const failed = (codexErrorInfo: unknown) => ({
      error: { ...error, codexErrorInfo },
      willRetry: false,
      threadId: "t",
      turnId: "u",
    })
    for (const info of ["moonPhase", { moonPhase: { days: 3 } }]) {
      const { error: read } = roundTrip(ErrorNotification.payloadSchema, failed(info))
      assert.deepStrictEqual(read.codexErrorInfo, { unknown: info })
    }
    const { error: read } = roundTrip(ErrorNotification.payloadSchema, failed("other"))
    assert.strictEqual(read.codexErrorInfo, "other")
  })

  it("params are strict: an unknown member of an enumeration is refused", () => {
    const { decodeParams } = codecOf(ThreadStart)
    assert.strictEqual(decodeParams({ sandbox: "bogus" })._tag, "Failure")
    assert.strictEqual(decodeParams({ sandbox: null, later: 1 })._tag, "Success")
  })
})
