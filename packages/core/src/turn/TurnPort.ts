/**
 * What a turn needs of its conversation: the port through which it emits events, puts questions and takes its next step.
 * Types only; `TurnSupervisor` implements the port.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { FurtherPermissions } from "@colloquy/protocol/Policy"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import type * as Effect from "effect/Effect"
import type {
  ApprovalRequest,
  ClientCall,
  ClientOutcome,
  Elicitation,
  ElicitationAnswer,
  UserInputAnswer,
  UserInputRequest,
  Verdict,
} from "../approvals/Approval.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { OpenCall } from "../log/OpenCalls.ts"
import type { ContextTokens } from "../log/TokenGauge.ts"
import type { RecordOf } from "../LogRecord.ts"

/** What the next request contains. */
export interface Step {
  /** The history, oldest first. */
  readonly history: ReadonlyArray<ResponseItem>
  /** Number of the last event that the history contains. */
  readonly seq: number
  /** Tokens of all earlier requests. Undefined while no provider has reported usage. */
  readonly usage: TokenUsage | undefined
  /** Size of the history in tokens. */
  readonly tokens: ContextTokens
}

/** A call that is about to run or to be asked about, as it is recorded. */
export type CallStart = Pick<
  RecordOf<"ToolCall">,
  "callId" | "eventCallId" | "name" | "replay" | "attempt" | "waits"
>

/** What a turn can ask of its conversation. No member fails. */
export interface TurnPort {
  /** Emits events of the turn, in order. Resolves when they are in the inbox of the conversation. */
  readonly emit: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>
  /** Names for a person of images with these addresses, in the same order. */
  readonly imageNames: (urls: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>
  /** The id of a call in events: that of the provider, or another one if an event has it already. */
  readonly eventCallId: (callId: string) => string
  /** Records that a call is about to run or to be asked about. Resolves with false when the turn has ended: then it must not. */
  readonly recordCall: (call: CallStart) => Effect.Effect<boolean>
  /** Emits events of a summary in the middle of the turn. Their id is `auto-compact-N`. */
  readonly emitCompaction: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>
  /** Asks the question of a tool. Resolves with the verdict; an interruption withdraws the question. */
  readonly ask: (request: ApprovalRequest) => Effect.Effect<Verdict>
  /** Likewise, for the question of a tool server. */
  readonly elicit: (request: Elicitation) => Effect.Effect<ElicitationAnswer>
  /** Has a client run one of its tools. Resolves with what became of the call; an interruption withdraws it. */
  readonly callClient: (call: ClientCall) => Effect.Effect<ClientOutcome>
  /** Likewise, for the agent's questions. */
  readonly requestInput: (request: UserInputRequest) => Effect.Effect<UserInputAnswer>
  /** True while a listener can answer these. */
  readonly canRequestInput: Effect.Effect<boolean>
  /** True when an earlier `approved_for_session` covers the request. */
  readonly granted: (request: ApprovalRequest) => Effect.Effect<boolean>
  /** What a person has granted beyond the sandbox policy. */
  readonly permissions: Effect.Effect<FurtherPermissions>
  /** Resolves with the next step, or with undefined when the turn has ended; its terminal event is recorded then. */
  readonly advance: (progress: {
    readonly sawSeq: number
    readonly followUp: boolean
    readonly lastMessage: string | null
  }) => Effect.Effect<Step | undefined>
}

/** What a turn runs with. */
export interface TurnOptions {
  readonly id: SubmissionId
  readonly conversationId: ConversationId
  readonly settings: ConversationSettings
  /** The parts of the first request. Absent for a turn that runs something before it, or that summarises the history. */
  readonly first?: Step
  /** Calls without an output of a turn that is resumed after a restart. They are replayed first. */
  readonly calls?: ReadonlyArray<OpenCall>
  /** A command of the user that runs before any request; input recorded after `seq` needs one. */
  readonly command?: { readonly text: string; readonly seq: number }
  /** True for a turn without input, which summarises the history. */
  readonly compacts?: boolean
  /** True for a review: the last message of the model is what it found. */
  readonly reviews?: boolean
}
