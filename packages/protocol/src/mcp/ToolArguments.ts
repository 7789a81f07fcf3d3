/**
 * Decodes the arguments of a tool call strictly and reports every fault so that a person or a model can correct it: the
 * field, what was expected, the nearest known name. Strict, because the original ignored a misspelt `approval-policy` and ran
 * with the wrong policy (packages/server/test/fixtures/v0.29.0/bad_args.jsonl, id 13).
 *
 * The texts follow those of the original where it has them (`missing field`, `invalid type`, `unknown variant`).
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { JsonSchema } from "../JsonSchema.ts"
import type { Pure } from "../Method.ts"
import { tolerant } from "../NullAsAbsent.ts"
import {
  alternativesOf,
  choicesOf,
  described,
  isMembers,
  meantBy,
  membersOf,
  type Node,
  tagOf,
  takesKind,
} from "./ArgumentSchema.ts"
import { actual, inPart, list, suggestion } from "./ArgumentTexts.ts"
import type { ToolDefinition } from "./CodexTools.ts"

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/** One fault of the arguments and its place. */
interface Place {
  readonly value: unknown
  /** False: the arguments do not have the field. */
  readonly present: boolean
  /** What the field accepts; empty for an unknown field. */
  readonly nodes: ReadonlyArray<Node>
  /** The path, as in `plan[0].status`. */
  readonly at: string
  /** The decoder's message, used when the type and the choices are right. */
  readonly message: string
}

const bounds = (nodes: ReadonlyArray<Node>): string => {
  const { maximum, minimum } = nodes.find((node) => node.minimum !== undefined) ?? {}
  return minimum === undefined || maximum === undefined ? "" : ` from ${minimum} to ${maximum}`
}

const explain = ({ at, message, nodes, present, value }: Place): string => {
  if (!present) return `missing field \`${at}\` (expected ${described(nodes)})`
  const tag = isMembers(value) ? tagOf(nodes.filter((node) => takesKind(node, value))) : undefined
  if (isMembers(value) && tag !== undefined) {
    const named: unknown = value[tag.name]
    const isTagged = Object.hasOwn(value, tag.name)
    const nodesOfTag = [tag.node]
    return explain({
      at: `${at}.${tag.name}`,
      value: named,
      present: isTagged,
      nodes: nodesOfTag,
      message,
    })
  }
  const choices = nodes.flatMap((node) => choicesOf(node) ?? [])
  const isChoice = choices.length > 0 && choices.every((choice) => typeof choice === "string")
  if (isChoice && typeof value === "string") {
    return `unknown variant \`${inPart(value)}\`, expected ${described(nodes)}${suggestion(value, choices)} (field \`${at}\`)`
  }
  const isKind = choices.length === 0 && nodes.some((node) => takesKind(node, value))
  const limits = typeof value === "number" ? bounds(nodes) : ""
  return isKind && limits === ""
    ? `invalid value: ${actual(value)}, ${message.slice(0, 1).toLowerCase()}${message.slice(1)} (field \`${at}\`)`
    : `invalid type: ${actual(value)}, expected ${described(nodes)}${limits} (field \`${at}\`)`
}

const unknownField = (at: string, key: string, nodes: ReadonlyArray<Node>): string => {
  const known = nodes.flatMap(({ properties }) => Object.keys(properties ?? {}))
  const expected = known.length === 0 ? "no field is known there" : `expected one of ${list(known)}`
  return `unknown field \`${at}\`${suggestion(key, known) || `, ${expected}`}`
}

/** Explains the fault at `path` below a place; `names` is the path of that place. */
const explainAt = (
  path: ReadonlyArray<PropertyKey>,
  place: { readonly value: unknown; readonly nodes: ReadonlyArray<Node>; readonly names: string },
  message: string,
  root: Node,
): string => {
  const { names, value } = place
  const [segment, ...rest] = path
  const key = typeof segment === "symbol" ? "" : String(segment ?? "")
  const isItem = Array.isArray(value)
  const at = inPart(isItem ? `${names}[${key}]` : names === "" ? key : `${names}.${key}`)
  const around = meantBy(place.nodes, value)
  const nodes = membersOf(around, key, isItem).flatMap((node) => alternativesOf(node, root))
  const present = typeof value === "object" && value !== null && Object.hasOwn(value, key)
  const member: unknown = present ? Reflect.get(value, key) : undefined
  if (rest.length > 0 && present) {
    return explainAt(rest, { value: member, nodes, names: at }, message, root)
  }
  return nodes.length === 0 && present && !isItem
    ? unknownField(at, key, around)
    : explain({ value: member, present, nodes, at, message })
}

/** More than a model corrects at once. */
const maxFaults = 20

/** One line with the faults of the arguments, at most 20, joined by `; `. */
export const argumentFaults = (
  inputSchema: JsonSchema,
  error: Schema.SchemaError,
  args: unknown,
): string => {
  const root: Node = inputSchema
  const nodes = alternativesOf(root, root)
  const { issues } = formatIssues(error.issue)
  const faults = issues.slice(0, maxFaults).map(({ message, path = [] }) =>
    explainAt(
      path.map((segment) => (typeof segment === "object" ? segment.key : segment)),
      { value: args, nodes, names: "" },
      message,
      root,
    ),
  )
  return [...new Set(faults), ...(issues.length > maxFaults ? ["and more"] : [])].join("; ")
}

/** A tool whose arguments are decoded. */
type Decoded<A extends Pure> = Pick<ToolDefinition<A>, "name" | "arguments" | "inputSchema">

/** Makes the function that decodes the arguments of a tool; a failure is one line with all faults. */
export const argumentsDecoder = <A extends Pure>(
  tool: Decoded<A>,
): ((args: unknown) => Result.Result<A["Type"], string>) => {
  const decode = tolerant(
    tool.arguments,
    Schema.decodeUnknownResult(tool.arguments, { errors: "all", onExcessProperty: "error" }),
  )
  return (args) =>
    isMembers(args)
      ? Result.mapError(decode(args), (error) => argumentFaults(tool.inputSchema, error, args))
      : Result.fail(
          `invalid type: ${actual(args)}, expected a map of arguments for \`${tool.name}\``,
        )
}

/** Decodes the arguments of one call. */
export const decodeArguments = <A extends Pure>(
  tool: Decoded<A>,
  args: unknown,
): Result.Result<A["Type"], string> => argumentsDecoder(tool)(args)
