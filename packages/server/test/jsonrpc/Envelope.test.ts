import type { Frame } from "@colloquy/protocol/Connection"
import {
  failureText,
  JsonRpcError,
  notificationText,
  requestText,
  successText,
} from "@colloquy/protocol/JsonRpc"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Envelope } from "../../src/jsonrpc/Envelope.ts"
import { hello, withApp } from "../support/AppHarness.ts"

const answer = '{"jsonrpc":"2.0","id":1,"result":{}}'
const bare = '{"id":1,"result":{}}'

describe("Envelope", () => {
  it.each([
    [['{"jsonrpc":"2.0","id":1,"method":"x"}'], answer],
    [['{"id":1,"method":"x"}'], bare],
    [['{"id":1,"method":"x"}', '{"jsonrpc":"2.0","id":1,"method":"x"}'], bare],
    [["nonsense", "17", '{"id":1,"method":"x"}'], bare],
    [["nonsense"], answer],
    [[], answer],
  ] as ReadonlyArray<readonly [read: ReadonlyArray<string>, written: string]>)(
    "after %j it writes %s",
    (read, expected) => {
      const envelope = new Envelope(true)
      envelope.observe(read.map((text): Frame => ({ _tag: "Text", text })))
      assert.strictEqual(successText(1, {}, envelope.form), expected)
    },
  )

  it("always writes the member for a peer without adaptation", () => {
    const envelope = new Envelope(false)
    envelope.observe([{ _tag: "Text", text: '{"id":1,"method":"x"}' }])
    assert.strictEqual(envelope.form, "2.0")
  })

  it("every kind of message is written in both forms", () => {
    const error = new JsonRpcError({ code: 1, message: "m", data: 2 })
    const texts = (form: "2.0" | "bare") => [
      requestText(1, "m", { a: 1 }, form),
      notificationText("m", undefined, form),
      successText(1, undefined, form),
      failureText(null, error, form),
    ]
    assert.deepStrictEqual(texts("bare"), [
      '{"id":1,"method":"m","params":{"a":1}}',
      '{"method":"m"}',
      '{"id":1,"result":{}}',
      '{"id":null,"error":{"code":1,"message":"m","data":2}}',
    ])
    assert.deepStrictEqual(
      texts("2.0"),
      texts("bare").map((text) => `{"jsonrpc":"2.0",${text.slice(1)}`),
    )
  })

  it.effect("a client that omits the member gets responses, events and questions without it", () =>
    withApp({ initialized: false }, (app) =>
      Effect.gen(function* () {
        yield* app.send({
          id: 1,
          method: "initialize",
          params: { clientInfo: { name: "a", version: "1" } },
        })
        yield* app.response(1)
        yield* hello(app)
        assert.deepStrictEqual(
          app.texts.filter((text) => text.includes("jsonrpc")),
          [],
        )
      }),
    ),
  )
})
