import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { AppServer } from "../../src/app/AppServer.ts"
import { methodsOf } from "../../src/Method.ts"
import { AppServerV2 } from "../../src/thread/AppServerV2.ts"

/** Members that hold paths and words of commands. */
const isSystemName = (name: string): boolean =>
  /^(path|cwds?|roots?|command)$|Path$|Roots$|_roots$/.test(name)

/** A dotted key of the configuration; and a script, whose handler refuses NUL in the words of that method. */
const exempt = [
  "keyPath of config/value/write",
  "keyPath of config/batchWrite",
  "command of thread/shellCommand",
]

/** Members of these names that take any text. */
const unchecked = (ast: SchemaAST.AST, name: string): ReadonlyArray<string> => {
  switch (ast._tag) {
    case "Objects":
      return ast.propertySignatures.flatMap((one) => unchecked(one.type, String(one.name)))
    case "Arrays":
      return [...ast.elements, ...ast.rest].flatMap((one) => unchecked(one, name))
    case "Union":
      return ast.types.flatMap((one) => unchecked(one, name))
    case "String":
      return isSystemName(name) && ast.checks === undefined ? [name] : []
    default:
      return []
  }
}

const dialects = [
  [AppServer.name, methodsOf(AppServer.clientToServer)],
  [AppServerV2.name, methodsOf(AppServerV2.clientToServer)],
] as const

describe("SystemText", () => {
  for (const [name, methods] of dialects) {
    it(`is the type of all paths and words of commands in params of ${name}`, () => {
      const found = [...methods.values()].flatMap((method) =>
        unchecked(method.payloadSchema.ast, "").map((member) => `${member} of ${method._tag}`),
      )
      assert.deepStrictEqual(
        found.filter((one) => !exempt.includes(one)),
        [],
      )
    })
  }

  it("is what the test above looks for", () => {
    const Given = Schema.Struct({ cwd: Schema.optionalKey(Schema.NullOr(Schema.String)) })
    assert.deepStrictEqual(unchecked(Given.ast, ""), ["cwd"])
  })
})
