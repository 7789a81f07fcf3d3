/**
 * Methods that create, list, resume, fork and archive conversations. `forkConversation` and `getConversation` are not in the
 * original. The wire: packages/docs/wire/app-server.md.
 */
import * as Schema from "effect/Schema"
import { SystemText } from "../text/SystemText.ts"
import { request } from "../Method.ts"
import { AskForApproval, ReasoningEffort, SandboxPolicy } from "../Policy.ts"
import { ConversationOverrides, Count, maybe, Open, Uuid } from "./Fields.ts"

const named = { conversationId: Uuid }

const made = {
  conversationId: Schema.String,
  model: Schema.String,
  reasoningEffort: Schema.optionalKey(ReasoningEffort),
}

/** Path of the rollout file; absent when the store keeps no files. */
const rolloutPath = Schema.optionalKey(Schema.String)

/** Creates a conversation. */
export const NewConversation = request("newConversation", {
  params: ConversationOverrides,
  result: Schema.Struct({ ...made, rolloutPath }),
  cancellable: false,
  since: "0.25",
  doc: "Creates a conversation. No turn starts yet.",
})

const ConversationSummary = Schema.Struct({
  conversationId: Schema.String,
  /** Path of the rollout file; absent when the store keeps no files. */
  path: Schema.optionalKey(Schema.String),
  /** The beginning of the first user message. */
  preview: Schema.String,
  /** ISO 8601. */
  timestamp: Schema.optionalKey(Schema.String),
})

/** Lists stored conversations. */
export const ListConversations = request("listConversations", {
  params: Schema.Struct({ pageSize: maybe(Count), cursor: maybe(Schema.String) }),
  result: Schema.Struct({
    items: Schema.Array(ConversationSummary),
    nextCursor: Schema.optionalKey(Schema.String),
  }),
  since: "0.36",
  doc: "Lists the stored conversations that have a user message, newest first, in pages. An invalid cursor is ignored.",
})

/** Resumes a stored conversation. */
export const ResumeConversation = request("resumeConversation", {
  params: Schema.Struct({
    path: SystemText,
    overrides: maybe(ConversationOverrides),
  }),
  result: Schema.Struct({
    ...made,
    initialMessages: Schema.optionalKey(Schema.Array(Open)),
    rolloutPath,
  }),
  cancellable: false,
  since: "0.36",
  doc: "Resumes a stored conversation by the path of its rollout file. `overrides` replace single settings of those it had.",
})

/** Ends and archives a conversation. */
export const ArchiveConversation = request("archiveConversation", {
  params: Schema.Struct({
    ...named,
    /** Optional here, required by the original. */
    rolloutPath: maybe(SystemText),
  }),
  result: Schema.Struct({}),
  cancellable: false,
  since: "0.36",
  doc: "Ends a conversation and moves its rollout file to the archive.",
})

/** Creates a conversation from the beginning of another one. */
export const ForkConversation = request("forkConversation", {
  params: Schema.Struct({
    ...named,
    /** Number of user messages at the end that the fork leaves out, with everything after them. Default 0. */
    dropLastMessages: maybe(Count),
    /** Alternative: index, from 0, of the user message before which the fork ends. */
    beforeMessage: maybe(Count),
  }),
  result: Schema.Struct({ ...made, rolloutPath }),
  cancellable: false,
  since: "colloquy 0.1",
  doc: "Creates a conversation from the beginning of another one. A running turn is not copied and continues there.",
})

/** Reports the state of a conversation. */
export const GetConversation = request("getConversation", {
  params: Schema.Struct(named),
  result: Schema.Struct({
    ...made,
    status: Schema.Literals(["idle", "running", "waitingForApproval"]),
    /** Id of the running turn, if any. */
    turnId: Schema.optionalKey(Schema.String),
    /** Number of messages queued for later turns. */
    waitingMessages: Schema.Int,
    /** Number of pending questions. */
    openQuestions: Schema.Int,
    /** Number of the next durable event. A listener that gives `after: nextSeq - 1` receives new events only. */
    nextSeq: Schema.Int,
    cwd: Schema.String,
    approvalPolicy: AskForApproval,
    sandboxPolicy: SandboxPolicy,
    totalTokens: Schema.optionalKey(Schema.Int),
  }),
  since: "colloquy 0.1",
  doc: "Reports the current state and settings of a conversation.",
})
