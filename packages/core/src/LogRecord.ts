/**
 * The records of a conversation's log, in order: what a store keeps and gives back. Everything a conversation is follows
 * from them by a fold (L10, L11). Plain data: each member is JSON as it stands.
 *
 * `atMs` is the Clock's time of the append, in milliseconds since the epoch; it may jump back, the order may not.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import { EventMsg } from "@colloquy/protocol/EventMsg"
import { Op } from "@colloquy/protocol/Op"
import { SandboxPolicy, TurnAbortReason } from "@colloquy/protocol/Policy"
import * as Schema from "effect/Schema"
import { StoredSettings } from "./StoredSettings.ts"

/**
 * What happens to a call of a tool that was cut off, where its turn is taken up again: `safe` runs again, `ask` runs
 * again once a person has agreed, `never` gets an output that says it was cut off.
 */
export const ReplayClass = Schema.Literals(["safe", "ask", "never"])
export type ReplayClass = typeof ReplayClass.Type

/** Milliseconds since the epoch. */
const atMs = Schema.Finite

/** A durable event. Those of a log are numbered from 0 without a gap; the first is `session_configured` (L3, L4). */
const EventRecord = Schema.TaggedStruct("Event", {
  atMs,
  event: Schema.Struct({ seq: Schema.Int, id: Schema.String, msg: EventMsg }),
})

/** An accepted submission: recorded before it is acknowledged (L10). */
const SubmissionRecord = Schema.TaggedStruct("Submission", {
  atMs,
  /** The one the client chose, or the automatic one. */
  id: Schema.String,
  /** True when the client chose `id`: repeated, it gets `receipt` again, also after a restart. */
  chosen: Schema.Boolean,
  receipt: Schema.Struct({
    /** Of the turn that the submission started or joined, else its own. */
    id: Schema.String,
    disposition: Schema.Literals(["started", "joined", "waiting", "none"]),
  }),
  /** Of one that waits for a turn of its own: what it will run; of any other its events tell all there is. */
  op: Schema.optionalKey(Op),
  /** Of one that waits: true when it runs before those that wait already. */
  first: Schema.optionalKey(Schema.Boolean),
})

/** A call of a tool is about to run: recorded before it does (R22). */
const ToolCallRecord = Schema.TaggedStruct("ToolCall", {
  atMs,
  turnId: Schema.String,
  /** As the model named it; models repeat them in later responses. */
  callId: Schema.String,
  /** As its events name it, where that differs: an id that no other call of the conversation has. */
  eventCallId: Schema.optionalKey(Schema.String),
  name: Schema.String,
  replay: ReplayClass,
  /** Counts from 1 how often this call has begun to run. */
  attempt: Schema.Int,
})

/** The settings in force from here on. */
const SettingsRecord = Schema.TaggedStruct("Settings", { atMs, settings: StoredSettings })

/**
 * What the event of a question does not tell; recorded before it, and once more when its deadline begins later. The last
 * one counts.
 */
const QuestionRecord = Schema.TaggedStruct("Question", {
  atMs,
  /** Number of the event that puts it. */
  seq: Schema.Int,
  /** Absent: nobody has been there to answer, no deadline runs. */
  expiresAtMs: Schema.optionalKey(Schema.Finite),
  /** What the command will run under once approved. */
  sandbox: Schema.optionalKey(SandboxPolicy),
})

/** A turn that was cut off is taken up again. */
const AttemptRecord = Schema.TaggedStruct("Attempt", {
  atMs,
  turnId: Schema.String,
  /** Counts from 2: the first is the turn's own beginning. */
  attempt: Schema.Int,
})

/** A turn was told to stop: it is not taken up again, whatever its end was. */
const StopRecord = Schema.TaggedStruct("Stop", {
  atMs,
  turnId: Schema.String,
  reason: TurnAbortReason,
})

export const LogRecord = Schema.Union([
  EventRecord,
  SubmissionRecord,
  ToolCallRecord,
  SettingsRecord,
  QuestionRecord,
  AttemptRecord,
  StopRecord,
])
export type LogRecord = typeof LogRecord.Type

/** One kind of record. */
export type RecordOf<T extends LogRecord["_tag"]> = Extract<LogRecord, { readonly _tag: T }>

export const eventRecord = (atMs: number, event: Event): RecordOf<"Event"> => ({
  _tag: "Event",
  atMs,
  event,
})
