/** What one node tells another about an ephemeral conversation: the summary of the store, as a schema. */
import { MetaSchema } from "@colloquy/core/MetaSchema"
import * as Schema from "effect/Schema"

const text = Schema.optionalKey(Schema.String)

/** A summary. Its members are those of `ConversationSummary` in `ConversationStore.ts`. */
export const SummarySchema = Schema.Struct({
  meta: MetaSchema,
  preview: text,
  name: text,
  updatedAtMs: Schema.Finite,
  archived: Schema.Boolean,
  path: text,
  revision: text,
})
