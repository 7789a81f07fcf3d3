import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import { historyTokens, itemTokens, textTokens, utf8Length } from "../../src/log/Tokens.ts"
import { History } from "../../src/log/History.ts"
import { tokenCount } from "../../src/turn/ModelEvents.ts"
import { assistantItem, callItem, outputItem, usage, userItem } from "../support.ts"

const item = (of: Parameters<typeof itemTokens>[0]): EventMsg => ({
  type: "raw_response_item",
  item: of,
})
const counted = (input: number, output: number) => tokenCount(undefined, usage(input, output), null)

const tokensOf = (...messages: ReadonlyArray<EventMsg>) => {
  const history = new History()
  messages.forEach((msg, seq) => history.add({ seq, id: "t", msg }))
  return history.tokens
}

describe("estimates", () => {
  it("count the bytes of a text by four", () => {
    const texts = ["", "abcd", "é", "水", "🦉", "\ud800", "a\ud83ea", "\udd89"]
    assert.deepStrictEqual(
      texts.map(utf8Length),
      texts.map((text) => new TextEncoder().encode(text).length),
    )
    assert.deepStrictEqual(texts.map(textTokens), [0, 1, 1, 1, 1, 1, 2, 1])
  })

  it("count every image the same", () => {
    const image = (length: number) =>
      itemTokens({
        type: "message",
        role: "user",
        content: [{ type: "input_image", image_url: `data:${"A".repeat(length)}` }],
      })
    assert.strictEqual(image(10), image(1_000_000))
  })
})

describe("History.tokens", () => {
  it("is an estimate of everything while the provider has counted nothing", () => {
    const items = [userItem("hello"), assistantItem("there")]
    assert.deepStrictEqual(tokensOf(...items.map(item), counted(0, 0)), {
      estimated: historyTokens(items),
    })
    assert.deepStrictEqual(
      tokensOf(...items.map(item), { type: "token_count", info: null }, item(userItem("more"))),
      { estimated: historyTokens([...items, userItem("more")]) },
    )
  })

  it("is the last count of the provider, and an estimate of the items since", () => {
    assert.deepStrictEqual(
      tokensOf(item(userItem("hello")), item(assistantItem("x")), counted(90, 10)),
      {
        counted: 100,
        estimated: 0,
      },
    )
    assert.deepStrictEqual(
      tokensOf(
        item(userItem("hello")),
        item(assistantItem("x")),
        counted(90, 10),
        item(userItem("more")),
      ),
      { counted: 100, estimated: itemTokens(userItem("more")) },
    )
  })

  it("does not treat outputs that came before the count as counted", () => {
    const output = outputItem("1", "long".repeat(100))
    assert.deepStrictEqual(
      tokensOf(item(userItem("hello")), item(callItem("look", "1")), item(output), counted(90, 10)),
      { counted: 100, estimated: itemTokens(output) },
    )
    assert.deepStrictEqual(
      tokensOf(
        item(callItem("look", "1")),
        item(output),
        counted(90, 10),
        item(assistantItem("x")),
        counted(300, 10),
      ),
      { counted: 310, estimated: 0 },
    )
  })

  it("starts again with a summary", () => {
    const history = new History()
    const messages: ReadonlyArray<EventMsg> = [
      item(userItem("hello")),
      item(assistantItem("x")),
      counted(90, 10),
      { type: "compacted", message: "s" },
    ]
    messages.forEach((msg, seq) => history.add({ seq, id: "t", msg }))
    assert.deepStrictEqual(history.tokens, { estimated: historyTokens(history.items()) })
  })
})
