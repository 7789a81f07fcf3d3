/** What one node tells another about an ephemeral conversation: the summary of the store, as a schema. */
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Schema from "effect/Schema"

const text = Schema.optionalKey(Schema.String)

const Meta = Schema.Struct({
  id: ConversationId,
  createdAtMs: Schema.Finite,
  cwd: Schema.String,
  originator: Schema.String,
  version: Schema.String,
  instructions: text,
  provider: text,
  model: text,
  source: text,
  git: Schema.optionalKey(Schema.Struct({ commitHash: text, branch: text, repositoryUrl: text })),
  forkedFrom: text,
  ephemeral: Schema.optionalKey(Schema.Literal(true)),
  owner: text,
})

/** A summary. Its members are those of `ConversationSummary` in `ConversationStore.ts`. */
export const SummarySchema = Schema.Struct({
  meta: Meta,
  preview: text,
  name: text,
  updatedAtMs: Schema.Finite,
  archived: Schema.Boolean,
  path: text,
  revision: text,
})
