/** What both wires say of the schema of an answer. */

/** The name of the schema, which a provider requires; the one that the original sends. */
export const schemaName = "codex_output_schema"
