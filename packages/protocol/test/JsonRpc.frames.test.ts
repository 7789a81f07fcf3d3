import { assert, describe, it } from "@effect/vitest"
import { failureText, parse, parseFrame, successText } from "../src/JsonRpc.ts"

const big = "9007199254740993"

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

describe("JsonRpc: batches", () => {
  it("an array is a batch of its members, each read by itself, ids with all their digits", () => {
    const frame = parseFrame(
      `[{"id":${big},"method":"m","params":{"_meta":{"progressToken":${big}},"id":${big}}},{"method":"n"},7,{"id":1,"result":{}}]`,
    )
    assert.strictEqual(frame._tag, "Batch")
    const messages = frame._tag === "Batch" ? frame.messages : []
    assert.deepStrictEqual(
      messages.map(({ _tag }) => _tag),
      ["Request", "Notification", "Invalid", "Success"],
    )
    const [first] = messages
    assert.strictEqual(first?._tag, "Request")
    if (first?._tag !== "Request") return
    assert.strictEqual(
      successText(first.id, first.params),
      `{"jsonrpc":"2.0","id":${big},"result":{"_meta":{"progressToken":${big}},"id":9007199254740992}}`,
    )
  })

  it("an empty array is a batch of none", () => {
    assert.deepStrictEqual(parseFrame("[]"), { _tag: "Batch", messages: [] })
  })

  it("one message is no batch", () => {
    const text = '{"id":1,"method":"m"}'
    assert.deepStrictEqual(parseFrame(text), parse(text))
  })
})

describe("JsonRpc: depth", () => {
  it.each([257, 1000, 100_000])("L13 params of %i levels are refused, with the id", (levels) => {
    const message = parse(`{"id":"x","method":"m","params":${deep(levels)}}`)
    assert.strictEqual(message._tag, "Invalid")
    if (message._tag !== "Invalid") return
    assert.strictEqual(
      failureText(message.id, message.error),
      '{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"Invalid params: nested deeper than 256 levels"}}',
    )
    assert.isTrue(message.answerable)
  })

  it("L13 a notification as deep is not answered, an answer as deep is a failure, a text as deep is invalid", () => {
    assert.deepStrictEqual(
      [
        `{"method":"m","params":${deep(1000)}}`,
        `{"id":7,"result":${deep(1000)}}`,
        `[{"id":8,"method":"m","params":${deep(1000)}},{"id":9,"method":"m"}]`,
      ].map((text) => {
        const frame = parseFrame(text)
        return frame._tag === "Batch"
          ? frame.messages.map(({ _tag }) => _tag)
          : [frame._tag, frame._tag === "Invalid" && frame.answerable]
      }),
      [
        ["Invalid", false],
        ["Failure", false],
        ["Invalid", "Request"],
      ],
    )
  })

  it("L13 a line as deep in which digits are kept is refused, whether its id can be read or not", () => {
    const text = (levels: number) => `{"id":${big},"method":"m","params":${deep(levels)}}`
    const [near, far] = [parse(text(1000)), parse(text(1_000_000))]
    assert.deepStrictEqual(
      [near._tag, far._tag === "Invalid" ? far.error.message : far._tag],
      ["Invalid", "Parse error: the line is nested too deep"],
    )
  })

  it("a message of many members on few levels is read", () => {
    const wide = JSON.stringify({
      id: 1,
      method: "m",
      params: { list: Array.from({ length: 5000 }, () => [[{}]]) },
    })
    assert.strictEqual(parse(wide)._tag, "Request")
    assert.strictEqual(parse(`{"id":1,"method":"m","params":${deep(200)}}`)._tag, "Request")
  })
})
