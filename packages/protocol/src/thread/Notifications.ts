/** Notifications of app-server v2: about a thread, its turns and their items. */
import * as Schema from "effect/Schema"
import { RequestId } from "../JsonRpc.ts"
import { notification, type Pure } from "../Method.ts"
import { FileUpdateChange, AnyThreadItem } from "./Items.ts"
import { ReadState, Thread, ThreadSettings, Turn } from "./Thread.ts"
import {
  atMs,
  none,
  orNull,
  orUnknown,
  ThreadStatus,
  TokenCounts,
  TokenUsage,
  TurnError,
} from "./Values.ts"

const ofThread = { threadId: Schema.String }
const ofTurn = { ...ofThread, turnId: Schema.String }
const ofItem = { ...ofTurn, itemId: Schema.String }

const about = <const M extends string, P extends Pure>(method: M, params: P, doc: string) =>
  notification(method, { params, since: "0.58", doc })

/** Deltas are many, and made from events whose types say the same as these schemas. */
const delta = <const M extends string, P extends Pure>(method: M, params: P, doc: string) =>
  notification(method, { params, unchecked: true, since: "0.58", doc })

const NamedThread = Schema.Struct(ofThread)

/** A thread was created. */
export const ThreadStarted = about(
  "thread/started",
  Schema.Struct({ thread: Thread }),
  "A thread was started or forked. Sent to every connection; its turns are empty.",
)
/** A thread waits for something else now. */
export const ThreadStatusChanged = about(
  "thread/status/changed",
  Schema.Struct({ ...ofThread, status: orUnknown(ThreadStatus) }),
  "What the thread waits for has changed. Sent to every connection.",
)
/** Settings of a thread have changed. */
export const ThreadSettingsUpdated = about(
  "thread/settings/updated",
  Schema.Struct({ ...ofThread, threadSettings: ThreadSettings }),
  "Settings of later turns have changed.",
)
/** A thread was named. */
export const ThreadNameUpdated = about(
  "thread/name/updated",
  Schema.Struct({ ...ofThread, threadName: Schema.optionalKey(Schema.String) }),
  "The thread was named. Sent to every connection.",
)
/** A thread was archived. */
export const ThreadArchived = about(
  "thread/archived",
  NamedThread,
  "The thread was archived. Sent to every connection.",
)
/** A thread was unarchived. */
export const ThreadUnarchived = about(
  "thread/unarchived",
  NamedThread,
  "The thread is listed again. Sent to every connection.",
)
/** A thread was deleted. */
export const ThreadDeleted = about(
  "thread/deleted",
  NamedThread,
  "The thread was deleted. Sent to every connection.",
)
/** The end of a history was dropped. */
export const ThreadReverted = about(
  "thread/reverted",
  NamedThread,
  "Turns at the end of the thread were dropped.",
)
/** A thread is no longer in memory. */
export const ThreadClosed = about("thread/closed", NamedThread, "The thread has ended here.")
/** A thread has no goal. */
export const ThreadGoalCleared = about(
  "thread/goal/cleared",
  NamedThread,
  "The thread has no goal. Sent after a thread was loaded.",
)
/** The queue of a thread has changed. */
export const ThreadQueueChanged = about(
  "thread/queue/changed",
  NamedThread,
  "Queued input was added, removed, or started a turn.",
)
/** A thread was read or marked as unread. */
export const ThreadReadStateChanged = notification("thread/readState/changed", {
  params: Schema.Struct({ ...ofThread, readState: ReadState }),
  experimental: true,
  since: "0.160",
  doc: "Which turns the user has not seen has changed.",
})
/** Tokens of a thread. */
export const ThreadTokenUsageUpdated = about(
  "thread/tokenUsage/updated",
  Schema.Struct({ ...ofTurn, tokenUsage: TokenUsage }),
  "Tokens of the thread so far; sent after each response of the model.",
)
/** A turn has started. */
export const TurnStarted = about(
  "turn/started",
  Schema.Struct({ ...ofThread, turn: Turn }),
  "A turn has started.",
)
/** A turn has ended. */
export const TurnCompleted = about(
  "turn/completed",
  Schema.Struct({ ...ofThread, turn: Turn }),
  "A turn has ended: completed, interrupted or failed. Every item of it has completed before.",
)
/** What a turn has changed in files. */
export const TurnDiffUpdated = about(
  "turn/diff/updated",
  Schema.Struct({ ...ofTurn, diff: Schema.String }),
  "What the turn has changed so far, as one diff in the style of git with paths relative to the root.",
)
/** The plan of a turn. */
export const TurnPlanUpdated = about(
  "turn/plan/updated",
  Schema.Struct({
    ...ofTurn,
    explanation: orNull(Schema.String),
    plan: Schema.Array(
      Schema.Struct({
        step: Schema.String,
        status: Schema.Literals(["pending", "inProgress", "completed"]),
      }),
    ),
  }),
  "The agent has written or changed its plan.",
)
/** An item has started. */
export const ItemStarted = about(
  "item/started",
  Schema.Struct({ item: AnyThreadItem, ...ofTurn, startedAtMs: atMs }),
  "An item has started.",
)
/** An item has ended. */
export const ItemCompleted = about(
  "item/completed",
  Schema.Struct({ item: AnyThreadItem, ...ofTurn, completedAtMs: atMs, contentTokenCount: none }),
  "An item has ended; it is as it will be read back from the history.",
)
/** A piece of a message. */
export const AgentMessageDelta = delta(
  "item/agentMessage/delta",
  Schema.Struct({ ...ofItem, delta: Schema.String }),
  "More text of a message.",
)
/** A piece of a plan. */
export const PlanDelta = delta(
  "item/plan/delta",
  Schema.Struct({ ...ofItem, delta: Schema.String }),
  "More text of a plan.",
)
/** Output of a command. */
export const CommandOutputDelta = delta(
  "item/commandExecution/outputDelta",
  Schema.Struct({ ...ofItem, delta: Schema.String }),
  "More output of a command, of both streams.",
)
/** Input to a command. */
export const TerminalInteraction = about(
  "item/commandExecution/terminalInteraction",
  Schema.Struct({ ...ofItem, processId: Schema.String, stdin: Schema.String }),
  "The agent has written to a running command.",
)
/** A section of reasoning begins. */
export const ReasoningSummaryPartAdded = about(
  "item/reasoning/summaryPartAdded",
  Schema.Struct({ ...ofItem, summaryIndex: Schema.Int }),
  "A section of the summary of reasoning begins.",
)
/** A piece of the summary of reasoning. */
export const ReasoningSummaryTextDelta = delta(
  "item/reasoning/summaryTextDelta",
  Schema.Struct({ ...ofItem, delta: Schema.String, summaryIndex: Schema.Int }),
  "More text of a section of the summary of reasoning.",
)
/** A piece of raw reasoning. */
export const ReasoningTextDelta = delta(
  "item/reasoning/textDelta",
  Schema.Struct({ ...ofItem, delta: Schema.String, contentIndex: Schema.Int }),
  "More raw reasoning.",
)
/** Progress of a tool server. */
export const McpToolCallProgress = about(
  "item/mcpToolCall/progress",
  Schema.Struct({ ...ofItem, message: Schema.String }),
  "Progress of a call, as its server reports it.",
)
/** Output of a patch. */
export const FileChangeOutputDelta = delta(
  "item/fileChange/outputDelta",
  Schema.Struct({ ...ofItem, delta: Schema.String }),
  "More output of the program that applies a patch.",
)
/** The files of a patch have changed. */
export const FileChangePatchUpdated = about(
  "item/fileChange/patchUpdated",
  Schema.Struct({ ...ofItem, changes: Schema.Array(FileUpdateChange) }),
  "The changes of a patch that is being written.",
)
/** Something went wrong. */
export const ErrorNotification = about(
  "error",
  Schema.Struct({ error: TurnError, willRetry: Schema.Boolean, ...ofTurn }),
  "A request to the model failed: it is repeated, or the turn fails with this error.",
)
/** A warning. */
export const Warning = about(
  "warning",
  Schema.Struct({ threadId: orNull(Schema.String), message: Schema.String }),
  "A warning for the user.",
)
/** The configuration has a fault. */
export const ConfigWarning = about(
  "configWarning",
  Schema.Struct({
    summary: Schema.String,
    details: orNull(Schema.String),
    path: Schema.optionalKey(Schema.String),
    range: Schema.optionalKey(Schema.Unknown),
  }),
  "The configuration has a fault that does no harm. Sent to a client that starts a thread, once for the same faults.",
)
/** Something will be removed. */
export const DeprecationNotice = about(
  "deprecationNotice",
  Schema.Struct({ summary: Schema.String, details: orNull(Schema.String) }),
  "The client used something that later versions will not have.",
)
/** A question was answered or withdrawn. */
export const ServerRequestResolved = about(
  "serverRequest/resolved",
  Schema.Struct({ ...ofThread, requestId: RequestId }),
  "A request of the server was answered by one of its receivers, or withdrawn.",
)
/** A tool server starts. */
export const McpServerStartupStatusUpdated = about(
  "mcpServer/startupStatus/updated",
  Schema.Struct({
    threadId: orNull(Schema.String),
    name: Schema.String,
    status: orUnknown(Schema.Literals(["starting", "ready", "failed", "cancelled"])),
    error: orNull(Schema.String),
    failureReason: none,
  }),
  "A tool server is starting, ready, or has failed to start.",
)
/** An item of the model's history. */
export const RawResponseItemCompleted = about(
  "rawResponseItem/completed",
  Schema.Struct({ ...ofTurn, item: Schema.Unknown }),
  "An item that the model was sent or has sent, with `experimentalRawEvents`.",
)
/** A response of the model. */
export const RawResponseCompleted = about(
  "rawResponse/completed",
  Schema.Struct({
    ...ofTurn,
    /** Id that the provider gave it. */
    responseId: Schema.String,
    usage: orNull(TokenCounts),
    usageMetadata: orNull(Schema.Unknown),
  }),
  "The model has completed a response, with `experimentalRawEvents`.",
)
