/** The start of a turn: its settings and its first events. Pure. */
import { defined } from "@colloquy/protocol/Defined"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { ContextOp, Draft, State, QueuedSubmission } from "./State.ts"
import { type Decision, nothing } from "./Decision.ts"
import { environmentContext, environmentDiffers } from "./EnvironmentContext.ts"
import { inputMessage } from "./InputMessage.ts"
import { contextWindowOf } from "../turn/ModelFamily.ts"

/** The other model, with its context window unless that was configured. */
const modelOf = ({ contextWindow, model: before }: ConversationSettings, model: string) =>
  contextWindow === contextWindowOf(before)
    ? { model, contextWindow: contextWindowOf(model) }
    : { model }

/** The mode that the op sets, if it sets one. */
const modeOf = (op: ContextOp): ConversationSettings["collaborationMode"] => {
  if (op.type === "user_turn" || op.collaboration_mode === undefined) return undefined
  const { developer_instructions: developerInstructions, mode } = op.collaboration_mode
  return { mode, ...defined({ developerInstructions }) }
}

/** The questions that are allowed after the op. */
const questionsOf = (
  { approvalPolicy, approvalQuestions }: ConversationSettings,
  op: ContextOp,
): ConversationSettings["approvalQuestions"] => {
  const { approval_questions: given } = op
  if (given !== undefined) return given ?? undefined
  const isSame = op.approval_policy === undefined || op.approval_policy === approvalPolicy
  return isSame ? approvalQuestions : undefined
}

/** The state with the settings of the op, and the environment context for the model if it changed. */
export const withContext = (state: State, id: SubmissionId, op: ContextOp) => {
  const { approvalQuestions: _, effort: __, ...settings } = state.settings
  const effort = op.effort === undefined ? state.settings.effort : (op.effort ?? undefined)
  const next: ConversationSettings = {
    ...settings,
    ...(op.model === undefined ? {} : modelOf(state.settings, op.model)),
    ...defined({
      effort,
      cwd: op.cwd,
      approvalPolicy: op.approval_policy,
      approvalQuestions: questionsOf(state.settings, op),
      sandboxPolicy: op.sandbox_policy,
      summary: op.summary,
      baseInstructions: op.base_instructions,
      collaborationMode: modeOf(op),
    }),
  }
  const isTold =
    next.includeEnvironmentContext !== false && environmentDiffers(state.settings, next)
  const events: ReadonlyArray<Draft> = isTold
    ? [{ id, msg: { type: "raw_response_item", item: environmentContext(next) } }]
    : []
  return { state: { ...state, settings: next }, events }
}

/** The events that record user input of a turn. */
export const inputEvents = (
  turnId: SubmissionId,
  { clientId, items, review }: Pick<QueuedSubmission, "items" | "clientId" | "review">,
) => {
  const { item, userMessage: message } = inputMessage(items)
  // A person reads what is reviewed, and the model what it is asked.
  const userMessage = { ...message, ...defined({ client_id: clientId, message: review }) }
  return [
    { id: turnId, msg: { type: "raw_response_item", item } },
    { id: turnId, msg: userMessage },
  ] satisfies ReadonlyArray<Draft>
}

/** The beginning of a review, if the submission is one. */
const reviewEvents = ({ id, items, review }: QueuedSubmission): ReadonlyArray<Draft> => {
  if (review === undefined) return []
  const { message: prompt } = inputMessage(items).userMessage
  return [{ id, msg: { type: "entered_review_mode", prompt, user_facing_hint: review } }]
}

/** The events behind `task_started` that begin a turn. */
export const openingEvents = (submission: QueuedSubmission): ReadonlyArray<Draft> => [
  ...reviewEvents(submission),
  ...(submission.items.length === 0 ? [] : inputEvents(submission.id, submission)),
]

/** The state with the schema of the next answer; without one that the last turn had. */
const withOutputSchema = (state: State, outputSchema: unknown): State => {
  if (state.settings.outputSchema === outputSchema) return state
  const { outputSchema: _, ...settings } = state.settings
  return { ...state, settings: { ...settings, ...defined({ outputSchema }) } }
}

/** Starts a turn. One without input summarises the history, or runs a command of the user. */
export const startTurn = (before: State, submission: QueuedSubmission): Decision => {
  const { command, context, id, outputSchema } = submission
  const start = withOutputSchema(before, outputSchema)
  const { state, events } = context === undefined ? nothing(start) : withContext(start, id, context)
  return {
    state,
    events: [
      ...events,
      {
        id,
        msg: {
          type: "task_started",
          model_context_window: state.settings.contextWindow,
          ...defined({ user_shell_command: command }),
        },
      },
      ...openingEvents(submission),
    ],
    actions: [{ _tag: "StartTurn", id, ...defined({ command }) }],
    receipt: { id, disposition: "started" },
  }
}
