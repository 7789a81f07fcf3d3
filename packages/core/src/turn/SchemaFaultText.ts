/**
 * The text of a fault that a JSON Schema check found, in the same words as `ToolArguments` uses for such faults, so that
 * all tools report them alike. Names that come from a client are shortened. Pure.
 */
import type { Fault, Path } from "@colloquy/json-schema/Fault"
import {
  actual,
  expectations,
  inPart,
  list,
  suggestion,
} from "@colloquy/protocol/mcp/ArgumentTexts"

/** `a.b[0]`, shortened, because the names come from the client and several faults may repeat them. */
const nameOf = (path: Path): string =>
  inPart(
    path.reduce<string>(
      (at, key) => (typeof key === "number" ? `${at}[${key}]` : at === "" ? key : `${at}.${key}`),
      "",
    ),
  )

const field = (path: Path): string => (path.length === 0 ? "" : ` (field \`${nameOf(path)}\`)`)

const nameOfType = (type: string): string => expectations[type] ?? type

const spelled = (u: unknown): string => (typeof u === "string" ? u : JSON.stringify(u))

/** Characters of a client's string that a text repeats. */
const shownLength = 80

const variantText = (value: unknown, expected: ReadonlyArray<unknown>): string => {
  const known = expected.map(spelled)
  return typeof value === "string"
    ? `unknown variant \`${value.slice(0, shownLength)}\`, expected one of ${list(known)}${suggestion(value, known)}`
    : `invalid value: ${actual(value)}, expected one of ${list(known)}`
}

const unknownText = (path: Path, name: string, known: ReadonlyArray<string>): string => {
  const instead = known.length === 0 ? ", expected none" : `, expected one of ${list(known)}`
  return `unknown field \`${nameOf(path)}\`${suggestion(name, known) || instead}`
}

const boundWords = {
  minimum: "at least",
  maximum: "at most",
  exclusiveMinimum: "more than",
  exclusiveMaximum: "less than",
  multipleOf: "a multiple of",
} as const

const sizeWords = {
  minLength: "characters, expected at least",
  maxLength: "characters, expected at most",
  minItems: "items, expected at least",
  maxItems: "items, expected at most",
  minProperties: "members, expected at least",
  maxProperties: "members, expected at most",
} as const

const limitText = (fault: Extract<Fault, { readonly keyword: "limit" }>, at: string): string =>
  fault.limit === "steps"
    ? "too large to check"
    : `nested more than ${fault.expected} levels deep${at}`

/** One line without a full stop; callers join several with `; `. */
export const schemaFaultText = (fault: Fault): string => {
  const at = field(fault.path)
  switch (fault.keyword) {
    case "false":
      return `no value is allowed here${at}`
    case "type":
      return `invalid type: ${actual(fault.value)}, expected ${fault.expected.map(nameOfType).join(" or ")}${at}`
    case "const":
    case "enum":
      return `${variantText(fault.value, fault.expected)}${at}`
    case "pattern":
      return `invalid value: ${actual(fault.value)}, expected a string that matches \`${fault.expected}\`${at}`
    case "required":
    case "dependentRequired": {
      const expected =
        fault.expected === undefined ? "" : ` (expected ${nameOfType(fault.expected)})`
      return `missing field \`${nameOf(fault.path)}\`${expected}`
    }
    case "additionalProperties":
      return unknownText(fault.path, fault.name, fault.known)
    case "uniqueItems":
      return `the items are not unique${at}`
    case "contains":
      return `${fault.found} of the items match \`contains\`, expected ${fault.min} to ${fault.max}${at}`
    case "oneOf":
      return `matches ${fault.matching} of the alternatives, expected exactly one${at}`
    case "not":
      return `${actual(fault.value)} is not allowed${at}`
    case "limit":
      return limitText(fault, at)
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
    case "multipleOf":
      return `invalid value: ${actual(fault.value)}, expected ${boundWords[fault.keyword]} ${fault.expected}${at}`
    default:
      return `${fault.size} ${sizeWords[fault.keyword]} ${fault.expected}${at}`
  }
}
