/**
 * The records of a conversation's log, in order: what a store keeps and returns. The state of a conversation is a fold of
 * them (L10, L11). Plain data: each member is JSON.
 *
 * `atMs` is the Clock's time of the append, in milliseconds since the epoch. It may jump back; the order of the records
 * does not depend on it.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import { EventMsg } from "@colloquy/protocol/EventMsg"
import { Op } from "@colloquy/protocol/Op"
import { SandboxPolicy, TurnAbortReason } from "@colloquy/protocol/Policy"
import * as Schema from "effect/Schema"
import { StoredSettings } from "./StoredSettings.ts"

/**
 * What happens to a tool call whose process ended during it, when its turn is resumed: `safe` runs again, `ask` runs
 * again after an approval, `never` gets an output that says it was interrupted.
 */
export const ReplayClass = Schema.Literals(["safe", "ask", "never"])
/** One of the classes above. */
export type ReplayClass = typeof ReplayClass.Type

/** Milliseconds since the epoch. */
const atMs = Schema.Finite

/** A durable event. The events of a log are numbered from 0 without a gap; the first is `session_configured` (L3, L4). */
const EventRecord = Schema.TaggedStruct("Event", {
  atMs,
  event: Schema.Struct({ seq: Schema.Int, id: Schema.String, msg: EventMsg }),
})

/** An accepted submission: recorded before it is acknowledged (L10). */
const SubmissionRecord = Schema.TaggedStruct("Submission", {
  atMs,
  /** The id that the client chose, or the automatic one. */
  id: Schema.String,
  /** True when the client chose `id`: a repeated submission gets `receipt` again, also after a restart. */
  chosen: Schema.Boolean,
  receipt: Schema.Struct({
    /** Id of the turn that the submission started or joined; otherwise that of the submission. */
    id: Schema.String,
    disposition: Schema.Literals(["started", "joined", "waiting", "none"]),
  }),
  /**
   * What a submission that waits will do, or how it changes the queue. Absent for others, whose events contain everything.
   */
  op: Schema.optionalKey(Op),
  /** True for a queued submission in the queue of input, which can be changed. */
  inQueue: Schema.optionalKey(Schema.Boolean),
  /** True for a queued submission that runs before those that were queued earlier. */
  first: Schema.optionalKey(Schema.Boolean),
})

/** A tool call is about to run, or to be asked about; recorded before that. */
const ToolCallRecord = Schema.TaggedStruct("ToolCall", {
  atMs,
  turnId: Schema.String,
  /** Id that the model gave the call. Models repeat ids in later responses. */
  callId: Schema.String,
  /** Id of the call in events, unique in the conversation. Absent when it equals `callId`. */
  eventCallId: Schema.optionalKey(Schema.String),
  name: Schema.String,
  replay: ReplayClass,
  /** Number of the attempt, counted from 1. */
  attempt: Schema.Int,
  /**
   * True: the attempt does not run yet, because an earlier one may have taken effect. It waits for the answer to a question
   * with its id in events; another record of this attempt follows when it runs.
   */
  waits: Schema.optionalKey(Schema.Boolean),
})

/** The settings that apply from here on. */
const SettingsRecord = Schema.TaggedStruct("Settings", { atMs, settings: StoredSettings })

/**
 * What the event of a question does not contain. Recorded before the event, and again if the deadline starts later. The
 * last record counts.
 */
const QuestionRecord = Schema.TaggedStruct("Question", {
  atMs,
  /** Number of the event that asks the question. */
  seq: Schema.Int,
  /** Absent while no listener could answer: no deadline runs then. */
  expiresAtMs: Schema.optionalKey(Schema.Finite),
  /** Sandbox policy that the command runs under once approved. */
  sandbox: Schema.optionalKey(SandboxPolicy),
})

/** A turn whose process ended during it is resumed. */
const AttemptRecord = Schema.TaggedStruct("Attempt", {
  atMs,
  turnId: Schema.String,
  /** Number of the attempt, from 2 on: the first one is the start of the turn. */
  attempt: Schema.Int,
})

/** A turn was interrupted. It is not resumed after a restart, also when its terminal event is missing. */
const StopRecord = Schema.TaggedStruct("Stop", {
  atMs,
  turnId: Schema.String,
  reason: TurnAbortReason,
})

/** One record of a log. */
export const LogRecord = Schema.Union([
  EventRecord,
  SubmissionRecord,
  ToolCallRecord,
  SettingsRecord,
  QuestionRecord,
  AttemptRecord,
  StopRecord,
])
/** One record of a log. */
export type LogRecord = typeof LogRecord.Type

/** The records of one kind. */
export type RecordOf<T extends LogRecord["_tag"]> = Extract<LogRecord, { readonly _tag: T }>

/** The record of a durable event. */
export const eventRecord = (atMs: number, event: Event): RecordOf<"Event"> => ({
  _tag: "Event",
  atMs,
  event,
})
