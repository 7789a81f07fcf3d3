/** Methods of app-server v2 that change a thread: its name, its place, its settings, its history and its queue. */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { request } from "../Method.ts"
import { CollaborationModeParam, ReadState, Thread, Turn } from "./Thread.ts"
import {
  ApprovalsReviewerParam,
  AskForApprovalParam,
  maybe,
  orNull,
  pageParams,
  Personality,
  ReasoningSummary,
  SandboxPolicyParam,
  UserInput,
  UserInputParam,
} from "./Values.ts"

const ofThread = { threadId: Schema.String }
const nothing = Schema.Struct({})

/** Names a thread. */
export const ThreadNameSet = request("thread/name/set", {
  params: Schema.Struct({ ...ofThread, name: Schema.String }),
  result: nothing,
  cancellable: false,
  since: "0.92",
  doc: "Names a thread. Every connection is notified.",
})

/** Ends and archives a thread. */
export const ThreadArchive = request("thread/archive", {
  params: Schema.Struct(ofThread),
  result: nothing,
  cancellable: false,
  since: "0.58",
  doc: "Interrupts the running turn, ends the thread and archives it. Every connection is notified.",
})

/** Reverses `thread/archive`. */
export const ThreadUnarchive = request("thread/unarchive", {
  params: Schema.Struct(ofThread),
  result: Schema.Struct({ thread: Thread }),
  cancellable: false,
  since: "0.92",
  doc: "Makes an archived thread listed again. Loads nothing.",
})

/** Deletes a thread. */
export const ThreadDelete = request("thread/delete", {
  params: Schema.Struct(ofThread),
  result: nothing,
  cancellable: false,
  since: "0.130",
  doc: "Interrupts the running turn, ends the thread and deletes it, archived or not. Every connection is notified.",
})

/** Ends the subscription of the connection. */
export const ThreadUnsubscribe = request("thread/unsubscribe", {
  params: Schema.Struct(ofThread),
  result: Schema.Struct({
    status: Schema.Literals(["unsubscribed", "notSubscribed", "notLoaded"]),
  }),
  since: "0.110",
  doc: "Ends the subscription of this connection. A running turn goes on.",
})

/** Summarises the history. */
export const ThreadCompactStart = request("thread/compact/start", {
  params: Schema.Struct(ofThread),
  result: nothing,
  cancellable: false,
  since: "0.92",
  doc: "Starts a turn that replaces the history by a summary of it.",
})

/** Drops the end of the history. */
export const ThreadRevert = request("thread/revert", {
  params: Schema.Struct({ ...ofThread, beforeTurnId: Schema.String }),
  result: Schema.Struct({
    thread: Thread,
    turnsBackwardsCursor: orNull(Schema.String),
    itemsBackwardsCursor: orNull(Schema.String),
  }),
  cancellable: false,
  since: "0.153",
  doc: "Interrupts the running turn and drops this turn and all later ones.",
})

/** Runs a command of the user. */
export const ThreadShellCommand = request("thread/shellCommand", {
  params: Schema.Struct({ ...ofThread, command: Schema.String }),
  result: nothing,
  cancellable: false,
  since: "0.130",
  doc: "Runs a command of the user in the user's shell and the directory of the thread, under its sandbox policy, as a turn of its own. Refused while a turn runs. The model reads the command and its output with the next turn.",
})

/** Settings that apply from now on, in `turn/start` too. */
export const lastingSettings = {
  cwd: maybe(SystemText),
  approvalPolicy: maybe(AskForApprovalParam),
  approvalsReviewer: maybe(ApprovalsReviewerParam),
  sandboxPolicy: maybe(SandboxPolicyParam),
  model: maybe(Schema.NonEmptyString),
  serviceTier: maybe(Schema.String),
  effort: maybe(Schema.String),
  summary: maybe(ReasoningSummary),
  personality: maybe(Personality),
  permissions: maybe(Schema.String),
  collaborationMode: maybe(CollaborationModeParam),
  runtimeWorkspaceRoots: maybe(Schema.Array(SystemText)),
}

/** The experimental ones of `lastingSettings`. */
export const experimentalSettings = ["permissions", "collaborationMode", "runtimeWorkspaceRoots"]

/** Changes the settings of later turns. */
export const ThreadSettingsUpdate = request("thread/settings/update", {
  params: Schema.Struct({ ...ofThread, ...lastingSettings }),
  result: nothing,
  experimental: true,
  cancellable: false,
  since: "0.140",
  doc: "Changes settings of later turns. Subscribers are notified of what changed.",
})

/** Marks a thread as read or unread. */
export const ThreadReadStateUpdate = request("thread/readState/update", {
  params: Schema.Struct({
    ...ofThread,
    operation: Schema.Struct({ type: Schema.Literals(["read", "unread"]) }),
    /** The revision that the client has seen; another one is an error with the present state in its data. */
    expectedRevision: Schema.String,
  }),
  result: Schema.Struct({ readState: ReadState }),
  experimental: true,
  cancellable: false,
  since: "0.160",
  doc: "Marks a thread as read or unread. Subscribers are notified before the response.",
})

/** Input that waits for the end of the running turn. */
export const QueuedSubmission = Schema.Struct({
  id: Schema.String,
  input: Schema.Array(UserInput),
  clientUserMessageId: orNull(Schema.String),
  responsesapiClientMetadata: Schema.Null,
}).annotate({ identifier: "QueuedSubmission" })
/** A decoded `QueuedSubmission`. */
export type QueuedSubmission = typeof QueuedSubmission.Type

/** Queues input. */
export const ThreadQueueAdd = request("thread/queue/add", {
  params: Schema.Struct({
    ...ofThread,
    input: Schema.Array(UserInputParam),
    clientUserMessageId: maybe(Schema.String),
  }),
  result: Schema.Struct({ queuedSubmission: QueuedSubmission }),
  experimental: true,
  cancellable: false,
  since: "0.140",
  doc: "Queues input, which starts a turn by itself after the running one.",
})

/** Lists the queued input. */
export const ThreadQueueList = request("thread/queue/list", {
  params: Schema.Struct({ ...ofThread, ...pageParams }),
  result: Schema.Struct({
    data: Schema.Array(QueuedSubmission),
    nextCursor: orNull(Schema.String),
  }),
  experimental: true,
  since: "0.140",
  doc: "Lists the queued input, oldest first.",
})

/** Replaces queued input. */
export const ThreadQueueUpdate = request("thread/queue/update", {
  params: Schema.Struct({
    ...ofThread,
    queuedSubmissionId: Schema.String,
    input: Schema.Array(UserInputParam),
  }),
  result: Schema.Struct({ queuedSubmission: QueuedSubmission }),
  experimental: true,
  cancellable: false,
  since: "0.140",
  doc: "Replaces queued input; it keeps its place.",
})

/** Removes queued input. */
export const ThreadQueueDelete = request("thread/queue/delete", {
  params: Schema.Struct({ ...ofThread, queuedSubmissionId: Schema.String }),
  result: Schema.Struct({
    /** False: it was not in the queue. */
    deleted: Schema.Boolean,
  }),
  experimental: true,
  cancellable: false,
  since: "0.140",
  doc: "Removes queued input.",
})

/** Changes the order of queued input. */
export const ThreadQueueReorder = request("thread/queue/reorder", {
  params: Schema.Struct({
    ...ofThread,
    /** All that are queued, in the new order. */
    queuedSubmissionIds: Schema.Array(Schema.String),
  }),
  result: nothing,
  experimental: true,
  cancellable: false,
  since: "0.140",
  doc: "Changes the order of the queued input.",
})

/** Starts a turn with queued input. */
export const ThreadQueueStart = request("thread/queue/start", {
  params: Schema.Struct({
    ...ofThread,
    /** Default: the first one. */
    queuedSubmissionId: maybe(Schema.String),
  }),
  result: Schema.Struct({ turn: Turn }),
  experimental: true,
  cancellable: false,
  since: "0.140",
  doc: "Starts a turn with queued input now. An error while a turn runs.",
})
