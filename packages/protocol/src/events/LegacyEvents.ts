/**
 * Events of the original that Colloquy never produces. They are defined so that a conversation that the original stored
 * can be read, and because the contract of the original has them. A test holds that no code constructs one.
 */
import * as Schema from "effect/Schema"
import { event, original } from "../EventDefinition.ts"

const legacy = { ...original, legacy: true } as const

/** The event `get_history_entry_response`; its `doc` describes it. */
export const GetHistoryEntryResponse = event(
  "get_history_entry_response",
  {
    offset: Schema.Int,
    log_id: Schema.Int,
    entry: Schema.optionalKey(
      Schema.Struct({
        conversation_id: Schema.String,
        ts: Schema.Int,
        text: Schema.String,
      }),
    ),
  },
  {
    ...legacy,
    doc: "Legacy, never sent: an entry of the original's message history, the response to `get_history_entry_request`.",
  },
)
/** Legacy, never sent: an entry of the original's message history, the response to `get_history_entry_request`. */
export type GetHistoryEntryResponse = typeof GetHistoryEntryResponse.Type

/** The event `list_custom_prompts_response`; its `doc` describes it. */
export const ListCustomPromptsResponse = event(
  "list_custom_prompts_response",
  {
    custom_prompts: Schema.Array(
      Schema.Struct({ name: Schema.String, path: Schema.String, content: Schema.String }),
    ),
  },
  {
    ...legacy,
    doc: "Legacy, never sent: the user's prompt files, the response to `list_custom_prompts`. Prompt files are MCP prompts here.",
  },
)
/**
 * Legacy, never sent: the user's prompt files, the response to `list_custom_prompts`. Prompt files are MCP prompts
 * here.
 */
export type ListCustomPromptsResponse = typeof ListCustomPromptsResponse.Type

/** The event `conversation_path`; its `doc` describes it. */
export const ConversationPath = event(
  "conversation_path",
  { conversation_id: Schema.String, path: Schema.String },
  {
    ...legacy,
    doc: "Legacy, never sent: the path of the rollout file, the response to `get_path`.",
  },
)
/** Legacy, never sent: the path of the rollout file, the response to `get_path`. */
export type ConversationPath = typeof ConversationPath.Type
