import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { describeFaults, faultsOf } from "../src/Faults.ts"

const Server = Schema.Struct({
  name: Schema.String,
  ports: Schema.Array(Schema.Int),
  "dotted.key": Schema.optionalKey(Schema.Boolean),
})
const decode = Schema.decodeUnknownResult(Server, { errors: "all" })

const faults = (value: unknown) =>
  Result.match(decode(value), { onSuccess: () => [], onFailure: faultsOf })

describe("Faults", () => {
  it.each<readonly [value: unknown, paths: ReadonlyArray<ReadonlyArray<string | number>>]>([
    [{ name: "n", ports: [] }, []],
    [{}, [["name"], ["ports"]]],
    [{ name: 1, ports: [1, "2", 3.5] }, [["name"], ["ports", 1], ["ports", 2]]],
    [{ name: "n", ports: {} }, [["ports"]]],
    [{ name: "n", ports: [], "dotted.key": 1 }, [["dotted.key"]]],
    [null, [[]]],
    ["secret", [[]]],
  ])("%j: each fault has its path", (value, paths) => {
    assert.deepStrictEqual(
      faults(value).map(({ path }) => path),
      paths,
    )
  })

  it("makes one line of paths and sentences, starting with the root's name", () => {
    assert.strictEqual(
      describeFaults("params", faults({ ports: ["x"] })),
      "params.name: Missing key; params.ports.0: Expected number",
    )
    assert.strictEqual(describeFaults("result", faults(7)), "result: Expected object")
  })

  it("L13 names the known members where one is unknown, the nearest one if there is one", () => {
    const strict = Schema.decodeUnknownResult(Server, { onExcessProperty: "error" })
    const fault = (more: object) =>
      Result.match(strict({ name: "n", ports: [], ...more }), {
        onSuccess: () => "",
        onFailure: (error) => describeFaults("params", faultsOf(error)),
      })
    assert.strictEqual(fault({ prots: 1 }), "params.prots: unknown member; did you mean `ports`?")
    assert.strictEqual(
      fault({ elsewhere: 1 }),
      "params.elsewhere: unknown member; expected name, ports, dotted.key",
    )
  })

  it("names the place of a union's tag and its possible values", () => {
    const Shape = Schema.Union([
      Schema.Struct({ kind: Schema.Literal("circle"), radius: Schema.Finite }),
      Schema.Struct({ kind: Schema.Literal("square"), side: Schema.Finite }),
    ]).annotate({ identifier: "Shape" })
    const read = Schema.decodeUnknownResult(Schema.Struct({ shape: Shape }), { errors: "all" })
    const fault = (shape: unknown) =>
      Result.match(read({ shape }), {
        onSuccess: () => "",
        onFailure: (error) => describeFaults("params", faultsOf(error)),
      })
    const expected = 'params.shape: Expected an object whose `kind` is "circle" | "square"'
    assert.strictEqual(fault({ kind: "line" }), expected)
    assert.strictEqual(fault({}), expected)
    assert.strictEqual(fault("circle"), expected)
    assert.strictEqual(fault({ kind: "circle" }), "params.shape.radius: Missing key")
    assert.strictEqual(fault({ kind: "square", side: "1" }), "params.shape.side: Expected number")
  })

  it("L13 reports 20 of many faults, that there are more, and shortened names", () => {
    const all = faults({ name: "n", ports: Array.from({ length: 300_000 }, () => "x") })
    assert.deepStrictEqual(
      [all.length, all[19], all[20]],
      [21, { path: ["ports", 19], message: "Expected number" }, { path: [], message: "and more" }],
    )
    const Open = Schema.Record(Schema.String, Schema.Int)
    const named = Result.flip(Schema.decodeUnknownResult(Open)({ ["k".repeat(1_000)]: "x" }))
    assert.deepStrictEqual(
      Result.map(named, faultsOf),
      Result.succeed([{ path: [`${"k".repeat(256)}…`], message: "Expected number" }]),
    )
  })

  it("never quotes the value: it may be a secret", () => {
    const all = describeFaults(
      "params",
      faults({ name: ["sk-1"], ports: "sk-2", "dotted.key": "sk-3" }),
    )
    assert.notInclude(all, "sk-")
  })
})
