/** What is put to a conversation and what it decides: the vocabulary of `Decide.ts`. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { Op } from "@colloquy/protocol/Op"
import type * as Duration from "effect/Duration"
import type { ApprovalRequest } from "../approvals/Approval.ts"
import type { Attendance } from "./ApprovalBook.ts"
import type { SubmitError } from "../ConversationErrors.ts"
import type { Receipt } from "./Receipts.ts"
import type { Draft, State } from "./State.ts"
import type { Outcome, UnnamedElicitation } from "../approvals/Elicitation.ts"
import type { LogRecord, ReplayClass } from "../LogRecord.ts"
import type { OpenCall } from "../log/OpenCalls.ts"

/**
 * What happens to input while a turn runs:
 * - `queue` joins the running turn before its next model request; behind a turn that is being stopped it waits;
 * - `steer` joins likewise, and is refused `NoTurnRunning` where there is no turn to join, also when it is being stopped;
 * - `wait` runs as a turn of its own after those before it;
 * - `interrupt` stops the running turn (`turn_aborted`, reason `replaced`) and runs as the very next one, before what
 *   waits; a turn that is being stopped already keeps its reason;
 * - `reject` is refused `TurnRunning`.
 *
 * Without a running turn all but `steer` start one.
 */
export type WhileRunning = "queue" | "steer" | "wait" | "interrupt" | "reject"

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
      /** Of an approval that is no answer: why it counts as a denial. */
      readonly because?: "malformed" | "failed"
    }
  /** Stops the submission, running or waiting; anything else is left alone. */
  | { readonly _tag: "Cancel"; readonly id: SubmissionId }
  | {
      readonly _tag: "Emit"
      readonly turnId: SubmissionId
      readonly messages: ReadonlyArray<EventMsg>
      /** True: they are of a summary in the middle of the turn. */
      readonly ofCompaction?: true
    }
  /** The turn asks whether to send another request; `sawSeq` is what its last request had seen. */
  | {
      readonly _tag: "Advance"
      readonly turnId: SubmissionId
      readonly sawSeq: number
      readonly followUp: boolean
      readonly lastMessage: string | null
    }
  /** The turn is about to run a call; `attempt` counts from 1. */
  | {
      readonly _tag: "StartCall"
      readonly turnId: SubmissionId
      readonly callId: string
      readonly eventCallId?: string
      readonly name: string
      readonly replay: ReplayClass
      readonly attempt: number
    }
  /** A tool of the turn asks a person; `number` is of its own choice and never used again. */
  | {
      readonly _tag: "Ask"
      readonly turnId: SubmissionId
      readonly number: number
      readonly request: ApprovalRequest | UnnamedElicitation
    }
  /** Nobody answered in time. */
  | { readonly _tag: "Expire"; readonly number: number }
  /** The tool no longer asks. */
  | { readonly _tag: "Withdraw"; readonly number: number }
  /** The moment after a restart is over in which somebody may come. */
  | { readonly _tag: "GraceEnded" }
  /** A listener that can answer these came (1) or went (-1). */
  | ({ readonly _tag: "ListenersChanged" } & Attendance)
  /** The tools that submission `id` asked for. */
  | {
      readonly _tag: "Listed"
      readonly id: SubmissionId
      readonly tools: Readonly<Record<string, unknown>>
    }
  /** The fiber of the turn is gone, or did not go in time. */
  | { readonly _tag: "Ended"; readonly turnId: SubmissionId; readonly exit: TurnExit }

export type Action =
  /** `calls`: a turn that was cut off is taken up again, with these first. */
  | {
      readonly _tag: "StartTurn"
      readonly id: SubmissionId
      readonly calls?: ReadonlyArray<OpenCall>
    }
  | { readonly _tag: "InterruptTurn" }
  /** The one who asked is told; every `Ask` gets exactly one, at once or later. */
  | { readonly _tag: "ResolveQuestion"; readonly number: number; readonly verdict: Outcome }
  /** `Expire` is due after this time. */
  | { readonly _tag: "StartDeadline"; readonly number: number; readonly after: Duration.Duration }
  /** Likewise, of a question that was put before a restart: nobody waits for its verdict yet. */
  | { readonly _tag: "RestoreDeadline"; readonly number: number; readonly after: Duration.Duration }
  /** `NobodyCame` is due after this time. */
  | { readonly _tag: "StartGrace"; readonly within: Duration.Duration }
  /** The question has got an asker, and with it another number. */
  | { readonly _tag: "MoveDeadline"; readonly from: number; readonly to: number }
  /** The tool servers are asked for their tools, beside everything else; every one is followed by `Listed`. */
  | { readonly _tag: "ListTools"; readonly id: SubmissionId }
  /** Nothing more will happen: end the fiber. */
  | { readonly _tag: "Close" }

type WithoutTime<T> = T extends LogRecord ? Omit<T, "atMs"> : never

/** What is recorded beside the events. */
export type RecordDraft = WithoutTime<LogRecord>

export interface Decision {
  /** The state before the events are folded into it. */
  readonly state: State
  readonly events: ReadonlyArray<Draft>
  readonly actions: ReadonlyArray<Action>
  /** To `Submit`: the receipt. */
  readonly receipt?: Receipt
  /** To `Submit`: why it was refused. */
  readonly refused?: SubmitError
  /** Recorded with the events, before them; what follows from states alone is added in `Facts.ts`. */
  readonly records?: ReadonlyArray<RecordDraft>
  /** To `Advance`: true when the turn sends another request. To `Begin`: true when the call may run. */
  readonly proceed?: boolean
}

/** Nothing happens. */
export const nothing = (state: State): Decision => ({ state, events: [], actions: [] })

/** One kind of input. */
export type InputOf<T extends Input["_tag"]> = Extract<Input, { readonly _tag: T }>

/** The first, then what follows from its state. The receipt is the first's. */
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
