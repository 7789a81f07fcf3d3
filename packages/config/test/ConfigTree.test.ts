import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ConfigTree from "../src/ConfigTree.ts"

/** The tree as JSON, which drops the null prototypes. */
const plain = (tree: unknown): unknown => JSON.parse(JSON.stringify(tree))

const Key = Schema.Literals(["a", "b", "model", "__proto__", "constructor", "prototype", "", "0"])
const Path = Schema.Array(Key).check(Schema.isMinLength(1), Schema.isMaxLength(4))
const Edits = Schema.Array(Schema.Struct({ path: Path, value: Schema.Int })).check(
  Schema.isMaxLength(8),
)

describe("ConfigTree", () => {
  it.effect.prop(
    "a value set at a dotted path is read there; siblings are kept and no prototype is changed",
    [Edits, Path, Schema.Int],
    ([edits, keys, value]) =>
      Effect.sync(() => {
        const before = edits.reduce(
          (tree, edit) => ConfigTree.set(tree, edit.path.join("."), edit.value),
          ConfigTree.empty,
        )
        const kept = JSON.stringify(before)
        const path = keys.join(".")
        const after = ConfigTree.set(before, path, value)
        assert.strictEqual(ConfigTree.get(after, path), value)
        assert.strictEqual(JSON.stringify(before), kept)
        const head = keys[0]
        const others = (tree: ConfigTree.ConfigTree) =>
          Object.entries(tree).filter(([key]) => key !== head)
        assert.deepStrictEqual(others(after), others(before))
        assert.deepStrictEqual(Object.keys(Object.prototype), [])
        assert.isUndefined(({} as Record<string, unknown>)["model"])
      }),
    { arbitrary: { runs: 300 } },
  )

  it("setting a path replaces values that are not tables and creates missing tables", () => {
    const tree = ConfigTree.fromRecord({ a: 1, list: [1] })
    const edited = ConfigTree.set(ConfigTree.set(tree, "a.b.c", true), "list.0", "x")
    assert.deepStrictEqual(plain(edited), { a: { b: { c: true } }, list: { 0: "x" } })
    assert.deepStrictEqual(plain(tree), { a: 1, list: [1] })
  })

  it("JSON becomes configuration: null is absent, objects are tables, keys are paths", () => {
    const record: unknown = JSON.parse(
      '{"a.b": null, "a.c": {"__proto__": {"x": 1}, "n": [null, 1.5]}, "flag": true}',
    )
    const tree = ConfigTree.applyRecord(ConfigTree.empty, record as Record<string, unknown>)
    assert.strictEqual(
      JSON.stringify(Result.getOrThrow(tree)),
      '{"a":{"c":{"__proto__":{"x":1},"n":[null,1.5]}},"flag":true}',
    )
  })

  for (const [text, value] of [
    ["true", true],
    ["42", 42],
    ["0.5", 0.5],
    ['"quoted"', "quoted"],
    [" 'single' ", "single"],
    ["plain", "plain"],
    ["gpt-5-codex", "gpt-5-codex"],
    [" /tmp/some dir ", "/tmp/some dir"],
    ['"unbalanced', "unbalanced"],
    ["", ""],
    ["1\ny = 2", "1\ny = 2"],
    ['["a", "b"]', ["a", "b"]],
    ["{ x = 1 }", { x: 1 }],
    ["http://localhost:1/v1?a=b", "http://localhost:1/v1?a=b"],
  ] as const) {
    it(`the value ${JSON.stringify(text)} of -c is parsed as ${JSON.stringify(value)}`, () => {
      assert.deepStrictEqual(plain(ConfigTree.parseValue(text)), value)
    })
  }

  it("an argument of -c is divided at its first `=`, and the key is trimmed", () => {
    assert.deepStrictEqual(
      ConfigTree.parseOverride(" a.b = c=d"),
      Result.succeed({ path: "a.b", value: "c=d" }),
    )
  })

  it("the errors of -c quote the argument", () => {
    assert.deepStrictEqual(
      ConfigTree.parseOverrides(["a=1", "novalue"]),
      Result.fail("Invalid override (missing '='): novalue"),
    )
    assert.deepStrictEqual(
      ConfigTree.parseOverrides([" =x"]),
      Result.fail("Empty key in override:  =x"),
    )
  })

  it("L13 a value nested more deeply than any setting is refused with its name, before it is traversed", () => {
    const message = (path: string) =>
      Result.fail(`nested more than 64 levels deep\nin \`${path}\`\n`)
    const nested = (levels: number): unknown => {
      let value: unknown = 1
      for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { x: value }
      return value
    }
    assert.isTrue(Result.isSuccess(ConfigTree.applyRecord(ConfigTree.empty, { a: nested(63) })))
    for (const levels of [64, 100_000]) {
      assert.deepStrictEqual(
        ConfigTree.applyRecord(ConfigTree.empty, { ok: 1, a: nested(levels) }),
        message("a"),
      )
    }
    const path = "a.".repeat(100_000)
    const quoted = path.slice(0, 80)
    assert.deepStrictEqual(ConfigTree.applyRecord(ConfigTree.empty, { [path]: 1 }), message(quoted))
    assert.deepStrictEqual(ConfigTree.parseOverrides([`${path}=1`]), message(quoted))
  })

  it("later -c arguments win", () => {
    const overrides = Result.getOrThrow(ConfigTree.parseOverrides(["a.x=1", "a.x=2", "b=s"]))
    const tree = ConfigTree.applyOverrides(ConfigTree.fromRecord({ a: { x: 0, y: 0 } }), overrides)
    assert.deepStrictEqual(plain(tree), { a: { x: 2, y: 0 }, b: "s" })
  })

  it("a TOML error has line and column and never the text, which may be an API key", () => {
    assert.deepStrictEqual(
      ConfigTree.parseToml('model = "x"\nkey = sk-se\'cret at line 1\n'),
      Result.fail("TOML parse error: Invalid value at line 2, column 17"),
    )
    assert.deepStrictEqual(
      ConfigTree.parseToml("a = 1\na = 2\n"),
      Result.fail("TOML parse error: Cannot redefine existing key 'a' at line 2, column 6"),
    )
  })
})
