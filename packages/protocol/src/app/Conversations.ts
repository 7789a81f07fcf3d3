/** Conversations, made, found and ended (§3.3 to §3.6); `forkConversation` and `getConversation` are ours. */
import * as Schema from "effect/Schema"
import { request } from "../Method.ts"
import { AskForApproval, ReasoningEffort, SandboxPolicy } from "../Policy.ts"
import { ConversationOverrides, Count, maybe, Open, Uuid } from "./Fields.ts"

const named = { conversationId: Uuid }

const made = {
  conversationId: Schema.String,
  model: Schema.String,
  reasoningEffort: Schema.optionalKey(ReasoningEffort),
}

/** Of a store that keeps files. */
const rolloutPath = Schema.optionalKey(Schema.String)

export const NewConversation = request("newConversation", {
  params: ConversationOverrides,
  result: Schema.Struct({ ...made, rolloutPath }),
  cancellable: false,
  since: "0.25",
  doc: "Makes a conversation. Nothing runs yet.",
})

const ConversationSummary = Schema.Struct({
  conversationId: Schema.String,
  /** Of a store that keeps files. */
  path: Schema.optionalKey(Schema.String),
  /** The beginning of what a person said first. */
  preview: Schema.String,
  /** ISO 8601. */
  timestamp: Schema.optionalKey(Schema.String),
})

export const ListConversations = request("listConversations", {
  params: Schema.Struct({ pageSize: maybe(Count), cursor: maybe(Schema.String) }),
  result: Schema.Struct({
    items: Schema.Array(ConversationSummary),
    nextCursor: Schema.optionalKey(Schema.String),
  }),
  since: "0.36",
  doc: "Stored conversations in which somebody has spoken, newest first, a page at a time; a cursor that cannot be read is none.",
})

export const ResumeConversation = request("resumeConversation", {
  params: Schema.Struct({
    path: Schema.String,
    overrides: maybe(ConversationOverrides),
  }),
  result: Schema.Struct({
    ...made,
    initialMessages: Schema.optionalKey(Schema.Array(Open)),
    rolloutPath,
  }),
  cancellable: false,
  since: "0.36",
  doc: "Takes up a stored conversation by the path of its file, with the settings that it had and these on top of them.",
})

export const ArchiveConversation = request("archiveConversation", {
  params: Schema.Struct({
    ...named,
    /** May be left out, which the original does not allow. */
    rolloutPath: maybe(Schema.String),
  }),
  result: Schema.Struct({}),
  cancellable: false,
  since: "0.36",
  doc: "Ends a conversation and moves its file to the archive.",
})

export const ForkConversation = request("forkConversation", {
  params: Schema.Struct({
    ...named,
    /** So many of the person's messages, counted from the last, are left out with what followed. Default 0. */
    dropLastMessages: maybe(Count),
    /** Instead: the message of the person, counted from 0, before which the fork ends. */
    beforeMessage: maybe(Count),
  }),
  result: Schema.Struct({ ...made, rolloutPath }),
  cancellable: false,
  since: "colloquy 0.1",
  doc: "Makes a conversation of another one's beginning. A turn that runs there is left out and goes on.",
})

export const GetConversation = request("getConversation", {
  params: Schema.Struct(named),
  result: Schema.Struct({
    ...made,
    status: Schema.Literals(["idle", "running", "waitingForApproval"]),
    /** Whose turn runs. */
    turnId: Schema.optionalKey(Schema.String),
    /** That wait for a turn of their own. */
    waitingMessages: Schema.Int,
    openQuestions: Schema.Int,
    /** Number of the next event that is kept: `after` one less, a listener gets only what is new. */
    nextSeq: Schema.Int,
    cwd: Schema.String,
    approvalPolicy: AskForApproval,
    sandboxPolicy: SandboxPolicy,
    totalTokens: Schema.optionalKey(Schema.Int),
  }),
  since: "colloquy 0.1",
  doc: "What a conversation does at the moment.",
})
