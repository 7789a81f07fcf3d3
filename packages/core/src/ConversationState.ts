/**
 * The decisions of a conversation: `decide(state, input)` says which events follow and what is to be done,
 * `project(state, event)` folds an event into the state. Pure: the one fiber in `Conversation.ts` interprets.
 *
 * Keeps L3 (seq 0 is `session_configured`, emitted by the maker), L5 (one terminal event per accepted turn, after
 * everything else of it) and the numbering of L4.
 */
import type { Event, EventMsg } from "@colloquy/protocol/EventMsg"
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import type { InputItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import { ConversationClosed, SubmissionRefused, type SubmitError } from "./ConversationErrors.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { environmentContext, environmentDiffers } from "./EnvironmentContext.ts"
import { inputMessage } from "./InputMessage.ts"

/**
 * What happens to input while a turn runs: `queue` joins the running turn before its next model request, `wait` runs
 * as a turn of its own after those before it, `reject` is refused.
 */
export type WhileRunning = "queue" | "wait" | "reject"

/** Submissions that may wait for a turn of their own; one more is refused. */
export const maxWaiting = 64

interface Waiting {
  readonly id: SubmissionId
  readonly items: ReadonlyArray<InputItem>
  /** Of a `user_turn`: takes effect when its turn starts. */
  readonly context?: ContextOp
}

interface RunningTurn {
  readonly id: SubmissionId
  /** Number of the last event that carries user input for this turn. */
  readonly inputSeq: number
  /** Set once the turn has been told to stop. */
  readonly aborting?: TurnAbortReason
}

export interface State {
  readonly settings: ConversationSettings
  /** Durable events so far: the number the next one gets. */
  readonly seq: number
  readonly turn: RunningTurn | undefined
  readonly waiting: ReadonlyArray<Waiting>
  /** The next automatic submission id (§1.6: counts from 0 per conversation). */
  readonly nextId: number
  /** Ids that clients chose; an automatic one never repeats them. */
  readonly chosenIds: ReadonlyArray<SubmissionId>
  /** Tokens of all requests so far; undefined until a provider reported some. */
  readonly usage: TokenUsage | undefined
  /** True from `shutdown` on. */
  readonly closing: boolean
  /** The submission that asked for the shutdown. */
  readonly shutdownId?: SubmissionId
}

export const initial = (settings: ConversationSettings): State => ({
  settings,
  seq: 0,
  turn: undefined,
  waiting: [],
  nextId: 0,
  chosenIds: [],
  usage: undefined,
  closing: false,
})

/** How the fiber of a turn ended when it did not end by `Advance`. */
export type TurnExit =
  | { readonly _tag: "Failed"; readonly message: string }
  | { readonly _tag: "Interrupted" }

export type Input =
  | {
      readonly _tag: "Submit"
      readonly id: SubmissionId | undefined
      readonly op: Op
      readonly whileRunning: WhileRunning
    }
  /** Stops the submission, running or waiting; anything else is left alone. */
  | { readonly _tag: "Cancel"; readonly id: SubmissionId }
  | {
      readonly _tag: "Emit"
      readonly turnId: SubmissionId
      readonly messages: ReadonlyArray<EventMsg>
    }
  /** The turn asks whether to send another request; `sawSeq` is what its last request had seen. */
  | {
      readonly _tag: "Advance"
      readonly turnId: SubmissionId
      readonly sawSeq: number
      readonly followUp: boolean
      readonly lastMessage: string | null
    }
  | { readonly _tag: "Ended"; readonly turnId: SubmissionId; readonly exit: TurnExit }

export type Action =
  | { readonly _tag: "StartTurn"; readonly id: SubmissionId }
  | { readonly _tag: "InterruptTurn" }
  /** Nothing more will happen: end the fiber. */
  | { readonly _tag: "Close" }

/** What became of a submission. `none` had no effect that events could show. */
export type Disposition = "started" | "joined" | "waiting" | "none"

export interface Receipt {
  readonly id: SubmissionId
  readonly disposition: Disposition
}

export interface Draft {
  readonly id: string
  readonly msg: EventMsg
}

export interface Decision {
  /** The state before the events are folded into it. */
  readonly state: State
  readonly events: ReadonlyArray<Draft>
  readonly actions: ReadonlyArray<Action>
  /** To `Submit`: the receipt. */
  readonly receipt?: Receipt
  /** To `Submit`: why it was refused. */
  readonly refused?: SubmitError
  /** To `Advance`: true when the turn sends another request. */
  readonly goOn?: boolean
}

const nothing = (state: State): Decision => ({ state, events: [], actions: [] })

/** Numbers drafts; an ephemeral one carries the number of the durable event it follows. */
export const number = (seq: number, drafts: ReadonlyArray<Draft>): ReadonlyArray<Event> => {
  let next = seq
  return drafts.map(({ id, msg }) => ({
    seq: isEphemeral(msg) ? next - 1 : next++,
    id,
    msg,
  }))
}

export const project = (state: State, event: Event): State => {
  const { msg } = event
  if (isEphemeral(msg)) return state
  const seq = event.seq + 1
  switch (msg.type) {
    case "task_started":
      return { ...state, seq, turn: { id: event.id, inputSeq: event.seq } }
    case "task_complete":
    case "turn_aborted":
      return { ...state, seq, turn: state.turn?.id === event.id ? undefined : state.turn }
    case "user_message":
      return state.turn?.id === event.id && msg.kind === "plain"
        ? { ...state, seq, turn: { ...state.turn, inputSeq: event.seq } }
        : { ...state, seq }
    case "token_count":
      return { ...state, seq, usage: msg.info?.total_token_usage ?? state.usage }
    default:
      return { ...state, seq }
  }
}

export const decide = (state: State, input: Input): Decision => {
  switch (input._tag) {
    case "Submit": {
      const decision = submit(state, input)
      // A refused submission leaves nothing behind, its id included.
      return decision.refused === undefined ? decision : { ...decision, state }
    }
    case "Cancel":
      return cancel(state, input.id)
    case "Emit":
      return state.turn?.id === input.turnId
        ? { ...nothing(state), events: input.messages.map((msg) => ({ id: input.turnId, msg })) }
        : nothing(state)
    case "Advance":
      return advance(state, input)
    case "Ended":
      return ended(state, input.turnId, input.exit)
  }
}

type Of<T extends Input["_tag"]> = Extract<Input, { readonly _tag: T }>

const submit = (state: State, input: Of<"Submit">): Decision => {
  if (state.closing) return { ...nothing(state), refused: new ConversationClosed() }
  if (input.id !== undefined && isTaken(state, input.id)) {
    return refuse(state, "DuplicateId", `submission id \`${input.id}\` is taken`)
  }
  const { id, state: named } = nameSubmission(state, input.id)
  const done: Decision = { ...nothing(named), receipt: { id, disposition: "none" } }
  const { op } = input
  switch (op.type) {
    case "user_input":
      return op.items.length === 0
        ? done
        : userInput(named, { id, items: op.items }, input.whileRunning)
    case "user_turn":
      return op.items.length === 0
        ? done
        : userInput(named, { id, items: op.items, context: op }, input.whileRunning)
    case "override_turn_context":
      return { ...done, ...withContext(named, id, op) }
    case "interrupt":
      return { ...interrupt(named), receipt: { id, disposition: "none" } }
    case "shutdown": {
      const stopped = interrupt({ ...named, closing: true, shutdownId: id })
      return {
        ...stopped,
        ...(named.turn === undefined ? closed(stopped) : {}),
        receipt: { id, disposition: "none" },
      }
    }
    default:
      return refuse(
        state,
        "UnsupportedOp",
        `op \`${op.type}\` is not supported by this conversation`,
      )
  }
}

const refuse = (state: State, reason: SubmissionRefused["reason"], message: string): Decision => ({
  ...nothing(state),
  refused: new SubmissionRefused({ reason, message }),
})

const isTaken = (state: State, id: SubmissionId): boolean =>
  state.chosenIds.includes(id) || (/^(0|[1-9]\d*)$/.test(id) && Number(id) < state.nextId)

const nameSubmission = (state: State, chosen: SubmissionId | undefined) => {
  if (chosen !== undefined) {
    return { id: chosen, state: { ...state, chosenIds: [...state.chosenIds, chosen] } }
  }
  let next = state.nextId
  while (state.chosenIds.includes(String(next))) next++
  return { id: String(next), state: { ...state, nextId: next + 1 } }
}

type ContextOp = Extract<Op, { readonly type: "user_turn" | "override_turn_context" }>

const withContext = (state: State, id: SubmissionId, op: ContextOp) => {
  const { effort: _, ...settings } = state.settings
  const effort = op.effort === undefined ? state.settings.effort : (op.effort ?? undefined)
  const next: ConversationSettings = {
    ...settings,
    ...(effort === undefined ? {} : { effort }),
    ...(op.cwd === undefined ? {} : { cwd: op.cwd }),
    ...(op.approval_policy === undefined ? {} : { approvalPolicy: op.approval_policy }),
    ...(op.sandbox_policy === undefined ? {} : { sandboxPolicy: op.sandbox_policy }),
    ...(op.model === undefined ? {} : { model: op.model }),
    ...(op.summary === undefined ? {} : { summary: op.summary }),
  }
  const events: ReadonlyArray<Draft> = environmentDiffers(state.settings, next)
    ? [{ id, msg: { type: "raw_response_item", item: environmentContext(next) } }]
    : []
  return { state: { ...state, settings: next }, events }
}

const userInput = (state: State, submission: Waiting, whileRunning: WhileRunning): Decision => {
  if (state.turn === undefined) return start(state, submission)
  switch (whileRunning) {
    case "queue":
      // A turn that is being stopped takes nothing in: the input gets a turn of its own.
      return state.turn.aborting !== undefined
        ? wait(state, submission)
        : {
            ...nothing(state),
            events: inputEvents(state.turn.id, submission.items),
            receipt: { id: state.turn.id, disposition: "joined" },
          }
    case "wait":
      return wait(state, submission)
    case "reject":
      return refuse(state, "TurnRunning", `turn \`${state.turn.id}\` is running`)
  }
}

const wait = (state: State, submission: Waiting): Decision =>
  state.waiting.length >= maxWaiting
    ? refuse(state, "TooManyWaiting", `${maxWaiting} submissions are waiting already`)
    : {
        ...nothing({ ...state, waiting: [...state.waiting, submission] }),
        receipt: { id: submission.id, disposition: "waiting" },
      }

const inputEvents = (turnId: SubmissionId, items: ReadonlyArray<InputItem>) => {
  const { item, userMessage } = inputMessage(items)
  return [
    { id: turnId, msg: { type: "raw_response_item", item } },
    { id: turnId, msg: userMessage },
  ] satisfies ReadonlyArray<Draft>
}

const start = (before: State, { id, items, context }: Waiting): Decision => {
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
      ...inputEvents(id, items),
    ],
    actions: [{ _tag: "StartTurn", id }],
    receipt: { id, disposition: "started" },
  }
}

const advance = (state: State, input: Of<"Advance">): Decision => {
  const { turn } = state
  if (turn?.id !== input.turnId || turn.aborting !== undefined) {
    return { ...nothing(state), goOn: false }
  }
  if (input.followUp || turn.inputSeq > input.sawSeq) return { ...nothing(state), goOn: true }
  return {
    ...after(state, [
      { id: turn.id, msg: { type: "task_complete", last_agent_message: input.lastMessage } },
    ]),
    goOn: false,
  }
}

const ended = (state: State, turnId: SubmissionId, exit: TurnExit): Decision => {
  if (state.turn?.id !== turnId) return nothing(state)
  // A failure that raced with an interrupt still ends as the interrupt that was acknowledged.
  if (exit._tag === "Interrupted" || state.turn.aborting !== undefined) {
    return after(state, [
      { id: turnId, msg: { type: "turn_aborted", reason: state.turn.aborting ?? "interrupted" } },
    ])
  }
  return after(state, [
    { id: turnId, msg: { type: "error", message: exit.message } },
    { id: turnId, msg: { type: "task_complete", last_agent_message: null } },
  ])
}

/** The turn is over with these events; what waits for its end follows. */
const after = (state: State, events: ReadonlyArray<Draft>): Decision => {
  if (state.closing) {
    const closing = closed(nothing(state))
    return { ...closing, events: [...events, ...closing.events] }
  }
  const [next, ...waiting] = state.waiting
  if (next === undefined) return { state, events, actions: [] }
  const started = start({ ...state, waiting }, next)
  return { state: started.state, events: [...events, ...started.events], actions: started.actions }
}

const closed = (decision: Decision): Decision => ({
  ...decision,
  events: [
    ...decision.events,
    { id: decision.state.shutdownId ?? "", msg: { type: "shutdown_complete" } },
  ],
  actions: [...decision.actions, { _tag: "Close" }],
})

const aborted = (id: SubmissionId): Draft => ({
  id,
  msg: { type: "turn_aborted", reason: "interrupted" },
})

const stopTurn = (state: State): Decision =>
  state.turn === undefined || state.turn.aborting !== undefined
    ? nothing(state)
    : {
        state: { ...state, turn: { ...state.turn, aborting: "interrupted" } },
        events: [],
        actions: [{ _tag: "InterruptTurn" }],
      }

/** Stops the running turn and drops what waits; each dropped submission gets its terminal event (L5). */
const interrupt = (state: State): Decision => {
  const stopped = stopTurn({ ...state, waiting: [] })
  return { ...stopped, events: state.waiting.map(({ id }) => aborted(id)) }
}

const cancel = (state: State, id: SubmissionId): Decision => {
  if (state.turn?.id === id) return stopTurn(state)
  if (!state.waiting.some((w) => w.id === id)) return nothing(state)
  return {
    ...nothing({ ...state, waiting: state.waiting.filter((w) => w.id !== id) }),
    events: [aborted(id)],
  }
}
