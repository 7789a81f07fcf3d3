/**
 * The records of a decision: its events, and what else a restart needs to know of it (L10). Pure.
 *
 * Records that follow from comparing the state before and after are made here, so that no decision can omit them:
 * accepted submissions, settings, interruptions, questions and their deadlines.
 */
import { defined } from "@colloquy/protocol/Defined"
import { type Event, eventInfo, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import * as Duration from "effect/Duration"
import type { Question } from "./ApprovalBook.ts"
import { isQueueChange } from "./InputQueue.ts"
import type { State } from "./State.ts"
import type { Decision, RecordDraft, Input } from "./Decision.ts"
import type { Durability } from "../ConversationStore.ts"
import { eventRecord, type LogRecord } from "../LogRecord.ts"
import { toStored } from "../store/Settings.ts"

/** The accepted submission. It is recorded also when it had no effect, because its id is used. */
const submissionOf = (
  input: Input | undefined,
  { receipt }: Decision,
  before: State,
  after: State,
): ReadonlyArray<Extract<RecordDraft, { readonly _tag: "Submission" }>> => {
  if (input?._tag !== "Submit" || receipt === undefined || before.receipts === after.receipts) {
    return []
  }
  const chosen = input.id !== undefined
  const waits = receipt.disposition === "waiting"
  return [
    {
      _tag: "Submission",
      id: input.id ?? receipt.id,
      chosen,
      receipt,
      ...(waits || isQueueChange(input.op) ? { op: input.op } : {}),
      ...(waits && input.whileRunning === "enqueue" ? { inQueue: true } : {}),
      ...(waits && input.whileRunning === "interrupt" ? { first: true } : {}),
    },
  ]
}

const settingsOf = (
  before: State,
  { actions, state: { settings } }: Decision,
  hasOtherSettings: boolean,
): ReadonlyArray<RecordDraft> =>
  before.settings !== settings ||
  (hasOtherSettings && actions.some(({ _tag }) => _tag === "StartTurn"))
    ? [{ _tag: "Settings", settings: toStored(settings) }]
    : []

const stopOf = (before: State, { turn }: State): ReadonlyArray<RecordDraft> =>
  turn?.aborting === undefined || before.turn?.aborting !== undefined
    ? []
    : [{ _tag: "Stop", turnId: turn.id, reason: turn.aborting }]

const questionOf = (
  { request, seq }: Question,
  after: Duration.Duration | undefined,
  atMs: number,
): RecordDraft => ({
  _tag: "Question",
  seq,
  ...defined({
    expiresAtMs: after === undefined ? undefined : atMs + Duration.toMillis(after),
    sandbox: request._tag === "Exec" ? request.sandbox : undefined,
  }),
})

/** Questions that this decision asks, and those whose deadline it starts. */
const questionsOf = (before: State, { actions, state }: Decision, atMs: number) => {
  const { open } = state.approvals
  if (open.length === 0 || open === before.approvals.open) return []
  const deadlines = new Map(
    actions.flatMap((action) =>
      action._tag === "StartDeadline" ? [[action.number, action.after] as const] : [],
    ),
  )
  return open.flatMap((question) =>
    deadlines.has(question.number) || question.seq >= before.seq
      ? [questionOf(question, deadlines.get(question.number), atMs)]
      : [],
  )
}

const addEvents = (written: Array<LogRecord>, events: ReadonlyArray<Event>, atMs: number): void => {
  for (const event of events) if (!isEphemeral(event.msg)) written.push(eventRecord(atMs, event))
}

/**
 * The records of a decision, in an order that is right wherever a crash cuts it off. A submission precedes the turn that it
 * starts or joins, since no turn may start twice for it, and what it changes in the queue; it follows everything else that it causes, since a client repeats
 * it until that is recorded. `events` are the numbered events of the decision; ephemeral ones are left out.
 * `hasOtherSettings`: the settings differ from those of the log, and are recorded with the start of a turn.
 */
export const recordsOf = (
  before: State,
  input: Input | undefined,
  decision: Decision,
  events: ReadonlyArray<Event>,
  atMs: number,
  hasOtherSettings = false,
): ReadonlyArray<LogRecord> => {
  const written: Array<LogRecord> = []
  if (input?._tag === "Emit") {
    addEvents(written, events, atMs)
    return written
  }
  const add = (drafts: ReadonlyArray<RecordDraft>) => {
    for (const draft of drafts) written.push({ ...draft, atMs })
  }
  const { records = [], state } = decision
  const submission = submissionOf(input, decision, before, state)
  const isInput = submission.some(
    // A change of the queue is what its submission contains: events alone would report what a restart does not repeat.
    ({ op, receipt }) => receipt.disposition !== "none" || op !== undefined,
  )
  add(settingsOf(before, decision, hasOtherSettings))
  add(stopOf(before, state))
  add(records)
  if (isInput) add(submission)
  // A question without its deadline would stay open for ever.
  add(questionsOf(before, decision, atMs))
  addEvents(written, events, atMs)
  if (!isInput) add(submission)
  return written
}

/** An event whose loss in a power failure loses nothing that a client relies on. */
const isSoft = (msg: EventMsg): boolean => !eventInfo(msg.type).synced

const isSoftRecord = (record: LogRecord): boolean =>
  (record._tag === "Event" && isSoft(record.event.msg)) ||
  (record._tag === "Submission" && record.receipt.disposition === "none" && record.op === undefined)

/** User input, answers, finished items and ends of turns survive the machine; other records survive the process. */
export const durabilityOf = (records: ReadonlyArray<LogRecord>): Durability =>
  records.every(isSoftRecord) ? "written" : "synced"
