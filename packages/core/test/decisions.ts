/** Inputs, drafts and states for the tests of `decide`. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { Op } from "@colloquy/protocol/Op"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import { SubmissionRefused } from "../src/ConversationErrors.ts"
import {
  type Draft,
  initialState,
  numberDrafts,
  project,
  type State,
} from "../src/decider/State.ts"
import { decide } from "../src/decider/Decide.ts"
import {
  type Decision,
  type Input,
  type TurnExit,
  type WhileRunning,
} from "../src/decider/Decision.ts"
import { says, settings, userItem } from "./support.ts"

export const submit = (
  op: Op,
  options: { readonly id?: string; readonly whileRunning?: WhileRunning } = {},
): Input => ({
  _tag: "Submit",
  id: options.id,
  op,
  whileRunning: options.whileRunning ?? "queue",
})
export const cancel = (id: string): Input => ({ _tag: "Cancel", id })
export const emit = (turnId: string, ...messages: ReadonlyArray<EventMsg>): Input => ({
  _tag: "Emit",
  turnId,
  messages,
})
export const advance = (
  turnId: string,
  fields: { readonly sawSeq?: number; readonly followUp?: boolean; readonly lastMessage?: string },
): Input => ({ _tag: "Advance", turnId, sawSeq: 99, followUp: false, lastMessage: null, ...fields })
export const ended = (turnId: string, exit: TurnExit): Input => ({ _tag: "Ended", turnId, exit })
export const failure: TurnExit = { _tag: "Failed", message: "boom" }
export const interruption: TurnExit = { _tag: "Interrupted" }

export const next = ({ state, events }: Decision): State =>
  numberDrafts(state.seq, events).reduce(project, state)

export const after = (state: State, ...inputs: ReadonlyArray<Input>): State =>
  inputs.reduce((s, input) => next(decide(s, input)), state)

/** Decides the input and returns the decision without its state. */
export const say = (state: State, input: Input): Omit<Decision, "state"> => {
  const { state: _, ...rest } = decide(state, input)
  return rest
}

export const draft = (id: string, msg: EventMsg): Draft => ({ id, msg })
export const inputOf = (id: string, text: string): ReadonlyArray<Draft> => [
  draft(id, { type: "raw_response_item", item: userItem(text) }),
  draft(id, { type: "user_message", message: text, kind: "plain" }),
]
export const startOf = (id: string, text: string): ReadonlyArray<Draft> => [
  draft(id, { type: "task_started", model_context_window: null }),
  ...inputOf(id, text),
]
export const turnAborted = (id: string, reason: TurnAbortReason = "interrupted") =>
  draft(id, { type: "turn_aborted", reason })
export const taskComplete = (id: string, last_agent_message: string | null) =>
  draft(id, { type: "task_complete", last_agent_message })
export const shutdownComplete = (id: string) => draft(id, { type: "shutdown_complete" })

const fresh = initialState(settings)
export const idle: State = { ...fresh, seq: 2 }
export const running = after(idle, submit(says("a"), { id: "a" }))
export const withWaiting = (...ids: ReadonlyArray<string>): State =>
  after(running, ...ids.map((id) => submit(says(id), { id, whileRunning: "wait" })))
export const stopping = (...ids: ReadonlyArray<string>): State =>
  after(withWaiting(...ids), cancel("a"))

export const refusal = (reason: SubmissionRefused["reason"], message: string) => ({
  events: [],
  actions: [],
  refused: new SubmissionRefused({ reason, message }),
})
export const nothing = { events: [], actions: [] }
export const turnOp = (fields: Partial<Extract<Op, { type: "user_turn" }>> = {}): Op => ({
  type: "user_turn",
  items: [{ type: "text", text: "hi" }],
  cwd: settings.cwd,
  approval_policy: settings.approvalPolicy,
  sandbox_policy: settings.sandboxPolicy,
  model: settings.model,
  summary: "auto",
  ...fields,
})
