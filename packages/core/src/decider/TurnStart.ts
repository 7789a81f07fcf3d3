/** How a turn begins: its context, its first events (§4.6, §6.2). Pure. */
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { InputItem } from "@colloquy/protocol/ResponseItem"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { ContextOp, Draft, State, QueuedSubmission } from "./State.ts"
import { type Decision, nothing } from "./Decision.ts"
import { environmentContext, environmentDiffers } from "./EnvironmentContext.ts"
import { inputMessage } from "./InputMessage.ts"
import { contextWindowOf } from "../turn/ModelFamily.ts"

/** Another model, and its window, unless that was configured. */
const modelOf = ({ contextWindow, model: before }: ConversationSettings, model: string) =>
  contextWindow === contextWindowOf(before)
    ? { model, contextWindow: contextWindowOf(model) }
    : { model }

/** The state with the op's context, and what the model has to be told of it. */
export const withContext = (state: State, id: SubmissionId, op: ContextOp) => {
  const { effort: _, ...settings } = state.settings
  const effort = op.effort === undefined ? state.settings.effort : (op.effort ?? undefined)
  const next: ConversationSettings = {
    ...settings,
    ...(effort === undefined ? {} : { effort }),
    ...(op.cwd === undefined ? {} : { cwd: op.cwd }),
    ...(op.approval_policy === undefined ? {} : { approvalPolicy: op.approval_policy }),
    ...(op.sandbox_policy === undefined ? {} : { sandboxPolicy: op.sandbox_policy }),
    ...(op.model === undefined ? {} : modelOf(state.settings, op.model)),
    ...(op.summary === undefined ? {} : { summary: op.summary }),
    ...(op.base_instructions === undefined ? {} : { baseInstructions: op.base_instructions }),
  }
  const events: ReadonlyArray<Draft> = environmentDiffers(state.settings, next)
    ? [{ id, msg: { type: "raw_response_item", item: environmentContext(next) } }]
    : []
  return { state: { ...state, settings: next }, events }
}

/** What records a user's input for the turn. */
export const inputEvents = (turnId: SubmissionId, items: ReadonlyArray<InputItem>) => {
  const { item, userMessage } = inputMessage(items)
  return [
    { id: turnId, msg: { type: "raw_response_item", item } },
    { id: turnId, msg: userMessage },
  ] satisfies ReadonlyArray<Draft>
}

/** The turn starts now; one without input summarises the history. */
export const startTurn = (before: State, { id, items, context }: QueuedSubmission): Decision => {
  const { state, events } =
    context === undefined ? nothing(before) : withContext(before, id, context)
  return {
    state,
    events: [
      ...events,
      {
        id,
        msg: { type: "task_started", model_context_window: state.settings.contextWindow },
      },
      ...(items.length === 0 ? [] : inputEvents(id, items)),
    ],
    actions: [{ _tag: "StartTurn", id }],
    receipt: { id, disposition: "started" },
  }
}
