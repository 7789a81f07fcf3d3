/** What a request says about reasoning: nothing to a model that has none. Pure. */
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { ModelRequest } from "../ModelClient.ts"
import { hasReasoning } from "./ModelFamily.ts"

export const reasoningOf = ({
  effort,
  model,
  summary,
  supportsReasoning,
}: ConversationSettings): Pick<ModelRequest, "effort" | "summary"> =>
  (supportsReasoning ?? hasReasoning(model))
    ? { ...(effort === undefined ? {} : { effort }), summary }
    : {}
