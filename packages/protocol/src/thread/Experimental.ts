/**
 * What of a request only a client may use that declared `experimentalApi`: a method, a member of its params, or a value in
 * them. Derived from the definitions: `experimental` of a method, and the annotation `experimentalValue` of a schema. Pure.
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { infoOf, type Method } from "../Method.ts"
import { memberOf } from "../NullAsAbsent.ts"
import { experimentalValue } from "./Values.ts"

/** Names what is experimental in the params of a request, as errors do; undefined when nothing is. */
export type ExperimentalUse = (params: unknown) => string | undefined

/** A member that is null is not used, and neither is a switch that is off, its default. */
const isUsed = (member: unknown): boolean => member !== undefined && member !== false

const valuesIn = (ast: SchemaAST.AST): ReadonlyArray<readonly [string, SchemaAST.AST]> => {
  const name = ast.annotations?.[experimentalValue]
  if (typeof name === "string") return [[name, ast]]
  return ast._tag === "Union" ? ast.types.flatMap(valuesIn) : []
}

const ofValues = ({ payloadSchema }: Method): ReadonlyArray<ExperimentalUse> => {
  const { ast } = payloadSchema
  if (ast._tag !== "Objects") return []
  return ast.propertySignatures.flatMap(({ name: member, type }) =>
    valuesIn(type).map(([name, value]): ExperimentalUse => {
      const is = Schema.is(Schema.make<Schema.Codec<unknown>>(value))
      return (params) => (is(memberOf(params, String(member))) ? name : undefined)
    }),
  )
}

const ofMembers = (method: Method): ReadonlyArray<ExperimentalUse> => {
  const { experimental } = infoOf(method)
  if (experimental === true) return [() => method._tag]
  return (experimental ?? []).map(
    (member) => (params) =>
      isUsed(memberOf(params, member)) ? `${method._tag}.${member}` : undefined,
  )
}

/** Makes the check of a method. Its params are checked after they were decoded. */
export const experimentalUseOf = (method: Method): ExperimentalUse => {
  const checks = [...ofMembers(method), ...ofValues(method)]
  return (params) => {
    for (const check of checks) {
      const use = check(params)
      if (use !== undefined) return use
    }
    return undefined
  }
}
