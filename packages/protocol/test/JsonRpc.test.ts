import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import {
  failureText,
  JsonRpcError,
  isRequestId,
  type Invalid,
  type Message,
  notificationText,
  parse,
  parseFrame,
  RequestId,
  requestIdKey,
  requestIdText,
  requestText,
  successText,
  unreadable,
} from "../src/JsonRpc.ts"

const big = "9007199254740993"
/** Rounds to the same double as `big`. */
const twin = "9007199254740992"

const request = (id: string, rest = "") => `{"jsonrpc":"2.0","id":${id},"method":"m"${rest}}`

const idOf = (text: string): RequestId => {
  const message = parse(text)
  assert.strictEqual(message._tag, "Request", text)
  return message._tag === "Request" ? message.id : ""
}

const invalid = (
  id: RequestId | null,
  code: number,
  message: string,
  answerable = true,
): Message => ({
  _tag: "Invalid",
  id,
  error: new JsonRpcError({ code, message }),
  answerable,
})

describe("JsonRpc: ids", () => {
  it.each(["'x'", "9"])(
    "L13 of 131,072 characters %s is taken, and one more refused under it",
    (of) => {
      const one = of.replaceAll("'", "")
      const quote = one === of ? "" : '"'
      const id = (length: number) => `${quote}${one.repeat(length)}${quote}`
      assert.strictEqual(successText(idOf(request(id(131_072))), {}).includes(id(131_072)), true)
      const refused = parse(request(id(131_073)))
      assert.strictEqual(refused._tag, "Invalid")
      if (refused._tag !== "Invalid") return
      assert.deepStrictEqual(
        [
          failureText(refused.id, refused.error).includes(`"id":${id(131_073)},`),
          refused.error.message,
        ],
        [true, "Invalid Request: `id` is longer than 131072 characters"],
      )
    },
  )

  it.each([
    "0",
    '"0"',
    '""',
    "-1",
    '"-1"',
    "9007199254740991",
    "-9007199254740991",
    twin,
    big,
    `-${big}`,
    "123456789012345678901234567890",
    '"9007199254740993"',
  ])("%s comes back as it was sent", (id) => {
    const read = idOf(request(id))
    assert.strictEqual(successText(read, {}), `{"jsonrpc":"2.0","id":${id},"result":{}}`)
    assert.strictEqual(requestIdText(read), id.replaceAll('"', ""))
    assert.isTrue(Schema.is(RequestId)(read))
  })

  it.each([
    request(big, `,"params":{"id":${twin}}`),
    `{"params":{"id":${twin},"deep":[{"id":${twin}}]},"method":"m","id":${big}}`,
    `{"id":${big},"method":"m","params":{"id":${twin},"":{"id":${twin}}}}`,
    `{"id":${twin},"method":"m","id":${big}}`,
    `{ "id" :\n${big} , "method":"m", "params":[${twin}] }`,
  ])("an id among others keeps its own digits: %s", (text) => {
    assert.strictEqual(requestIdText(idOf(text)), big)
  })

  it("an id in params keeps its digits; other integers are rounded as usual", () => {
    const message = parse(
      `{"method":"n","params":{"requestId":${big},"_meta":{"requestId":${big}},"id":${big},"n":${big}}}`,
    )
    assert.strictEqual(message._tag, "Notification")
    if (message._tag !== "Notification") return
    assert.strictEqual(
      notificationText("n", message.params),
      `{"jsonrpc":"2.0","method":"n","params":{"requestId":${big},"_meta":{"requestId":${big}},"id":${twin},"n":${twin}}}`,
    )
    const { requestId } = message.params as { readonly requestId: unknown }
    const decoded = Schema.decodeUnknownSync(RequestId)(requestId)
    assert.strictEqual(requestIdKey(decoded), requestIdKey(idOf(request(big))))
  })

  it("a progress token keeps its digits where params name it, and nowhere else", () => {
    const message = parse(
      `{"id":1,"method":"m","params":{"_meta":{"progressToken":${big}},"progressToken":${big},"a":{"_meta":{"progressToken":${big}}}},"_meta":{"progressToken":${big}}}`,
    )
    assert.strictEqual(message._tag, "Request")
    if (message._tag !== "Request") return
    assert.strictEqual(
      JSON.stringify(message.params),
      `{"_meta":{"progressToken":${big}},"progressToken":${twin},"a":{"_meta":{"progressToken":${twin}}}}`,
    )
    for (const params of [`null`, `[${big}]`, `"${big}"`, `{"_meta":null,"n":${big}}`]) {
      parse(`{"id":1,"method":"m","params":${params}}`)
    }
  })

  it("ids of different types or values have different keys", () => {
    const ids = ["0", '"0"', "-0.0", '""', "1", '"1"', big, twin, `"${big}"`, `"n${big}"`, "-1"]
    const keys = ids.map((id) => requestIdKey(idOf(request(id))))
    // -0 is 0
    assert.strictEqual(new Set(keys).size, ids.length - 1)
  })

  const notAnId = "Invalid Request: `id` must be a string or an integer"
  const notThisNumber = `${notAnId}, beyond ±9007199254740991 in digits alone`

  it.each(["null", "{}", "[]", "true", "1e400", "-1e999"])(
    "L13 %s is no id: the request is refused without one",
    (id) => {
      const message = /^-?\d/.test(id) ? notThisNumber : notAnId
      assert.deepStrictEqual(parse(request(id)), invalid(null, -32600, message))
    },
  )

  it.each(["1.5", "0.1", "9.1e15", "-9.1e15", "1e300", "9007199254740993.0"])(
    "L13 %s is no id: the request is refused under that number",
    (id) => {
      const refused = parse(request(id))
      assert.deepStrictEqual(refused, invalid(Number(id), -32600, notThisNumber))
    },
  )

  it.each([
    "0",
    "-0",
    "1e3",
    "1.0",
    twin,
    big,
    `-${big}`,
    '""',
    '"a"',
    `"${"a".repeat(131_072)}"`,
    "null",
    "{}",
    "[]",
    "true",
    "1e400",
    "1.5",
    "9.1e15",
    "1e300",
    `${big}.0`,
    `"${"a".repeat(131_073)}"`,
    "9".repeat(131_072),
    "9".repeat(131_073),
  ])("L13 one definition says whether %.30s is an id, as an id and inside of params", (id) => {
    const message = parse(request("1", `,"params":{"requestId":${id}}`))
    const params = message._tag === "Request" ? message.params : undefined
    const { requestId } = params as { readonly requestId: unknown }
    assert.strictEqual(Schema.is(RequestId)(requestId), isRequestId(requestId))
    assert.strictEqual(isRequestId(requestId), parse(request(id))._tag === "Request")
    if (isRequestId(requestId)) {
      assert.strictEqual(requestIdKey(requestId), requestIdKey(idOf(request(id))))
    }
  })

  it.each(['"text"', "7", "true"])(
    "%s is no params: the request is refused under its id",
    (params) => {
      assert.deepStrictEqual(
        parse(`{"id":5,"method":"m","params":${params}}`),
        invalid(5, -32600, "Invalid Request: `params` must be an object"),
      )
    },
  )

  it("an integer in another spelling is that integer", () => {
    assert.deepStrictEqual(
      ["1.0", "1e3", "-0"].map((id) => idOf(request(id)) as number),
      [1, 1000, -0],
    )
  })
})

const malformed = (...faults: ReadonlyArray<string>) =>
  `malformed error: ${faults.map((fault) => fault.replace("integer", "integer within ±9007199254740991")).join(", ")}`

describe("JsonRpc: errors of a peer", () => {
  const failure = (error: string) => {
    const message = parse(`{"id":99,"error":${error}}`)
    assert.strictEqual(message._tag, "Failure", error)
    return message._tag === "Failure"
      ? [message.error.code, message.error.message, message.fault]
      : []
  }

  it.each([
    "9007199254740993",
    "-9007199254740992",
    "1e308",
    "-1e308",
    "1e400",
    "1.5",
    '"1"',
    "{}",
  ])("L13 the code %s is read as an internal error, with what is wrong with it", (code) => {
    assert.deepStrictEqual(failure(`{"code":${code},"message":"m"}`), [
      -32603,
      "m",
      malformed("its code is no integer"),
    ])
  })

  it.each(["1e308", "9007199254740993"])("L13 the code %s costs one member of a batch", (code) => {
    const frame = parseFrame(
      `[{"id":1,"method":"m"},{"id":99,"error":{"code":${code}}},{"method":"n"}]`,
    )
    assert.deepStrictEqual(
      frame._tag === "Batch" ? frame.messages.map(({ _tag }) => _tag) : frame._tag,
      ["Request", "Failure", "Notification"],
    )
  })

  it.each(["null", "[]", "7", '"x"', "{}", '{"code":5}', '{"message":5,"code":5}'])(
    "L13 %s is a malformed error, not a fault of this server",
    (error) => {
      assert.match(String(failure(error)[2]), /its message is no string/)
    },
  )

  it("a well-formed error is read as it was sent", () => {
    assert.deepStrictEqual(failure('{"code":-9007199254740991,"message":"m"}'), [
      -9007199254740991,
      "m",
      undefined,
    ])
  })
})

const withoutMethod = (id: Invalid["id"]): Invalid => ({
  _tag: "Invalid",
  id,
  error: new JsonRpcError({ code: -32600, message: "Invalid Request: `method` is missing" }),
  answerable: true,
  mayBeResponse: true,
})

describe("JsonRpc: classification", () => {
  it.each<readonly [text: string, message: Message]>([
    ['{"id":1,"method":"m"}', { _tag: "Request", id: 1, method: "m", params: undefined }],
    [
      '{"jsonrpc":"1.0","id":1,"method":"m","params":[1]}',
      { _tag: "Request", id: 1, method: "m", params: [1] },
    ],
    ['{"method":"m","params":null}\r', { _tag: "Notification", method: "m", params: null }],
    ['{"method":"","result":1}', { _tag: "Notification", method: "", params: undefined }],
    ['{"id":1,"result":null}', { _tag: "Success", id: 1, result: null }],
    ['{"id":1,"result":null,"error":null}', { _tag: "Success", id: 1, result: null }],
    ['{"id":1,"method":null,"result":1,"error":null}', { _tag: "Success", id: 1, result: 1 }],
    [
      '{"id":1,"method":null,"params":null,"result":null,"error":{"code":5,"message":"m"}}',
      { _tag: "Failure", id: 1, error: new JsonRpcError({ code: 5, message: "m" }) },
    ],
    ['{"id":1,"method":null}', invalid(1, -32600, "Invalid Request: `method` must be a string")],
    ['{"id":1,"result":1,"error":{}}', { _tag: "Success", id: 1, result: 1 }],
    [
      '{"id":1,"result":1,"error":{"code":5,"message":"m"}}',
      { _tag: "Failure", id: 1, error: new JsonRpcError({ code: 5, message: "m" }) },
    ],
    [
      '{"id":"a","error":{"code":5,"message":"m","data":null,"more":1}}',
      {
        _tag: "Failure",
        id: "a",
        error: new JsonRpcError({ code: 5, message: "m", data: null }),
      },
    ],
    [
      '{"id":null,"error":{"code":1.5}}',
      {
        _tag: "Failure",
        id: null,
        error: new JsonRpcError({ code: -32603, message: "error without a message" }),
        fault: malformed("its code is no integer", "its message is no string"),
      },
    ],
    [
      '{"id":{},"error":[]}',
      {
        _tag: "Failure",
        id: null,
        error: new JsonRpcError({ code: -32603, message: "error without a message" }),
        fault: malformed("its code is no integer", "its message is no string"),
      },
    ],
    ['{"id":1.5,"result":1}', invalid(null, -32600, "response without a usable id", false)],
    ["", invalid(null, -32700, "Parse error: the message is not one JSON value")],
    ["{}{}", invalid(null, -32700, "Parse error: the message is not one JSON value")],
    [`{"id":${big}`, invalid(null, -32700, "Parse error: the message is not one JSON value")],
    [
      "[]",
      invalid(
        null,
        -32600,
        "Invalid Request: batches are not supported, send each message by itself",
      ),
    ],
    ["null", invalid(null, -32600, "Invalid Request: expected an object")],
    [big, invalid(null, -32600, "Invalid Request: expected an object")],
    ["{}", withoutMethod(null)],
    ['{"id":"x"}', withoutMethod("x")],
    ['{"id":86,"method":42}', invalid(86, -32600, "Invalid Request: `method` must be a string")],
  ])("%s", (text, message) => {
    assert.deepStrictEqual(parse(text), message)
  })

  it("a member named __proto__ is an ordinary member", () => {
    const message = parse('{"method":"m","params":{"__proto__":{"polluted":1}}}')
    assert.strictEqual(message._tag, "Notification")
    assert.isUndefined(({} as { readonly polluted?: unknown }).polluted)
  })

  it("a fault of the transport is a parse error without an id", () => {
    assert.deepStrictEqual(unreadable("too long"), invalid(null, -32700, "too long"))
  })
})

const Code = Schema.Int.check(Schema.isBetween({ minimum: -40_000, maximum: -1 }))
const Id = Schema.Union([Schema.String, Schema.Int])
const Params = Schema.Union([Schema.Record(Schema.String, Schema.Json), Schema.Array(Schema.Json)])
const written = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown

describe("JsonRpc: a written message reads back", () => {
  it.prop(
    "requests",
    { id: Id, method: Schema.String, params: Params },
    ({ id, method, params }) => {
      assert.deepStrictEqual<unknown>(parse(requestText(id, method, params)), {
        _tag: "Request",
        id: id === 0 ? 0 : id,
        method,
        params: written(params),
      })
    },
  )

  it.prop("notifications", { method: Schema.String, params: Params }, ({ method, params }) => {
    assert.deepStrictEqual<unknown>(parse(notificationText(method, params)), {
      _tag: "Notification",
      method,
      params: written(params),
    })
  })

  it.prop("responses", { id: Id, result: Params }, ({ id, result }) => {
    assert.deepStrictEqual<unknown>(parse(successText(id, result)), {
      _tag: "Success",
      id: id === 0 ? 0 : id,
      result: written(result),
    })
  })

  it.prop(
    "errors",
    { id: Schema.NullOr(Id), code: Code, message: Schema.String, data: Params },
    ({ id, code, message, data }) => {
      assert.deepStrictEqual<unknown>(
        parse(failureText(id, new JsonRpcError({ code, message, data }))),
        {
          _tag: "Failure",
          id: id === 0 ? 0 : id,
          error: new JsonRpcError({ code, message, data: written(data) }),
        },
      )
    },
  )

  it("writes an absent result as an empty object, and leaves out absent params and data", () => {
    assert.deepStrictEqual(
      [
        successText(1, undefined),
        requestText(1, "m", undefined),
        notificationText("m", undefined),
        failureText(null, new JsonRpcError({ code: 1, message: "m" })),
      ],
      [
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        '{"jsonrpc":"2.0","id":1,"method":"m"}',
        '{"jsonrpc":"2.0","method":"m"}',
        '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}',
      ],
    )
  })

  it("no text holds a raw newline", () => {
    for (const text of [
      requestText("a\nb", "m\n", { s: "\r\n" }),
      failureText(1, new JsonRpcError({ code: 1, message: "one\ntwo" })),
    ]) {
      assert.notMatch(text, /[\r\n]/)
    }
  })

  it.prop("L13 classifies any text", { text: Schema.String }, ({ text }) => {
    assert.isString(parse(text)._tag)
    assert.isString(parse(`{${text}}`)._tag)
  })
})
