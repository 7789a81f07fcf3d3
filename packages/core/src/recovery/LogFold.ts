/**
 * A log of records, folded page by page: what a conversation was when its process ended (L10, L11). Never throws,
 * whatever it is given; what is wrong with a log is told by `fault`.
 *
 * Of a batch that a crash cut off a beginning may be there. Who submitted was not told then; so a submission that
 * starts or joins a turn counts only when something of it follows.
 */
import { type Event, isTerminal } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import { isAutoCompactId, type QueuedSubmission } from "../decider/State.ts"
import { EventLog } from "../log/EventLog.ts"
import { type OpenCall, OpenCalls } from "../log/OpenCalls.ts"
import { keep, none as noReceipts, type Receipts, spend } from "../decider/Receipts.ts"
import type { LogRecord, RecordOf } from "../LogRecord.ts"
import type { StoredSettings } from "../StoredSettings.ts"

/** What is left of a life beside its events. */
export interface Unfinished {
  readonly receipts: Receipts
  readonly waiting: ReadonlyArray<QueuedSubmission>
  /** By the number of the event that put the question. */
  readonly questions: ReadonlyMap<number, RecordOf<"Question">>
  /** Of the turn that was left open, oldest first. */
  readonly calls: ReadonlyArray<OpenCall>
  /** How often the turn that was left open has begun. */
  readonly attempt: number
  /** False for a turn of which nothing but its beginning is there. */
  readonly hasInput: boolean
  /** The turn had been told to stop. */
  readonly stopped?: TurnAbortReason
}

/** What a conversation needs to go on. */
export interface Recovered {
  /** Its durable events. */
  readonly log: EventLog
  readonly unfinished: Unfinished
}

export interface Folded extends Recovered {
  /** Those in force at the end, where the log says. */
  readonly settings?: StoredSettings
}

export class LogFold {
  private readonly log = new EventLog()
  private readonly calls = new OpenCalls()
  private readonly questions = new Map<number, RecordOf<"Question">>()
  /** Ids of submissions that need no receipt of their own any more. */
  private readonly known = new Set<SubmissionId>([""])
  private settings: StoredSettings | undefined
  private receipts = noReceipts
  /** Those before a submission of which nothing has followed yet. */
  private unproved: Receipts | undefined
  private waiting: ReadonlyArray<QueuedSubmission> = []
  private turn: SubmissionId | undefined
  private attempt = 1
  private hasInput = false
  private stopped: TurnAbortReason | undefined
  /** What is wrong with the log, if anything is. */
  fault: string | undefined

  /** The next page. */
  add(records: ReadonlyArray<LogRecord>): void {
    const events: Array<Event> = []
    let next = this.log.seq
    for (const record of records) {
      if (record._tag !== "Event") {
        this.note(record)
        continue
      }
      const { event } = record
      if (event.seq !== next) this.fault ??= `event ${next} is missing: ${event.seq} stands there`
      else if (next === 0 && event.msg.type !== "session_configured") {
        this.fault ??= "it does not begin with session_configured"
      }
      if (this.fault !== undefined) continue
      next++
      events.push(event)
      this.see(event)
    }
    this.log.append(events)
  }

  finish(): Folded {
    if (this.log.seq === 0) this.fault ??= "it has no events"
    return {
      log: this.log,
      unfinished: {
        receipts: this.unproved ?? this.receipts,
        waiting: this.waiting,
        questions: this.questions,
        calls: this.calls.all(),
        attempt: this.attempt,
        hasInput: this.hasInput,
        ...(this.stopped === undefined ? {} : { stopped: this.stopped }),
      },
      ...(this.settings === undefined ? {} : { settings: this.settings }),
    }
  }

  private note(record: Exclude<LogRecord, { readonly _tag: "Event" }>): void {
    switch (record._tag) {
      case "Submission":
        return this.accept(record)
      case "Settings":
        this.settings = record.settings
        return
      case "ToolCall":
        if (record.turnId === this.turn) this.calls.markStarted(record)
        return
      case "Question":
        this.questions.set(record.seq, record)
        return
      case "Attempt":
        if (record.turnId === this.turn) this.attempt = record.attempt
        return
      case "Stop":
        if (record.turnId === this.turn) this.stopped = record.reason
        return
    }
  }

  private accept({ chosen, first, id, op, receipt }: RecordOf<"Submission">): void {
    const { disposition } = receipt
    if (disposition === "started" || disposition === "joined") this.unproved = this.receipts
    this.known.add(id)
    if (chosen) {
      // Its events may stand before it: the id was taken for that of a submission nobody knows.
      const kept = this.receipts.kept.filter((other) => other.chosen !== id)
      this.receipts = keep({ ...this.receipts, kept }, id, receipt)
    } else this.receipts = spend(this.receipts, id)
    if (op?.type !== "user_input" && op?.type !== "user_turn" && op?.type !== "compact") return
    const waits: QueuedSubmission = {
      id,
      items: op.type === "compact" ? [] : op.items,
      ...(op.type === "user_turn" ? { context: op } : {}),
    }
    this.waiting = first === true ? [waits, ...this.waiting] : [...this.waiting, waits]
  }

  /** No later submission gets an id that occurs in the log: each of its turns would seem to end twice (L5). */
  private take(id: SubmissionId): void {
    if (this.known.has(id) || isAutoCompactId(id)) return
    this.known.add(id)
    this.receipts = spend(this.receipts, id)
  }

  private see({ id, msg }: Event): void {
    this.unproved = undefined
    this.take(id)
    if (msg.type === "task_started" || isTerminal(msg)) {
      if (this.waiting.length > 0) this.waiting = this.waiting.filter((waits) => waits.id !== id)
    }
    if (msg.type === "task_started") {
      this.turn = id
      this.attempt = 1
      this.hasInput = false
      this.stopped = undefined
      this.calls.clear()
    } else if (id === this.turn) {
      if (isTerminal(msg)) {
        this.turn = undefined
        this.calls.clear()
      } else if (msg.type === "user_message") this.hasInput = true
      this.calls.add(msg)
    }
  }
}
