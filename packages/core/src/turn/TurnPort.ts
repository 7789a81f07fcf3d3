/**
 * What a turn needs of its conversation: the port through which it emits events, puts questions and takes its next step.
 * Types only; `TurnSupervisor` implements the port.
 */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import type { ConversationId, SubmissionId } from "@colloquy/protocol/Ids"
import type { ResponseItem, TokenUsage } from "@colloquy/protocol/ResponseItem"
import type * as Effect from "effect/Effect"
import type {
  ApprovalRequest,
  Elicitation,
  ElicitationAnswer,
  Verdict,
} from "../approvals/Approval.ts"
import type { ConversationSettings } from "../ConversationSettings.ts"
import type { OpenCall } from "../log/OpenCalls.ts"
import type { ContextTokens } from "../log/TokenGauge.ts"
import type { RecordOf } from "../LogRecord.ts"

/** What the next request is made of. */
export interface Step {
  readonly history: ReadonlyArray<ResponseItem>
  /** Number of the last event the history is folded from. */
  readonly seq: number
  readonly usage: TokenUsage | undefined
  /** What the history takes of the model's context. */
  readonly tokens: ContextTokens
}

/** A call that is about to run, as it is recorded. */
export type CallStart = Pick<
  RecordOf<"ToolCall">,
  "callId" | "eventCallId" | "name" | "replay" | "attempt"
>

export interface TurnPort {
  /** In order; returns when the conversation has them in its inbox. */
  readonly emit: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>
  /** The id of a call in events: that of the provider, or another where an event has it already. */
  readonly eventCallId: (callId: string) => string
  /** Records that a call is about to run; false when the turn is over: it must not run. */
  readonly recordCall: (call: CallStart) => Effect.Effect<boolean>
  /** Likewise, of a summary in the middle of the turn: under an id of its own, `auto-compact-N` (§6.9). */
  readonly emitCompaction: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>
  /** Puts a tool's question and waits for the verdict; interrupted, withdraws it. */
  readonly ask: (request: ApprovalRequest) => Effect.Effect<Verdict>
  /** Likewise, the question of a tool server. */
  readonly elicit: (request: Elicitation) => Effect.Effect<ElicitationAnswer>
  /** True when the session has approved it already. */
  readonly granted: (request: ApprovalRequest) => Effect.Effect<boolean>
  /** The next step, or undefined when the turn is over; the conversation has then told so. */
  readonly advance: (progress: {
    readonly sawSeq: number
    readonly followUp: boolean
    readonly lastMessage: string | null
  }) => Effect.Effect<Step | undefined>
}

export interface TurnOptions {
  readonly id: SubmissionId
  readonly conversationId: ConversationId
  readonly settings: ConversationSettings
  /** Of a turn that is taken up again after a restart: the calls without an output, which come first. */
  readonly calls?: ReadonlyArray<OpenCall>
  /** True: it has no input and summarises the history. */
  readonly compacts?: boolean
}
