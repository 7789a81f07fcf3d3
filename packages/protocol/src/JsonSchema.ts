/** JSON Schema (draft 2020-12) of the wire's schemas, for `tools/list` and for reference files. */
import type * as Rpc from "effect/rpc/Rpc"
import * as Schema from "effect/Schema"
import { type Dialect, type Method, infoOf, isVoid, methodsOf } from "./Method.ts"

export type JsonSchema = Readonly<Record<string, unknown>>

/** One self-contained schema; `closed` objects forbid members they do not name. */
export const jsonSchemaOf = (
  schema: Schema.Top,
  options?: { readonly closed?: boolean },
): JsonSchema => {
  const document = Schema.toJsonSchemaDocument(
    schema,
    options?.closed === true ? { onExcessProperty: "error" } : undefined,
  )
  return Object.keys(document.definitions).length === 0
    ? document.schema
    : { ...document.schema, $defs: document.definitions }
}

const methodSchema = (method: Method): JsonSchema => ({
  kind: infoOf(method).kind,
  description: infoOf(method).doc,
  ...(isVoid(method.payloadSchema) ? {} : { params: jsonSchemaOf(method.payloadSchema) }),
  ...(infoOf(method).kind === "notification" || isVoid(method.successSchema)
    ? {}
    : { result: jsonSchemaOf(method.successSchema) }),
})

/** Params and result of every method of a dialect, by direction and wire name. */
export const dialectJsonSchema = <C extends Rpc.Any, S extends Rpc.Any>(
  dialect: Dialect<C, S>,
): JsonSchema => {
  const side = (methods: ReadonlyMap<string, Method>) =>
    Object.fromEntries([...methods].map(([name, method]) => [name, methodSchema(method)]))
  return {
    name: dialect.name,
    clientToServer: side(methodsOf(dialect.clientToServer)),
    serverToClient: side(methodsOf(dialect.serverToClient)),
  }
}
