/** The members of a request about reasoning. Pure. */
import { defined } from "@colloquy/protocol/Defined"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { ModelRequest } from "../ModelClient.ts"
import { hasReasoning } from "./ModelFamily.ts"

/** Effort and summary for a model with reasoning; no members for any other model. */
export const reasoningOf = ({
  effort,
  model,
  summary,
  supportsReasoning,
}: ConversationSettings): Pick<ModelRequest, "effort" | "summary"> =>
  (supportsReasoning ?? hasReasoning(model)) ? { ...defined({ effort }), summary } : {}
