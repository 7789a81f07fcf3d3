import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { AppServer } from "../src/app/AppServer.ts"
import { jsonSchemaOf } from "../src/JsonSchema.ts"
import { CodexMcp } from "../src/mcp/CodexMcp.ts"
import { codexTools } from "../src/mcp/CodexTools.ts"
import { conversationTools } from "../src/mcp/ConversationTools.ts"
import { decodeArguments } from "../src/mcp/ToolArguments.ts"
import { codecOf, methodsOf } from "../src/Method.ts"
import { isVoid } from "../src/MethodCodec.ts"
import {
  memberOf,
  nullsAbsent,
  nullsAbsentIn,
  presentMembers,
  tolerant,
} from "../src/NullAsAbsent.ts"

type Members = Readonly<Record<string, unknown>>

interface Node {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Node>>
  readonly type?: string | ReadonlyArray<string>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<unknown>
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: ReadonlyArray<string>
  readonly items?: Node | false
  readonly anyOf?: ReadonlyArray<Node>
  readonly minimum?: number
}

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Reads the JSON Schema that clients are shown, so that the test does not share the walk of the code under test. */
const walker = (root: Node) => {
  const resolve = (node: Node): Node =>
    node.$ref === undefined ? node : (root.$defs?.[node.$ref.replace("#/$defs/", "")] ?? {})
  const takesNull = (of: Node): boolean => {
    const node = resolve(of)
    if (node.anyOf !== undefined) return node.anyOf.some(takesNull)
    if (node.enum !== undefined) return node.enum.includes(null)
    return node.type === undefined || [node.type].flat().includes("null")
  }
  const isTagged = (of: Node, value: Members): boolean =>
    Object.entries(resolve(of).properties ?? {}).every(([name, property]) => {
      const { enum: words } = resolve(property)
      return words?.length !== 1 || value[name] === words[0]
    })
  /** `value` with null in every optional member that it lacks and that does not take null. */
  const withNulls = (of: Node, value: unknown): unknown => {
    const node = resolve(of)
    if (node.anyOf !== undefined) {
      const [one, ...others] = isMembers(value)
        ? node.anyOf.filter((member) => resolve(member).properties && isTagged(member, value))
        : node.anyOf.filter((member) => Array.isArray(value) && resolve(member).type === "array")
      return one === undefined || others.length > 0 ? value : withNulls(one, value)
    }
    if (Array.isArray(value)) {
      const { items } = node
      return items === undefined || items === false
        ? value
        : value.map((item) => withNulls(items, item))
    }
    if (!isMembers(value) || node.properties === undefined) return value
    const filled: Record<string, unknown> = {}
    for (const [name, property] of Object.entries(node.properties)) {
      if (Object.hasOwn(value, name)) filled[name] = withNulls(property, value[name])
      else if (!node.required?.includes(name) && !takesNull(property)) filled[name] = null
    }
    return { ...value, ...filled }
  }
  /** Valid values of every kind: of each union each member, of each object the required members and one more. */
  const valuesOf = (of: Node, depth = 0): ReadonlyArray<unknown> => {
    const node = resolve(of)
    if (depth > 6) return []
    if (node.anyOf !== undefined) return node.anyOf.flatMap((one) => valuesOf(one, depth + 1))
    if (node.enum !== undefined) return node.enum.slice(0, 2)
    switch ([node.type].flat()[0]) {
      case "string":
        return [uuid]
      case "integer":
      case "number":
        return [Math.max(node.minimum ?? 1, 1)]
      case "boolean":
        return [true]
      case "null":
        return [null]
      case "array": {
        const { items } = node
        if (items === undefined || items === false) return [[]]
        return [[], ...valuesOf(items, depth + 1).map((item) => [item])]
      }
      case "object":
        return objectsOf(node, depth)
      default:
        return ["anything"]
    }
  }
  const objectsOf = ({ properties = {}, required = [] }: Node, depth: number) => {
    const members = Object.entries(properties).map(
      ([name, property]) => [name, valuesOf(property, depth + 1)] as const,
    )
    const least = Object.fromEntries(
      members.flatMap(([name, [first]]) => (required.includes(name) ? [[name, first]] : [])),
    )
    return [
      least,
      ...members.flatMap(([name, values]) => values.map((value) => ({ ...least, [name]: value }))),
    ]
  }
  return {
    withNulls: (value: unknown) => withNulls(root, value),
    values: valuesOf(root),
  }
}

const uuid = "0199b1f0-0000-7000-8000-000000000000"

const countNulls = (value: unknown): number => {
  if (value === null) return 1
  if (typeof value !== "object") return 0
  return Object.values(value).reduce<number>((sum, member) => sum + countNulls(member), 0)
}

type Decode = (u: unknown) => Result.Result<unknown, unknown>

/** Every definition that values of a peer or of a model are decoded with. */
const definitions: ReadonlyArray<readonly [name: string, schema: Schema.Top, decode: Decode]> = [
  ...[CodexMcp, AppServer].flatMap((dialect) =>
    [dialect.clientToServer, dialect.serverToClient].flatMap((group) =>
      [...methodsOf(group as typeof AppServer.clientToServer)].flatMap(([name, method]) => {
        const codec = codecOf(method)
        return [
          [`${dialect.name} ${name} params`, method.payloadSchema, codec.decodeParams] as const,
          [`${dialect.name} ${name} result`, method.successSchema, codec.decodeResult] as const,
        ]
      }),
    ),
  ),
  ...[...codexTools, ...conversationTools].map(
    (tool) =>
      [`tool ${tool.name}`, tool.arguments, (u: unknown) => decodeArguments(tool, u)] as const,
  ),
].filter(([, schema]) => !isVoid(schema))

const walk = (schema: Schema.Top) => walker(jsonSchemaOf(Schema.toEncoded(schema)))

describe("NullAsAbsent", () => {
  for (const [name, schema, decode] of definitions) {
    it(`null means absent for every optional member of ${name}`, () => {
      const { values, withNulls } = walk(schema)
      const valid = values.filter((value) => Result.isSuccess(decode(value)))
      assert.isNotEmpty(valid)
      for (const value of valid) {
        const filled = withNulls(value)
        assert.deepStrictEqual(decode(filled), decode(value), JSON.stringify(filled))
      }
    })
  }

  it("the values of many definitions have optional members to fill with null", () => {
    const filled = definitions.filter(([, schema]) => {
      const { values, withNulls } = walk(schema)
      return values.some((value) => countNulls(withNulls(value)) > countNulls(value))
    })
    assert.isAbove(filled.length, definitions.length / 3)
  })

  it.each([...codexTools, ...conversationTools].map((tool) => [tool.name, tool] as const))(
    "an unknown member that is null is ignored in the arguments of %s, and another one is refused",
    (_, tool) => {
      const { values } = walk(tool.arguments)
      const valid = values.filter((value) => Result.isSuccess(decodeArguments(tool, value)))
      assert.isNotEmpty(valid)
      for (const value of valid as ReadonlyArray<Members>) {
        const withUnknown = { ...value, sandbox_permissions: null, login: null }
        assert.deepStrictEqual(decodeArguments(tool, withUnknown), decodeArguments(tool, value))
        assert.isTrue(Result.isFailure(decodeArguments(tool, { ...value, nonsense: 1 })))
      }
    },
  )

  it("reads an entry of a record as absent when it is null and the values cannot be null", () => {
    const Texts = Schema.Struct({ texts: Schema.Record(Schema.String, Schema.String) })
    const decodeTexts = tolerant(Texts, Schema.decodeUnknownResult(Texts))
    assert.deepStrictEqual(Result.getOrThrow(decodeTexts({ texts: { a: "x", b: null } })), {
      texts: { a: "x" },
    })
  })

  it("reads a union as the member that decodes, in any order", () => {
    const Either = Schema.Union([
      Schema.Struct({ a: Schema.String }),
      Schema.Struct({ b: Schema.NullOr(Schema.Int), c: Schema.optionalKey(Schema.Int) }),
    ])
    const decodeEither = tolerant(
      Either,
      Schema.decodeUnknownResult(Either, { onExcessProperty: "error" }),
    )
    assert.deepStrictEqual(Result.getOrThrow(decodeEither({ b: null, c: null })), { b: null })
  })

  it.each<readonly [value: unknown, member: unknown]>([
    [{ m: 0 }, 0],
    [{ m: false }, false],
    [{ m: null }, undefined],
    [{}, undefined],
    [Object.create({ m: 1 }), undefined],
    [null, undefined],
    [[1], undefined],
    ["text", undefined],
  ])("memberOf of %j is %j", (value, member) => {
    assert.strictEqual(memberOf(value, "m"), member)
  })

  it("presentMembers keeps the members that are not null", () => {
    assert.deepStrictEqual(presentMembers({ a: null, b: 0, c: "" }), { b: 0, c: "" })
  })

  it("nullsAbsentIn reads a JSON Schema", () => {
    const text = { type: "string" }
    const schema = {
      type: "object",
      properties: {
        required: text,
        optional: text,
        own: { type: ["string", "null"] },
        choice: { enum: ["a", null] },
        either: { anyOf: [text, { type: "null" }] },
        other: { oneOf: [text, { const: 1 }] },
        referred: { $ref: "#/$defs/x" },
        items: { type: "array", items: { type: "object", properties: { inner: text } } },
      },
      required: ["required"],
      additionalProperties: false,
    }
    const nulls = Object.fromEntries(Object.keys(schema.properties).map((name) => [name, null]))
    assert.deepStrictEqual(
      nullsAbsentIn(schema, { ...nulls, unknown: null, items: [{ inner: null }] }),
      { required: null, own: null, choice: null, either: null, referred: null, items: [{}] },
    )
  })

  const Shape = Schema.Struct({
    required: Schema.String,
    optional: Schema.optionalKey(Schema.Int),
    own: Schema.optionalKey(Schema.NullOr(Schema.Int)),
    open: Schema.optionalKey(Schema.Unknown),
    items: Schema.optionalKey(
      Schema.Array(
        Schema.Union([
          Schema.Struct({ type: Schema.Literal("a"), a: Schema.optionalKey(Schema.String) }),
          Schema.Struct({ type: Schema.Literal("b"), b: Schema.String }),
        ]),
      ),
    ),
  })
  const decode = tolerant(Shape, Schema.decodeUnknownResult(Shape))

  it.each<readonly [value: Members, decoded: Members | undefined]>([
    [{ required: "x", optional: null }, { required: "x" }],
    [
      { required: "x", own: null, optional: null },
      { required: "x", own: null },
    ],
    [
      { required: "x", open: null, optional: null },
      { required: "x", open: null },
    ],
    [
      { required: "x", items: [{ type: "a", a: null }] },
      { required: "x", items: [{ type: "a" }] },
    ],
    [{ required: null }, undefined],
    [{ required: "x", items: [{ type: "b", b: null }] }, undefined],
    [{ required: "x", items: [null] }, undefined],
  ])("%j", (value, decoded) => {
    assert.deepStrictEqual(Result.getOrUndefined(decode(value)), decoded)
  })

  it("returns a value without such nulls unchanged, not copied", () => {
    const value = { required: "x", items: [{ type: "a" }], open: { deep: null } }
    assert.strictEqual(nullsAbsent(Shape, value), value)
  })
})
