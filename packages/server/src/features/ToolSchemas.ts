/**
 * The input and output schema of a tool: the JSON Schema that clients get, and the check of arguments and results. An
 * Effect Schema also transforms the values; a JSON Schema is sent to clients unchanged and only checks. JSON Schemas are
 * made and compiled at their first use.
 */
import { compile } from "@colloquy/json-schema/SchemaCheck"
import { schemaFaultText } from "@colloquy/core/turn/SchemaFaultText"
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
import { type JsonSchema, jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import { actual } from "@colloquy/protocol/mcp/ArgumentTexts"
import type { Pure } from "@colloquy/protocol/Method"
import { nullsAbsentIn, tolerant } from "@colloquy/protocol/NullAsAbsent"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Members } from "../mcp/RequestContext.ts"

/** The schema of a tool's arguments. */
export interface Input {
  /** As clients get it. */
  readonly schema: JsonSchema
  /** Why no tool can use the schema; undefined for a valid one. */
  readonly problem: string | undefined
  /** The value for the tool's `run`, or one line that names every fault. */
  readonly decode: (args: unknown) => Result.Result<unknown, string>
}

/** The schema of a tool's structured content. */
export interface Output {
  /** As clients get it. */
  readonly schema: JsonSchema
  /** Why no tool can use the schema; undefined for a valid one. */
  readonly problem: string | undefined
  /** The value as it is sent, or one line that names every fault. */
  readonly encode: (value: unknown) => Result.Result<unknown, string>
}

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | undefined
  return () => (made ??= { value: make() }).value
}

const checkOf = (schema: JsonSchema) => {
  const compiled = compile(schema)
  if (compiled._tag === "Failure") {
    return { check: (): ReadonlyArray<string> => [compiled.failure], problem: compiled.failure }
  }
  const check = compiled.success
  return {
    check: (value: unknown): ReadonlyArray<string> => check(value).map(schemaFaultText),
    problem: undefined,
  }
}

const isMembers = (u: unknown): u is Members =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** Every revision of the protocol requires an object here, and clients check it. */
const rootProblem = (schema: JsonSchema): string | undefined =>
  schema["type"] === "object" ? undefined : 'expected a schema of `type: "object"`'

/** The schema of a tool without arguments. */
export const nothing: JsonSchema = { type: "object", properties: {}, additionalProperties: false }

const noMap = (name: string, args: unknown) =>
  `invalid type: ${actual(args)}, expected a map of arguments for \`${name}\``

/**
 * The input of the tool of that name. Absent arguments count as an empty object, and a member that is null where the
 * schema does not allow null counts as absent.
 */
export const inputOf = (name: string, input: Pure | Members): Input => {
  const typed = Schema.isSchema(input) ? input : undefined
  const schema = once(() =>
    Schema.isSchema(input) ? jsonSchemaOf(input, { closed: true }) : input,
  )
  const checked = once(() => checkOf(schema()))
  const decodeTyped =
    typed === undefined
      ? undefined
      : tolerant(
          typed,
          Schema.decodeUnknownResult(typed, { errors: "all", onExcessProperty: "error" }),
        )
  return {
    get schema() {
      return schema()
    },
    get problem() {
      return rootProblem(schema()) ?? (typed === undefined ? checked().problem : undefined)
    },
    decode: (args = {}) => {
      if (!isMembers(args)) return Result.fail(noMap(name, args))
      if (decodeTyped === undefined) {
        const faults = checked().check(args)
        if (faults.length === 0) return Result.succeed(args)
        const without = nullsAbsentIn(schema(), args)
        return checked().check(without).length === 0
          ? Result.succeed(without)
          : Result.fail(faults.join("; "))
      }
      return Result.mapError(decodeTyped(args), (error) => {
        // The faults in terms of the JSON Schema that the client knows, if that schema finds any.
        const faults = checked().check(args)
        return faults.length > 0 ? faults.join("; ") : describeFaults("arguments", faultsOf(error))
      })
    },
  }
}

/** The output for a schema. */
export const outputOf = (output: Pure | Members): Output => {
  const schema = once(() => (Schema.isSchema(output) ? jsonSchemaOf(output) : output))
  const checked = once(() => checkOf(schema()))
  const encode = Schema.isSchema(output)
    ? Schema.encodeUnknownResult(output, { errors: "all" })
    : undefined
  return {
    get schema() {
      return schema()
    },
    get problem() {
      return encode === undefined ? checked().problem : undefined
    },
    encode: (value) => {
      if (encode !== undefined) {
        return Result.mapError(encode(value), (error) => describeFaults("result", faultsOf(error)))
      }
      const faults = checked().check(value)
      return faults.length === 0 ? Result.succeed(value) : Result.fail(faults.join("; "))
    },
  }
}
