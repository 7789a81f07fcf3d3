import { assert, describe, it } from "@effect/vitest"
import { type Envelope, scan } from "../src/EnvelopeScan.ts"
import { failureText, overlong, parse, parseFrame, successText } from "../src/JsonRpc.ts"

const big = "9007199254740993"

const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

describe("JsonRpc: batches", () => {
  it("reads an array as a batch of separate messages, with all digits of their ids", () => {
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
  it.each([257, 1000, 100_000])("L13 rejects params of %i levels, with the id", (levels) => {
    const message = parse(`{"id":"x","method":"m","params":${deep(levels)}}`)
    assert.strictEqual(message._tag, "Invalid")
    if (message._tag !== "Invalid") return
    assert.strictEqual(
      failureText(message.id, message.error),
      '{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"Invalid params: nested deeper than 256 levels"}}',
    )
    assert.isTrue(message.answerable)
  })

  it("L13 a notification of that depth gets no response, a response is a failure, and any other text is invalid", () => {
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

  it("L13 an invalid message keeps its id and whether it may be answered, at any depth", () => {
    const read = (text: string) => {
      const message = parse(text)
      return message._tag === "Invalid" ? [message.id, message.answerable] : message._tag
    }
    assert.deepStrictEqual(
      [
        `{"id":2,"method":${deep(1000)}}`,
        `{"id":3,"params":${deep(1000)}}`,
        `{"result":${deep(1000)}}`,
      ].map(read),
      [
        [2, true],
        [3, true],
        [null, false],
      ],
    )
  })

  it("L13 rejects a line of that depth with a long integer, with its id", () => {
    const text = (levels: number) => `{"id":${big},"method":"m","params":${deep(levels)}}`
    const refused = [1000, 400_000, 1_000_000].map((levels) => {
      const message = parse(text(levels))
      return message._tag === "Invalid" ? failureText(message.id, message.error) : message._tag
    })
    assert.deepStrictEqual(
      refused,
      [
        [-32602, "Invalid params: nested deeper than 256 levels"],
        [-32700, "Parse error: the message is nested too deep"],
        [-32600, "Invalid Request: more than 1000000 values in one message"],
      ].map(
        ([code, message]) =>
          `{"jsonrpc":"2.0","id":${big},"error":{"code":${code},"message":"${message}"}}`,
      ),
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

describe("JsonRpc: number of values", () => {
  const list = (length: number) => `[${"[],".repeat(length)}1]`

  it("L13 rejects a message of more than 1,000,000 values with its id, before it is parsed", () => {
    const message = parse(`{"jsonrpc":"2.0","method":"m","params":${list(1_000_000)},"id":"last"}`)
    assert.strictEqual(message._tag, "Invalid")
    if (message._tag !== "Invalid") return
    assert.deepStrictEqual(
      [message.id, message.error.code, message.error.message],
      ["last", -32600, "Invalid Request: more than 1000000 values in one message"],
    )
  })

  it("L13 a response with as many values fails its request; a batch has no id", () => {
    const response = parse(`{"id":7,"result":${list(1_000_000)}}`)
    const batch = parse(`[{"id":7,"method":"m","params":${list(1_000_000)}}]`)
    assert.deepStrictEqual(
      [response._tag, "id" in response && response.id, batch._tag, "id" in batch && batch.id],
      ["Failure", 7, "Invalid", null],
    )
  })

  it("reads a long text of few values, whatever its strings contain", () => {
    const text = String.raw`[[],{},""\\",,,,`.repeat(200_000)
    const message = parse(JSON.stringify({ id: 1, method: "m", params: { text } }))
    assert.strictEqual(message._tag, "Request")
    assert.deepStrictEqual<unknown>(message._tag === "Request" && message.params, { text })
  })
})

describe("JsonRpc: lines that were not kept", () => {
  const frame = { _tag: "TooLong", bytes: 20, maxBytes: 10 } as const

  it.each<readonly [envelope: Envelope | undefined, message: unknown]>([
    [undefined, ["Invalid", null]],
    [{ kind: "call", idToken: "7" }, ["Invalid", 7]],
    [{ kind: "call", idToken: '"a"' }, ["Invalid", "a"]],
    [{ kind: "call", idToken: "1.5" }, ["Invalid", 1.5]],
    [{ kind: "call", idToken: "{" }, ["Invalid", null]],
    [{ kind: "unknown", idToken: "7" }, ["Invalid", 7]],
    [{ kind: "call" }, ["Invalid", null]],
    [{ kind: "notification" }, ["Invalid", null]],
    [{ kind: "response", idToken: "7" }, ["Failure", 7]],
    [{ kind: "response", idToken: "1.5" }, ["Failure", null]],
  ])("L13 %j is %j", (envelope, expected) => {
    const message = overlong({ ...frame, ...(envelope === undefined ? {} : { envelope }) })
    assert.deepStrictEqual<unknown>([message._tag, "id" in message && message.id], expected)
  })

  it.each<readonly [text: string, answerable: boolean]>([
    ['{"method":"m","params":{"id":1}}', false],
    ['{"id":null,"method":"m"}', true],
    ['{"method":"m","id":{}}', true],
    ['{"method":"m","params":{}', true],
    ['[{"method":"m"}]', true],
    ['{"params":{}}', true],
    ["x", true],
  ])("L1 of a long line only a notification is not answered: %s is %s", (text, answerable) => {
    const envelope = scan(text)
    const message = overlong({ ...frame, ...(envelope === undefined ? {} : { envelope }) })
    assert.deepStrictEqual<unknown>(
      [message._tag, message._tag === "Invalid" && message.answerable],
      ["Invalid", answerable],
    )
  })

  it("L1 a notification that nests too deep or has too many values gets no response", () => {
    const deep = `{"method":"m","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    const many = `{"method":"m","params":[${"0,".repeat(1_100_000)}0]}`
    for (const text of [deep, many]) {
      const message = parse(text)
      assert.deepStrictEqual<unknown>(
        [message._tag, message._tag === "Invalid" && message.answerable],
        ["Invalid", false],
      )
    }
  })

  it("L13 the error names the limit and its setting", () => {
    const textOf = (setting?: string) => {
      const message = overlong({ ...frame, ...(setting === undefined ? {} : { setting }) })
      return message._tag === "Invalid" ? message.error.message : message._tag
    }
    assert.deepStrictEqual(
      [textOf(), textOf("max")],
      [
        "Invalid Request: a line of 20 bytes, the limit is 10",
        "Invalid Request: a line of 20 bytes, the limit is 10 (setting `max`)",
      ],
    )
  })
})
