import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { CodexMcp } from "../src/mcp/CodexMcp.ts"
import { codecOf, dialect, infoOf, methodsOf, notification, request } from "../src/Method.ts"
import { isVoid } from "../src/MethodCodec.ts"

const Add = request("add", {
  since: "1",
  until: "3",
  capability: "math",
  doc: "Adds.",
  params: Schema.Struct({ a: Schema.Int, b: Schema.optionalKey(Schema.Int) }),
  result: Schema.Struct({ sum: Schema.Int }),
})
const Halt = request("halt", { since: "2", doc: "Halts." })
const Tick = notification("tick", { since: "1", doc: "Ticks." })

describe("Method", () => {
  it("carries what the wire needs to know", () => {
    assert.deepStrictEqual(infoOf(Add), {
      kind: "request",
      since: "1",
      until: "3",
      capability: "math",
      doc: "Adds.",
    })
    assert.deepStrictEqual(infoOf(Tick), { kind: "notification", since: "1", doc: "Ticks." })
    assert.deepStrictEqual(
      [isVoid(Halt.payloadSchema), isVoid(Halt.successSchema), isVoid(Add.payloadSchema)],
      [true, true, false],
    )
  })

  it("one codec per method", () => {
    assert.strictEqual(codecOf(Add), codecOf(Add))
    assert.strictEqual(codecOf(Add).info.kind, "request")
  })

  it.each<readonly [params: unknown, tag: "Success" | "Failure"]>([
    [{ a: 1 }, "Success"],
    [{ a: 1, b: 2, more: true }, "Success"],
    [undefined, "Failure"],
    [null, "Failure"],
    [{ a: 1, b: undefined }, "Failure"],
    [{ a: "1" }, "Failure"],
    [[1], "Failure"],
  ])("params %j: %s", (params, tag) => {
    assert.strictEqual(codecOf(Add).decodeParams(params)._tag, tag)
  })

  it("reads absent params as an empty object", () => {
    const Open = request("open", {
      since: "1",
      doc: "",
      params: Schema.Struct({ a: Schema.optionalKey(Schema.Int) }),
    })
    const decoded = codecOf(Open).decodeParams(undefined)
    assert.deepStrictEqual(decoded._tag === "Success" ? decoded.success : "failed", {})
  })

  it.each([undefined, null, 1, "x", [1], { a: 1 }])(
    "a method without params ignores whatever is sent: %j",
    (params) => {
      assert.strictEqual(codecOf(Halt).decodeParams(params)._tag, "Success")
      assert.strictEqual(codecOf(Tick).decodeParams(params)._tag, "Success")
      assert.strictEqual(codecOf(Halt).decodeResult(params)._tag, "Success")
    },
  )

  it("reports all faults, not only the first", () => {
    const decoded = codecOf(Add).decodeParams({ a: "1", b: "2" })
    assert.include(decoded._tag === "Failure" ? decoded.failure.message : "", "b")
    assert.include(decoded._tag === "Failure" ? decoded.failure.message : "", "a")
  })

  it("a dialect holds its methods by direction and wire name", () => {
    const d = dialect({ name: "d", clientToServer: [Add, Halt], serverToClient: [Tick] })
    assert.deepStrictEqual([...methodsOf(d.clientToServer).keys()], ["add", "halt"])
    assert.deepStrictEqual([...methodsOf(d.serverToClient).keys()], ["tick"])
  })

  it("every method of codex-mcp has documentation and a first version", () => {
    for (const group of [methodsOf(CodexMcp.clientToServer), methodsOf(CodexMcp.serverToClient)]) {
      for (const [name, method] of group) {
        const { doc, since } = infoOf(method)
        assert.isAbove(doc.length, 10, name)
        assert.match(since, /^(\d{4}-\d\d-\d\d|0\.\d+)$/, name)
      }
    }
  })
})
