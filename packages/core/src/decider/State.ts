/**
 * The state of a conversation, and how it follows from events: `project(state, event)`. Pure.
 *
 * Keeps the numbering of L4. `Decide.ts` decides what happens next; `ConversationActor` carries it out.
 */
import { defined } from "@colloquy/protocol/Defined"
import { type Event, type EventMsg, type EventOf, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import type { InputItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import { type ApprovalBook, emptyBook, addGrant } from "./ApprovalBook.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { OpenCall } from "../log/OpenCalls.ts"
import { addResolved, afterTurn, type HeldPermissions } from "./HeldPermissions.ts"
import { type Reading, stepReading } from "../log/Reading.ts"
import { none as noReceipts, type Receipts } from "./Receipts.ts"
import type { UnfinishedText } from "../log/UnfinishedText.ts"

/** The ops that change the settings of later turns. */
export type ContextOp = Extract<Op, { readonly type: "user_turn" | "override_turn_context" }>

/** Id of the events of a summary in the middle of a turn, which belong to no submission; `n` counts from 0. */
export const autoCompactId = (n: number): string => `auto-compact-${n}`

/** True for such an id. */
export const isAutoCompactId = (id: string): boolean => /^auto-compact-\d+$/.test(id)

/** A submission that is queued for a later turn. */
export interface QueuedSubmission {
  readonly id: SubmissionId
  /** The user input. Empty for `compact`, whose turn summarises the history, and for a command of the user. */
  readonly items: ReadonlyArray<InputItem>
  /** Present: its turn is a review, and this says for a person what is reviewed. */
  readonly review?: string
  /** The command of the user that its turn runs. */
  readonly command?: string
  /** Settings of a `user_turn`. They apply from the start of its turn on. */
  readonly context?: ContextOp
  /** Id that the client gave the message. */
  readonly clientId?: string
  /** JSON Schema that the answer of its turn has to match. */
  readonly outputSchema?: unknown
  /** Present: it is in the queue of input (`InputQueue.ts`). */
  readonly inQueue?: true
}

/** The ops that start a turn, at once or later. */
export type TurnOp = Extract<
  Op,
  {
    readonly type: "user_input" | "user_turn" | "compact" | "review" | "run_user_shell_command"
  }
>

/** True for an op that starts a turn. */
export const isTurnOp = (op: Op): op is TurnOp =>
  op.type === "user_input" ||
  op.type === "user_turn" ||
  op.type === "compact" ||
  op.type === "review" ||
  op.type === "run_user_shell_command"

/** An op that starts a turn, as a submission of this id. */
export const queuedOf = (id: SubmissionId, op: TurnOp): QueuedSubmission => {
  if (op.type === "compact") return { id, items: [] }
  if (op.type === "review") {
    const { prompt, user_facing_hint: review } = op.review_request
    return { id, items: [{ type: "text", text: prompt }], review }
  }
  if (op.type === "run_user_shell_command") return { id, items: [], command: op.command }
  const { client_id: clientId, final_output_json_schema: outputSchema, items } = op
  return {
    id,
    items,
    ...(op.type === "user_turn" ? { context: op } : {}),
    ...(clientId === undefined ? {} : { clientId }),
    ...(outputSchema === undefined || outputSchema === null ? {} : { outputSchema }),
  }
}

/** The turn that runs, and what its end has to know. */
export interface RunningTurn {
  readonly id: SubmissionId
  /** Number of the last event with user input for this turn. */
  readonly inputSeq: number
  /** True for a turn without input: it summarises the history and accepts no input. */
  readonly compacts: boolean
  /** Of a review, which accepts no input: whether it has an end (`exited_review_mode`) already. Absent for other turns. */
  readonly review?: "open" | "ended"
  /** True for a turn that runs a command of the user, while it has no input. */
  readonly runsCommand?: true
  /** Reason of the interruption. Absent while the turn is not being interrupted. */
  readonly aborting?: TurnAbortReason
  /** Open calls of a turn that only waits for answers since a restart. The first verdict resumes the turn with them. */
  readonly parked?: ReadonlyArray<OpenCall>
  /** Streamed text that the end of the turn has to record. Absent while there is none. */
  readonly unfinished?: UnfinishedText | undefined
}

/** An accepted op `revert` that waits for the end of the running turn. */
export interface PendingRevert {
  /** Id of its submission. */
  readonly id: SubmissionId
  /** The first turn that it drops. */
  readonly turnId: SubmissionId
  /** Number of user messages from that turn on. */
  readonly dropped: number
}

/** The state of a conversation. */
export interface State {
  readonly settings: ConversationSettings
  /** Number of durable events so far, which is the number that the next one gets. */
  readonly seq: number
  /** The running turn, if any. */
  readonly turn: RunningTurn | undefined
  /** Submissions queued for later turns, in their order; without a running turn, those of the queue of input that is held. */
  readonly waiting: ReadonlyArray<QueuedSubmission>
  /** What is dropped when the running turn has ended, before the next one starts, in this order. Absent while there is nothing. */
  readonly reverts?: ReadonlyArray<PendingRevert>
  readonly receipts: Receipts
  readonly approvals: ApprovalBook
  /** What a person has granted beyond the sandbox policy. Absent before the first grant. */
  readonly permissions?: HeldPermissions
  /** Tokens of all requests so far. Undefined until a provider has reported usage. */
  readonly usage: TokenUsage | undefined
  /** Number of summaries in the middle of a turn. */
  readonly autoCompactions: number
  /** Which turns are unread. Absent before the first one. */
  readonly reading?: Reading
  /** Submissions that wait for a list of tools, oldest first. Absent while there are none. */
  readonly listings?: ReadonlyArray<SubmissionId>
  /** True from the op `shutdown` on: no submission is accepted. */
  readonly closing: boolean
  /** Id of the submission of that op. */
  readonly shutdownId?: SubmissionId
}

/** The state before the first event. */
export const initialState = (settings: ConversationSettings): State => ({
  settings,
  seq: 0,
  turn: undefined,
  waiting: [],
  receipts: noReceipts,
  approvals: emptyBook,
  usage: undefined,
  autoCompactions: 0,
  closing: false,
})

/** True where no turn runs, no input waits for its end and no tools are being listed. The queue of input may be held. */
export const isIdle = ({ listings = [], turn, waiting }: State): boolean =>
  turn === undefined && listings.length === 0 && waiting.every(({ inQueue }) => inQueue === true)

/** An event without its number. */
export interface Draft {
  readonly id: string
  readonly msg: EventMsg
}

/** Numbers events from `seq` on. An ephemeral event gets the number of the durable event that it follows. */
export const numberDrafts = (seq: number, drafts: ReadonlyArray<Draft>): ReadonlyArray<Event> => {
  let next = seq
  return drafts.map(({ id, msg }) => ({
    seq: isEphemeral(msg) ? next - 1 : next++,
    id,
    msg,
  }))
}

const turnWith = ({ turn }: State, id: string, review: NonNullable<RunningTurn["review"]>) =>
  turn?.id === id ? { turn: { ...turn, review } } : {}

const startedTurn = ({ id, seq }: Event, msg: EventOf<"task_started">): RunningTurn =>
  msg.user_shell_command === undefined
    ? { id, inputSeq: seq, compacts: true }
    : { id, inputSeq: seq, compacts: false, runsCommand: true }

const withInput = ({ runsCommand: _, ...turn }: RunningTurn, inputSeq: number): RunningTurn => ({
  ...turn,
  inputSeq,
  compacts: false,
})

/** The state after the event. Ephemeral events do not change it. */
export const project = (state: State, event: Event): State => {
  if (isEphemeral(event.msg)) return state
  const reading = stepReading(state.reading, event)
  return projectDurable(
    reading === undefined || reading === state.reading ? state : { ...state, reading },
    event,
  )
}

/** What the verdict of a question allows from now on. */
const withVerdict = (
  { approvals, permissions }: State,
  msg: EventOf<"approval_resolved">,
): Partial<State> => ({
  ...defined({ permissions: addResolved(permissions, msg) }),
  ...(msg.reason === "answered" && msg.grant !== undefined
    ? { approvals: addGrant(approvals, msg.grant) }
    : {}),
})

const projectDurable = (state: State, event: Event): State => {
  const { msg } = event
  const seq = event.seq + 1
  switch (msg.type) {
    case "task_started":
      return { ...state, seq, turn: startedTurn(event, msg) }
    case "task_complete":
    case "turn_aborted": {
      const turn = state.turn?.id === event.id ? undefined : state.turn
      return state.permissions === undefined
        ? { ...state, seq, turn }
        : { ...state, seq, turn, ...defined({ permissions: afterTurn(state.permissions) }) }
    }
    case "user_message":
      return state.turn?.id === event.id && msg.kind === "plain"
        ? { ...state, seq, turn: withInput(state.turn, event.seq) }
        : { ...state, seq }
    case "entered_review_mode":
      return { ...state, seq, ...turnWith(state, event.id, "open") }
    case "exited_review_mode":
      return { ...state, seq, ...turnWith(state, event.id, "ended") }
    case "approval_resolved":
      return { ...state, seq, ...withVerdict(state, msg) }
    case "token_count":
      return { ...state, seq, usage: msg.info?.total_token_usage ?? state.usage }
    case "compacted":
      return isAutoCompactId(event.id)
        ? { ...state, seq, autoCompactions: state.autoCompactions + 1 }
        : { ...state, seq }
    default:
      return { ...state, seq }
  }
}
