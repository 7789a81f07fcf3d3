/** The JSON Schema (draft 2020-12) of a wire schema, for `tools/list` and for the generated reference. Pure. */
import * as Schema from "effect/Schema"

/** A JSON Schema that is an object. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Makes one self-contained schema. With `closed`, objects forbid members that they do not define. */
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
