/**
 * The state of a conversation and how it follows from events: `project(state, event)`. Pure.
 *
 * Keeps the numbering of L4; what happens next is decided in `Decide.ts`, carried out in `Conversation.ts`.
 */
import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import type { InputItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import { type ApprovalBook, emptyBook, addGrant } from "./ApprovalBook.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { OpenCall } from "../log/OpenCalls.ts"
import { none as noReceipts, type Receipts } from "./Receipts.ts"
import type { UnfinishedText } from "../log/UnfinishedText.ts"

/** The ops that change what later turns run with. */
export type ContextOp = Extract<Op, { readonly type: "user_turn" | "override_turn_context" }>

/** The id of the events of a summary in the middle of a turn, which nobody submitted (§6.9); `n` counts from 0. */
export const autoCompactId = (n: number): string => `auto-compact-${n}`

export const isAutoCompactId = (id: string): boolean => /^auto-compact-\d+$/.test(id)

/** A submission that waits for a turn of its own. */
export interface QueuedSubmission {
  readonly id: SubmissionId
  /** Of a `compact` none: its turn summarises the history. */
  readonly items: ReadonlyArray<InputItem>
  /** Of a `user_turn`: takes effect when its turn starts. */
  readonly context?: ContextOp
}

interface RunningTurn {
  readonly id: SubmissionId
  /** Number of the last event that carries user input for this turn. */
  readonly inputSeq: number
  /** True for one without any input: it summarises the history and takes none in. */
  readonly compacts: boolean
  /** Set once the turn has been told to stop. */
  readonly aborting?: TurnAbortReason
  /** Set while nothing runs of it, since a restart: its open calls, to be taken up with the first verdict. */
  readonly parked?: ReadonlyArray<OpenCall>
  /** Streamed text that the end of the turn has to record; absent while there is none. */
  readonly unfinished?: UnfinishedText | undefined
}

export interface State {
  readonly settings: ConversationSettings
  /** Durable events so far: the number the next one gets. */
  readonly seq: number
  readonly turn: RunningTurn | undefined
  readonly waiting: ReadonlyArray<QueuedSubmission>
  readonly receipts: Receipts
  readonly approvals: ApprovalBook
  /** Tokens of all requests so far; undefined until a provider reported some. */
  readonly usage: TokenUsage | undefined
  /** How often the history was summarised in the middle of a turn. */
  readonly autoCompactions: number
  /** Submissions that wait for the list of tools, oldest first; absent most of the time. */
  readonly listings?: ReadonlyArray<SubmissionId>
  /** True from `shutdown` on. */
  readonly closing: boolean
  /** The submission that asked for the shutdown. */
  readonly shutdownId?: SubmissionId
}

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

/** An event without its number. */
export interface Draft {
  readonly id: string
  readonly msg: EventMsg
}

/** Numbers drafts; an ephemeral one carries the number of the durable event it follows. */
export const numberDrafts = (seq: number, drafts: ReadonlyArray<Draft>): ReadonlyArray<Event> => {
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
      return { ...state, seq, turn: { id: event.id, inputSeq: event.seq, compacts: true } }
    case "task_complete":
    case "turn_aborted":
      return { ...state, seq, turn: state.turn?.id === event.id ? undefined : state.turn }
    case "user_message":
      return state.turn?.id === event.id && msg.kind === "plain"
        ? { ...state, seq, turn: { ...state.turn, inputSeq: event.seq, compacts: false } }
        : { ...state, seq }
    case "approval_resolved":
      return msg.reason === "answered" && msg.grant !== undefined
        ? { ...state, seq, approvals: addGrant(state.approvals, msg.grant) }
        : { ...state, seq }
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
