/** The inputs of a conversation and its decisions: the vocabulary of `Decide.ts`. Types, and two functions that combine decisions. */
import type { EventMsg, RefusedImages } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type * as Duration from "effect/Duration"
import type { ApprovalRequest } from "../approvals/Approval.ts"
import type { Attendance } from "./ApprovalBook.ts"
import type { SubmitError } from "../ConversationErrors.ts"
import type { Receipt } from "./Receipts.ts"
import type { Draft, State } from "./State.ts"
import type {
  ClientCallRequest,
  InputRequest,
  Outcome,
  UnnamedElicitation,
} from "../approvals/Elicitation.ts"
import type { LogRecord, ReplayClass } from "../LogRecord.ts"
import type { OpenCall } from "../log/OpenCalls.ts"

/**
 * What happens to user input while a turn runs:
 * - `queue` joins the running turn before its next model request; behind a turn that is being interrupted it is queued;
 * - `steer` joins likewise, and is refused `NoTurnRunning` when there is no turn to join or it is being interrupted;
 * - `wait` is queued and runs as a turn by itself, after those queued before it;
 * - `enqueue` is added to the queue of input (`InputQueue.ts`), which can be changed until its submissions start;
 * - `interrupt` interrupts the running turn (`turn_aborted`, reason `replaced`) and runs next, before everything queued;
 *   a turn that is being interrupted already keeps its reason;
 * - `reject` is refused `TurnRunning`; behind an op `revert` that waits for the end of the turn it is queued.
 *
 * Without a running turn all but `steer` start one.
 */
export type WhileRunning = "queue" | "steer" | "wait" | "enqueue" | "interrupt" | "reject"

/** How the fiber of a turn ended, if not by `Advance`. */
export type TurnExit =
  | {
      readonly _tag: "Failed"
      readonly message: string
      /** The images that the provider refused and that later requests leave out. */
      readonly refusedImages?: RefusedImages
    }
  | { readonly _tag: "Interrupted" }

/** Everything that a conversation decides about. */
export type Input =
  /** A client submits an op. */
  | {
      readonly _tag: "Submit"
      readonly id: SubmissionId | undefined
      readonly op: Op
      readonly whileRunning: WhileRunning
      /** Set when there is no readable answer to a question: the reason of the denial. */
      readonly because?: "malformed" | "failed"
      /** Of the op `revert`: number of user messages from its turn on. Absent: the conversation has no such turn. */
      readonly dropped?: number
    }
  /** A client cancels the submission, running or queued. Other submissions are not affected. */
  | { readonly _tag: "Cancel"; readonly id: SubmissionId }
  /** The turn emits events. */
  | {
      readonly _tag: "Emit"
      readonly turnId: SubmissionId
      readonly messages: ReadonlyArray<EventMsg>
      /** True: the events belong to a summary in the middle of the turn. */
      readonly ofCompaction?: true
    }
  /** The turn asks whether to send another request. `sawSeq` is the last event that its last request contained. */
  | {
      readonly _tag: "Advance"
      readonly turnId: SubmissionId
      readonly sawSeq: number
      readonly followUp: boolean
      readonly lastMessage: string | null
    }
  /** The turn is about to run a tool call, or to ask whether it may run again; `attempt` counts from 1. */
  | {
      readonly _tag: "StartCall"
      readonly turnId: SubmissionId
      readonly callId: string
      readonly eventCallId?: string
      readonly name: string
      readonly replay: ReplayClass
      readonly attempt: number
      readonly waits?: boolean
    }
  /** A tool of the turn asks a question. The tool chooses `number`, which is never used again. */
  | {
      readonly _tag: "Ask"
      readonly turnId: SubmissionId
      readonly number: number
      readonly request: ApprovalRequest | UnnamedElicitation | InputRequest | ClientCallRequest
    }
  /** The deadline of the question has passed. */
  | { readonly _tag: "Expire"; readonly number: number }
  /** The tool withdraws its question. */
  | { readonly _tag: "Withdraw"; readonly number: number }
  /** The grace period after a restart, in which clients may attach, has ended. */
  | { readonly _tag: "GraceEnded" }
  /** A listener that can answer questions was attached or detached. */
  | ({ readonly _tag: "ListenersChanged" } & Attendance)
  /** The tools of the tool servers, as submission `id` requested. */
  | {
      readonly _tag: "Listed"
      readonly id: SubmissionId
      readonly tools: Readonly<Record<string, unknown>>
    }
  /** The fiber of the turn has ended, or did not end in time. */
  | { readonly _tag: "Ended"; readonly turnId: SubmissionId; readonly exit: TurnExit }

/** What the actor carries out once the decision is recorded. */
export type Action =
  /**
   * Starts the fiber of a turn. `calls`: the turn is resumed after a restart and replays these calls first. `command`: it
   * runs this command of the user and sends a request only for input that joins it.
   */
  | {
      readonly _tag: "StartTurn"
      readonly id: SubmissionId
      readonly calls?: ReadonlyArray<OpenCall>
      readonly command?: string
    }
  /** Interrupts the fiber of the running turn. */
  | { readonly _tag: "InterruptTurn" }
  /** Gives the tool its verdict. Every `Ask` gets exactly one, at once or later. */
  | { readonly _tag: "ResolveQuestion"; readonly number: number; readonly verdict: Outcome }
  /** Sends `Expire` after this time. */
  | { readonly _tag: "StartDeadline"; readonly number: number; readonly after: Duration.Duration }
  /** Likewise, for a question that was restored from the log: no tool waits for its verdict yet. */
  | { readonly _tag: "RestoreDeadline"; readonly number: number; readonly after: Duration.Duration }
  /** Sends `GraceEnded` after this time. */
  | { readonly _tag: "StartGrace"; readonly within: Duration.Duration }
  /** A restored question was asked again by its tool and has a new number. */
  | { readonly _tag: "MoveDeadline"; readonly from: number; readonly to: number }
  /** Requests the tools of the tool servers, in parallel with everything else; `Listed` follows. */
  | { readonly _tag: "ListTools"; readonly id: SubmissionId }
  /** Ends the fiber of the conversation: nothing follows. */
  | { readonly _tag: "Close" }

type WithoutTime<T> = T extends LogRecord ? Omit<T, "atMs"> : never

/** A record that is written with the events, without its time. */
export type RecordDraft = WithoutTime<LogRecord>

/** What follows from one input. */
export interface Decision {
  /** The new state, before the events are folded into it. */
  readonly state: State
  /** Events to record and deliver, in order. */
  readonly events: ReadonlyArray<Draft>
  /** Actions to carry out after the events are recorded, in order. */
  readonly actions: ReadonlyArray<Action>
  /** The receipt of an accepted `Submit`. */
  readonly receipt?: Receipt
  /** Why a `Submit` was refused. */
  readonly refused?: SubmitError
  /** Records written before the events. `LogRecords.ts` adds those that follow from comparing states. */
  readonly records?: ReadonlyArray<RecordDraft>
  /** After `Advance`: true when the turn sends another request. After `StartCall`: true when the call may run. */
  readonly proceed?: boolean
}

/** The decision that nothing happens. */
export const nothing = (state: State): Decision => ({ state, events: [], actions: [] })

/** One kind of input. */
export type InputOf<T extends Input["_tag"]> = Extract<Input, { readonly _tag: T }>

/** Both decisions: the first, then the one that follows from its state. The receipt is that of the first. */
export const followedBy = (first: Decision, then: (state: State) => Decision): Decision => {
  const next = then(first.state)
  return {
    ...first,
    state: next.state,
    events: [...first.events, ...next.events],
    actions: [...first.actions, ...next.actions],
    ...(first.records === undefined && next.records === undefined
      ? {}
      : { records: [...(first.records ?? []), ...(next.records ?? [])] }),
  }
}
