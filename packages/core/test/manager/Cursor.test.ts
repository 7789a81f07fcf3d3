import { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import { BadCursor } from "../../src/ConversationErrors.ts"
import { decode, encode } from "../../src/manager/directory/Cursor.ts"

const id = ConversationId.make("00000000-0000-7000-8000-000000000001")

describe("Cursor", () => {
  it("decodes to the position that it was encoded from", () => {
    for (const createdAtMs of [0, 1, 41, 100_000, 999_999_999_999_999]) {
      assert.deepStrictEqual(
        decode(encode({ createdAtMs, id })),
        Result.succeed({ createdAtMs, id }),
      )
    }
  })

  it("L13 refuses every text that encode does not produce", () => {
    const ours = encode({ createdAtMs: 7, id })
    const foreign = [
      "",
      "7",
      id,
      "%%%",
      ours.slice(1),
      ours.slice(0, -1),
      `${ours}=`,
      `${ours}A`,
      "\ud800",
      Base64Url.encode(`c1:7:${id}`),
      Base64Url.encode(`c2:07:${id}`),
      Base64Url.encode(`c2:-7:${id}`),
      Base64Url.encode(`c2:7.5:${id}`),
      Base64Url.encode(`c2:1${"0".repeat(15)}:${id}`),
      Base64Url.encode(`c2:7:${id.toUpperCase()}x`),
      Base64Url.encode(`c2:7:${"-".repeat(36)}`),
    ]
    for (const text of foreign) {
      assert.deepStrictEqual(decode(text), Result.fail(new BadCursor()), text)
    }
  })
})
