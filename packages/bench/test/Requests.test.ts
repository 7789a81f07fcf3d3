import { assert, describe, it } from "@effect/vitest"
import * as Requests from "../src/Requests.ts"

const chunks = (...texts: ReadonlyArray<string>) => texts.map((text) => Buffer.from(text))
const answer = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{}}\n`

describe("many requests", () => {
  it("are one piece, cut where each begins and at the end", () => {
    const { bytes, starts } = Requests.written((id) => "é".repeat(id), 3)
    assert.deepStrictEqual([bytes.toString("utf8"), starts], ["\né\néé\n", [0, 1, 4, 9]])
  })

  it("were answered once each, in any order and however the chunks were cut", () => {
    const all = answer(2) + answer(0) + answer(1)
    Requests.checkAnswers(chunks(all.slice(0, 50), all.slice(50)), 3)
  })

  it.each([
    ["not answered", answer(0)],
    ["answered twice", answer(0) + answer(0)],
    ["answered under another id", answer(0) + answer(7)],
    ["answered with an error", `${answer(0)}{"jsonrpc":"2.0","id":1,"error":{"code":1}}\n`],
  ])("refuses to time what was %s", (_, text) => {
    assert.throws(() => Requests.checkAnswers(chunks(text), 2), /answer/)
  })
})
