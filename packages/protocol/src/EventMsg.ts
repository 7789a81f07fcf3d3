/**
 * Everything that a conversation reports to its listeners: one union of all event definitions, tagged by `type`, in the
 * shapes of September 2025. Members that later versions added are optional. What is to be known of an event type besides
 * its shape is derived here from its definition (`EventDefinition.ts`). The wire is described in
 * packages/docs/wire/events.md.
 */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { type EventInfo, undefinedEvent } from "./EventDefinition.ts"
import * as Command from "./events/CommandEvents.ts"
import * as Legacy from "./events/LegacyEvents.ts"
import * as Message from "./events/MessageEvents.ts"
import * as Patch from "./events/PatchEvents.ts"
import * as Question from "./events/QuestionEvents.ts"
import * as Review from "./events/ReviewEvents.ts"
import * as Tool from "./events/ToolEvents.ts"
import * as Turn from "./events/TurnEvents.ts"

export type {
  ExecCommandBegin,
  ExecCommandOutputDelta,
  ExecCommandEnd,
  ExecApprovalRequest,
} from "./events/CommandEvents.ts"
export type {
  GetHistoryEntryResponse,
  ListCustomPromptsResponse,
  ConversationPath,
} from "./events/LegacyEvents.ts"
export type {
  AgentMessage,
  UserMessage,
  AgentMessageDelta,
  AgentReasoning,
  AgentReasoningDelta,
  AgentReasoningRawContent,
  AgentReasoningRawContentDelta,
  AgentReasoningSectionBreak,
  RawResponseItem,
} from "./events/MessageEvents.ts"
export type {
  ApplyPatchApprovalRequest,
  PatchApplyBegin,
  PatchApplyEnd,
  TurnDiff,
} from "./events/PatchEvents.ts"
export type {
  ApprovalResolved,
  ElicitationRequest,
  RequestPermissions,
  RequestUserInput,
} from "./events/QuestionEvents.ts"
export type { EnteredReviewMode, ExitedReviewMode, ReviewOutput } from "./events/ReviewEvents.ts"
export type {
  McpToolCallBegin,
  McpToolCallProgress,
  McpToolCallEnd,
  ToolCallBegin,
  ToolCallEnd,
  ToolApprovalRequest,
  ClientToolCall,
  McpListToolsResponse,
  WebSearchBegin,
  WebSearchEnd,
  ViewImageToolCall,
  PlanUpdate,
} from "./events/ToolEvents.ts"
export type {
  SessionConfigured,
  TaskStarted,
  TaskComplete,
  TurnAborted,
  ErrorEvent,
  StreamError,
  BackgroundEvent,
  Warning,
  TokenCount,
  Compacted,
  ThreadRolledBack,
  QueueChanged,
  ReadMarked,
  ShutdownComplete,
  RefusedImages,
} from "./events/TurnEvents.ts"

/** Every variant, in the order of the original's definition; the last thirteen came later. A new event is added here. */
export const EventMsg = Schema.Union([
  Turn.ErrorEvent,
  Turn.TaskStarted,
  Turn.TaskComplete,
  Turn.TokenCount,
  Message.AgentMessage,
  Message.UserMessage,
  Message.AgentMessageDelta,
  Message.AgentReasoning,
  Message.AgentReasoningDelta,
  Message.AgentReasoningRawContent,
  Message.AgentReasoningRawContentDelta,
  Message.AgentReasoningSectionBreak,
  Turn.SessionConfigured,
  Tool.McpToolCallBegin,
  Tool.McpToolCallEnd,
  Tool.WebSearchBegin,
  Tool.WebSearchEnd,
  Command.ExecCommandBegin,
  Command.ExecCommandOutputDelta,
  Command.ExecCommandEnd,
  Command.ExecApprovalRequest,
  Patch.ApplyPatchApprovalRequest,
  Turn.BackgroundEvent,
  Turn.StreamError,
  Patch.PatchApplyBegin,
  Patch.PatchApplyEnd,
  Patch.TurnDiff,
  Legacy.GetHistoryEntryResponse,
  Tool.McpListToolsResponse,
  Legacy.ListCustomPromptsResponse,
  Tool.PlanUpdate,
  Turn.TurnAborted,
  Turn.ShutdownComplete,
  Legacy.ConversationPath,
  Review.EnteredReviewMode,
  Review.ExitedReviewMode,
  Message.RawResponseItem,
  Tool.ViewImageToolCall,
  Turn.Warning,
  Question.ApprovalResolved,
  Question.ElicitationRequest,
  Turn.Compacted,
  Turn.ThreadRolledBack,
  Tool.ToolCallBegin,
  Tool.ToolCallEnd,
  Tool.ToolApprovalRequest,
  Turn.QueueChanged,
  Tool.ClientToolCall,
  Question.RequestUserInput,
  Turn.ReadMarked,
  Question.RequestPermissions,
  Tool.McpToolCallProgress,
]).annotate({ identifier: "EventMsg" })
/** A decoded `EventMsg`. */
export type EventMsg = typeof EventMsg.Type

/** One variant by its tag. */
export type EventOf<T extends EventMsg["type"]> = Extract<EventMsg, { readonly type: T }>

/**
 * An event that `EventMsg` does not define: a later version may have added its type, or changed its shape. `sent` is the
 * message as it was sent, which encodes back unchanged.
 */
export interface UnknownEvent {
  readonly type: "unknown_event"
  readonly sent: { readonly type: string; readonly [member: string]: unknown }
}

const SentEvent = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [
  Schema.Record(Schema.String, Schema.Unknown),
])

const UnknownEvent = SentEvent.pipe(
  Schema.decodeTo(
    Schema.Struct({ type: Schema.Literal("unknown_event"), sent: Schema.toType(SentEvent) }),
    SchemaTransformation.transform({
      decode: (sent) => ({ type: "unknown_event" as const, sent }),
      encode: ({ sent }) => sent,
    }),
  ),
)

/** What a client reads: a variant it knows, or an `UnknownEvent`; `msg.type` tells which. */
export const AnyEventMsg = Schema.Union([EventMsg, UnknownEvent])
/** A decoded `AnyEventMsg`. */
export type AnyEventMsg = EventMsg | UnknownEvent

type Definition = (typeof EventMsg.members)[number]

/** The variants whose definitions have these properties. */
type With<P extends Partial<EventInfo>> = Extract<Definition, { readonly info: P }>["Type"]

/** The tag of every variant, in the order of the union. */
export const eventTypes: ReadonlyArray<EventMsg["type"]> = EventMsg.members.map(
  ({ fields }) => fields.type.literal,
)

const infos: ReadonlyMap<string, EventInfo> = new Map(
  EventMsg.members.map(({ fields, info }) => [fields.type.literal, info]),
)

/** The properties of an event type; those of a definition that gives none when the type is not defined. */
export const eventInfo = (type: string): EventInfo => infos.get(type) ?? undefinedEvent

/** Tags of the variants that satisfy a predicate; computed once, because events are examined one by one. */
const typesWith = (holds: (info: EventInfo) => boolean): ReadonlySet<string> =>
  new Set(eventTypes.filter((type) => holds(eventInfo(type))))

const terminal = typesWith(({ ends }) => ends)
const ephemeral = typesWith(({ durable }) => !durable)

/** True for the variants that end a turn (L5). */
export const isTerminal = (msg: EventMsg): msg is With<{ readonly ends: true }> =>
  terminal.has(msg.type)

/** True for the variants that are delivered live and not recorded. */
export const isEphemeral = (msg: EventMsg): msg is With<{ readonly durable: false }> =>
  ephemeral.has(msg.type)

/** A piece of text: events whose texts are joined in the order in which they arrive. */
export type TextDelta = Extract<EventMsg, { readonly delta: string }>

/** True for pieces of text. */
export const isTextDelta = (msg: EventMsg): msg is TextDelta => "delta" in msg

/**
 * An event of a conversation. `seq` counts the durable events from 0 without a gap (L4); an ephemeral event carries the
 * number of the durable event that it follows. `id` is the submission it belongs to, `""` before the first one.
 */
export interface Event {
  readonly seq: number
  readonly id: string
  readonly msg: EventMsg
}
