/** The first events of every conversation (L3). Pure. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { MessageItem } from "@colloquy/protocol/ResponseItem"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { Draft } from "./State.ts"
import { environmentContext } from "./EnvironmentContext.ts"

const sessionConfigured = (id: ConversationId, settings: ConversationSettings): EventMsg => ({
  type: "session_configured",
  session_id: id,
  model: settings.model,
  ...(settings.effort === undefined ? {} : { reasoning_effort: settings.effort }),
  history_log_id: 0,
  history_entry_count: 0,
  thread_id: id,
  model_provider_id: settings.provider.id,
  approval_policy: settings.approvalPolicy,
  sandbox_policy: settings.sandboxPolicy,
  cwd: settings.cwd,
})

/** The text of AGENTS.md files, as the message that models know (`packages/docs/wire/providers.md`). */
const userInstructions = (text: string): MessageItem => ({
  type: "message",
  role: "user",
  content: [
    {
      type: "input_text",
      text: `<user_instructions>\n\n${text}\n\n</user_instructions>`,
    },
  ],
})

const recorded = (item: MessageItem): Draft => ({
  id: "",
  msg: { type: "raw_response_item", item },
})

/**
 * `session_configured`, then the AGENTS.md text, then the environment context unless the settings exclude it. All have the id `""`, because no submission
 * caused them.
 */
export const initialEvents = (
  id: ConversationId,
  settings: ConversationSettings,
): ReadonlyArray<Draft> => [
  { id: "", msg: sessionConfigured(id, settings) },
  ...(settings.userInstructions === undefined
    ? []
    : [recorded(userInstructions(settings.userInstructions))]),
  ...(settings.includeEnvironmentContext === false
    ? []
    : [recorded(environmentContext(settings, settings.shell))]),
]
