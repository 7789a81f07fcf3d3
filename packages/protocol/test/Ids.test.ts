import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { ConversationId, parseConversationId, uuidV7 } from "../src/Ids.ts"

const id = "01a1fa29-0000-7000-8000-000000000000"
const word = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 32 - 1 }))

describe("uuidV7", () => {
  it.prop(
    "puts the time, the version, the variant and the random bits where RFC 9562 has them",
    {
      unixMs: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 1 })),
      random: Schema.Tuple([word, word, word, word]),
    },
    ({ unixMs, random }) => {
      const text = uuidV7(unixMs, random)
      assert.isTrue(Schema.is(ConversationId)(text), text)
      const digits = text.replaceAll("-", "")
      assert.strictEqual(Number.parseInt(digits.slice(0, 12), 16), unixMs)
      assert.strictEqual(digits[12], "7")
      assert.strictEqual(Number.parseInt(digits.slice(13, 16), 16), random[0] % 0x1000)
      assert.strictEqual(Number.parseInt(digits.slice(16, 20), 16), 0x8000 + (random[1] % 0x4000))
      assert.strictEqual(Number.parseInt(digits.slice(20, 24), 16), Math.floor(random[2] / 0x10000))
      assert.strictEqual(Number.parseInt(digits.slice(24), 16), random[3])
    },
  )

  it("two ids of the same instant differ in their random bits, later ones sort after", () => {
    const at = (ms: number, n: number) => uuidV7(ms, [n, n, n, n])
    assert.notStrictEqual(at(1, 1), at(1, 2))
    assert.isBelow(at(1000, 0xffff_ffff).localeCompare(at(1001, 0)), 0)
  })

  it("takes the integer part of a fractional time", () => {
    assert.strictEqual(uuidV7(1234.9, [0, 0, 0, 0]), uuidV7(1234, [0, 0, 0, 0]))
  })
})

describe("parseConversationId", () => {
  const character = (found: string, at: number) =>
    `invalid character: expected an optional prefix of \`urn:uuid:\` followed by [0-9a-fA-F-], found \`${found}\` at ${at}`
  const length = (digits: number) =>
    `invalid length: expected length 32 for simple format, found ${digits}`
  const groups = "invalid group length: expected groups of 8, 4, 4, 4 and 12 digits"

  it.each([
    id,
    id.toUpperCase(),
    `urn:uuid:${id}`,
    `URN:UUID:${id.toUpperCase()}`,
    `{${id}}`,
    id.replaceAll("-", ""),
  ])("%s reads as the id in lower case", (text) => {
    assert.deepStrictEqual<unknown>(parseConversationId(text), { id })
  })

  // The first two are from packages/server/test/fixtures/v0.29.0/reply_bad_uuid.jsonl.
  it.each([
    ["not-a-uuid", character("n", 1)],
    ["", length(0)],
    ["-", length(0)],
    ["0", length(1)],
    [id.slice(1), length(31)],
    [`${id}0`, length(33)],
    [`${id.slice(0, -1)}g`, character("g", 36)],
    ["01a1fa29 0000", character(" ", 9)],
    ["01a1😀", character("😀", 5)],
    [`{${id}`, character("{", 1)],
    [id.replace("-", "").replace(/$/, "-"), groups],
    ["urn:uuid:", length(0)],
  ])("%j is no id: %s", (text, problem) => {
    assert.deepStrictEqual(parseConversationId(text), { problem })
  })

  it.prop("never gives an id that is none", { text: Schema.String }, ({ text }) => {
    const read = parseConversationId(text)
    if ("id" in read) assert.isTrue(Schema.is(ConversationId)(read.id))
    else assert.isAbove(read.problem.length, 10)
  })
})
