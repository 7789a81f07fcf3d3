import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { type Envelope, make, scan } from "../src/EnvelopeScan.ts"

const encoder = new TextEncoder()

const cut = (bytes: Uint8Array, size: number): Envelope | undefined => {
  const one = make()
  for (let at = 0; at < bytes.length; at += size) one.push(bytes.slice(at, at + size))
  return one.end()
}

const call = (idToken?: string) => ({
  kind: "call",
  ...(idToken === undefined ? {} : { idToken }),
})

const cases: ReadonlyArray<readonly [text: string, envelope: unknown]> = [
  ['{"id":1,"method":"m"}', call("1")],
  ['\uFEFF {"method":"m","params":{},"jsonrpc":"2.0","id":"last"}', call('"last"')],
  [' { "id" : -12e3 , "method" : "m" } ', call("-12e3")],
  ['{"params":{"id":1,"deep":[{"id":2}]},"method":"m","id":3}', call("3")],
  ['{"id":3,"method":"m","params":{"id":1,"deep":[{"id":2}]}}', call("3")],
  ['{"method":"\\"id\\":1","params":"\\\\","id":2}', call("2")],
  ['{"a":"id","method":"id","b":{"id":9},"id":"\\"}{,:"}', call('"\\"}{,:"')],
  ['{"i\\u0064":"\\u00e9","\\u006d\\u0065\\u0074\\u0068\\u006f\\u0064":0}', call('"\\u00e9"')],
  ['{"id":1,"method":"m","id":2}', call("2")],
  ['{"id":1,"method":"m","id":{}}', call()],
  ['{"id":{"id":1},"method":"m"}', call()],
  ['{"id":[1],"method":"m"}', call()],
  ['{"method":"m","ID":1," id":2,"idd":3,"":4}', { kind: "notification" }],
  ['{"method":"m","params":{"id":1}} \r\n', { kind: "notification" }],
  ['{"method":"m"} {"id":1}', call()],
  ['{"method":"m","params":{"text":"cut off', call()],
  ['{"id":"é\u{1F600}","method":"m"}', call('"é\u{1F600}"')],
  ['{"id":7,"method":"m","params":{"text":"cut off', call("7")],
  ['{"id":1,"result":{"method":"m"}}', { kind: "response", idToken: "1" }],
  ['{"id":1,"error":{}}', { kind: "response", idToken: "1" }],
  ['{"id":1}', { kind: "unknown", idToken: "1" }],
  ['[{"id":1,"method":"m"}]', undefined],
  ['"id"', undefined],
  ["{}", undefined],
  ["{", undefined],
  ["", undefined],
  ["xxx", undefined],
]

const pieces = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ",",
  ":",
  "\\",
  " ",
  "id",
  "1",
  "e",
  "\n",
  "\0",
  "é",
] as const

describe("EnvelopeScan", () => {
  it.each(cases)("L13 finds the envelope of %s, cut anywhere", (text, envelope) => {
    const bytes = encoder.encode(text)
    assert.deepStrictEqual<unknown>(scan(text), envelope)
    for (const size of [1, 2, 3, 7]) assert.deepStrictEqual<unknown>(cut(bytes, size), envelope)
  })

  it.prop(
    "L13 agrees with JSON.parse on every object",
    {
      value: Schema.Record(Schema.String, Schema.Json),
      id: Schema.Union([Schema.String, Schema.Finite]),
    },
    ({ value, id }) => {
      for (const text of [
        JSON.stringify({ ...value, id, method: "m" }),
        JSON.stringify(Object.assign({ method: "m", id }, value, { id }), null, 1),
      ]) {
        const token = scan(text)?.idToken ?? "null"
        assert.deepStrictEqual<unknown>(JSON.parse(token), JSON.parse(JSON.stringify(id)))
      }
    },
  )

  it.prop(
    "L13 gives the same result for any bytes, wherever they are cut",
    { bytes: Schema.Array(Schema.Literals(pieces)) },
    ({ bytes }) => {
      const all = encoder.encode(bytes.join(""))
      assert.deepStrictEqual(cut(all, 1), cut(all, all.length))
    },
  )

  it("L13 drops an id longer than any valid one, and keeps one of the greatest length", () => {
    const text = (id: string) => `{"id":"${id}","method":"m"}`
    const longest = "\\u0061".repeat(131_072)
    assert.strictEqual(scan(text(longest))?.idToken, `"${longest}"`)
    assert.deepStrictEqual<unknown>(scan(text(`${longest}a`)), call())
  })
})
