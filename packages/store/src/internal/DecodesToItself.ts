/**
 * Tells of a value that its schema would decode to an equal value, without decoding it: nothing
 * would be rejected, left out or converted. Most lines of a rollout were written from decoded
 * values, and decoding them costs several times as much as parsing their JSON. Derived from the
 * schema's own definition, so that the two cannot differ. Pure.
 */
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"

/**
 * What decoding does with a value: `same` returns an equal one, `rejects` fails, and `unknown` is
 * left to the schema.
 */
type Outcome = "same" | "rejects" | "unknown"

type Test = (value: unknown) => Outcome

type Fields = Readonly<Record<string, unknown>>

const unknown: Test = () => "unknown"

const when =
  (holds: (value: unknown) => boolean): Test =>
  (value) =>
    holds(value) ? "same" : "rejects"

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The outcome of all parts: one that is rejected decides, then one that is not known. */
const worse = (one: Outcome, other: Outcome): Outcome =>
  one === "rejects" || other === "rejects" ? "rejects" : one === "unknown" ? one : other

/** Adds the checks of a node, such as that of an integer. */
const checked = (ast: SchemaAST.AST, test: Test): Test => {
  const { checks = [] } = ast
  if (checks.length === 0) return test
  const filters = checks.flatMap((check) => (check._tag === "Filter" ? [check] : []))
  if (filters.length < checks.length) return unknown
  return (value) => {
    const outcome = test(value)
    return outcome !== "same" ||
      filters.every(({ run }) => run(value, ast, parseOptions) === undefined)
      ? outcome
      : "rejects"
  }
}

const parseOptions: SchemaAST.ParseOptions = {}

const arrayTest = ({ elements, rest }: SchemaAST.Arrays): Test => {
  const [element] = rest
  if (elements.length > 0 || rest.length !== 1 || element === undefined) return unknown
  const test = testOf(element)
  return (value) => {
    if (!Array.isArray(value)) return "rejects"
    let outcome: Outcome = "same"
    for (const each of value) {
      outcome = worse(outcome, test(each))
      if (outcome === "rejects") return outcome
    }
    return outcome
  }
}

const objectTest = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Test => {
  // Without properties the schema accepts more than objects.
  if (indexSignatures.length > 0 || propertySignatures.length === 0) return unknown
  const members = propertySignatures.map(({ name, type }) => ({
    name: String(name),
    isOptional: type.context?.isOptional === true,
    test: testOf(type),
  }))
  if (members.some(({ name }) => name in Object.prototype)) return unknown
  return (value) => {
    if (!isObject(value)) return "rejects"
    let outcome: Outcome = "same"
    let present = 0
    for (const { isOptional, name, test } of members) {
      const member = value[name]
      if (member === undefined && !Object.hasOwn(value, name)) {
        if (!isOptional) return "rejects"
        continue
      }
      present++
      outcome = worse(outcome, test(member))
      if (outcome === "rejects") return outcome
    }
    // Decoding leaves out members that the schema does not have.
    return present === Object.keys(value).length ? outcome : worse(outcome, "unknown")
  }
}

/** The literal of a member that every value of an object schema has. */
const literalOf = (ast: SchemaAST.AST, name: string): unknown => {
  if (ast._tag !== "Objects") return undefined
  const type = ast.propertySignatures.find((member) => member.name === name)?.type
  return type?._tag === "Literal" && type.encoding === undefined ? type.literal : undefined
}

/** Finds the only member of a union that can accept a value by the literal of one member. */
const taggedTest = (types: ReadonlyArray<SchemaAST.AST>): Test | undefined => {
  const tag = ["type", "_tag", "mode"].find((name) => {
    const literals = types.map((type) => literalOf(type, name))
    return !literals.includes(undefined) && new Set(literals).size === types.length
  })
  if (tag === undefined) return undefined
  const byLiteral = new Map(types.map((type) => [literalOf(type, tag), lazily(type)]))
  return (value) =>
    isObject(value) ? (byLiteral.get(value[tag])?.(value) ?? "rejects") : "rejects"
}

const unionTest = ({ options, types }: SchemaAST.Union): Test => {
  if (options?.mode === "oneOf") return unknown
  const tagged = taggedTest(types)
  if (tagged !== undefined) return tagged
  const tests = types.map(testOf)
  return (value) => {
    // The first member that accepts a value decodes it.
    for (const test of tests) {
      const outcome = test(value)
      if (outcome !== "rejects") return outcome
    }
    return "rejects"
  }
}

const uncheckedTest = (ast: SchemaAST.AST): Test => {
  switch (ast._tag) {
    case "String":
      return when((value) => typeof value === "string")
    case "Number":
      return when((value) => typeof value === "number")
    case "Boolean":
      return when((value) => typeof value === "boolean")
    case "Null":
      return when((value) => value === null)
    case "Literal":
      return when((value) => value === ast.literal)
    case "Unknown":
      return () => "same"
    case "Arrays":
      return arrayTest(ast)
    case "Objects":
      return objectTest(ast)
    case "Union":
      return unionTest(ast)
    default:
      return unknown
  }
}

const testOf = (ast: SchemaAST.AST): Test => {
  const converts = "encodingChecks" in ast && ast.encodingChecks !== undefined
  return ast.encoding !== undefined || converts ? unknown : checked(ast, uncheckedTest(ast))
}

/** Derives a test when a value first needs it: most of the members of a union are rare. */
const lazily = (ast: SchemaAST.AST): Test => {
  let test: Test | undefined
  return (value) => (test ??= testOf(ast))(value)
}

/**
 * A function that is true only for a parsed JSON value which the schema decodes to an equal value.
 * False says nothing: the schema may still accept the value.
 */
export const decodesToItself = <A>({
  ast,
}: Schema.Codec<A, unknown>): ((value: unknown) => value is A) => {
  const test = lazily(ast)
  return (value): value is A => test(value) === "same"
}
