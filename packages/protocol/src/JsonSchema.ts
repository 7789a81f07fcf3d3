/** JSON Schema (draft 2020-12) of the wire's schemas, for `tools/list` and for reference files. */
import * as Schema from "effect/Schema"

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
