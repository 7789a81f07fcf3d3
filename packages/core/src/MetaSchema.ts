/** Facts about a conversation as a schema, for what decodes them: a call of another node, a row of an index. */
import { ConversationId } from "@colloquy/protocol/Ids"
import * as Schema from "effect/Schema"
import type { ConversationMeta } from "./ConversationStore.ts"

const text = Schema.optionalKey(Schema.String)

/** Has the members of `ConversationMeta`. */
export const MetaSchema = Schema.Struct({
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
} satisfies Record<keyof ConversationMeta, unknown>)
