/**
 * Folds the records of a log, page by page, to what the conversation was when its process ended (L10, L11). Never throws;
 * `fault` says what is wrong with a log.
 *
 * A crash may leave the beginning of a batch in the log. The client got no receipt then, so a submission that starts or
 * joins a turn counts only if an event of it follows. One that waited had its receipt before its turn began: its input is
 * in the log with it, and is recorded as an event by the next process (L10).
 */
import { defined } from "@colloquy/protocol/Defined"
import { type Event, type EventMsg, isTerminal } from "@colloquy/protocol/EventMsg"
import type { SubmissionId } from "@colloquy/protocol/Ids"
import type { TurnAbortReason } from "@colloquy/protocol/Policy"
import {
  isAutoCompactId,
  isTurnOp,
  type PendingRevert,
  type QueuedSubmission,
  queuedOf,
} from "../decider/State.ts"
import { changed, isQueueChange } from "../decider/InputQueue.ts"
import { EventLog } from "../log/EventLog.ts"
import { type OpenCall, OpenCalls } from "../log/OpenCalls.ts"
import { keep, none as noReceipts, type Receipts, spend } from "../decider/Receipts.ts"
import type { LogRecord, RecordOf } from "../LogRecord.ts"
import type { StoredSettings } from "../StoredSettings.ts"

/** A beginning of a turn that was not recorded to its end. */
export interface CutStart {
  readonly submission: QueuedSubmission
  /** Number of the events behind `task_started` that the log has. */
  readonly recorded: number
}

/** What a log contains about unfinished work, beside its events. */
export interface Unfinished {
  /** Receipts of earlier submissions. */
  readonly receipts: Receipts
  /** Queued submissions, in their order. */
  readonly waiting: ReadonlyArray<QueuedSubmission>
  /** Reverts that wait for the end of the unfinished turn, in their order. */
  readonly reverts: ReadonlyArray<Omit<PendingRevert, "dropped">>
  /** By the number of the event that asks the question. */
  readonly questions: ReadonlyMap<number, RecordOf<"Question">>
  /** Tool calls without an output of the unfinished turn, oldest first. */
  readonly calls: ReadonlyArray<OpenCall>
  /** Number of attempts of the unfinished turn, its first start included. */
  readonly attempt: number
  /** False when the log has no input of the unfinished turn. */
  readonly hasInput: boolean
  /** A submission that had waited and whose turn the log does not have the whole beginning of. */
  readonly cut?: CutStart
  /** Reason of the interruption, if the unfinished turn was interrupted. */
  readonly stopped?: TurnAbortReason
}

/** What a conversation is resumed with. */
export interface Recovered {
  /** The durable events. */
  readonly log: EventLog
  readonly unfinished: Unfinished
  /** Present: the conversation is loaded with other settings than the log has. */
  readonly hasOtherSettings?: boolean
}

/** A folded log. */
export interface Folded extends Recovered {
  /** The last recorded settings. Absent in a log of another program. */
  readonly settings?: StoredSettings
}

/** The fold. Feed it every page in order with `add`, then call `finish`. */
export class LogFold {
  private readonly log = new EventLog()
  private readonly calls = new OpenCalls()
  private readonly questions = new Map<number, RecordOf<"Question">>()
  /** Ids that are recorded as submissions or marked as used already. */
  private readonly known = new Set<SubmissionId>([""])
  private settings: StoredSettings | undefined
  private receipts = noReceipts
  /** The receipts before a submission of which no event has followed yet. */
  private unconfirmed: Receipts | undefined
  private waiting: ReadonlyArray<QueuedSubmission> = []
  private reverts: Unfinished["reverts"] = []
  private turn: SubmissionId | undefined
  private attempt = 1
  private hasInput = false
  private cut: CutStart | undefined
  private stopped: TurnAbortReason | undefined
  /** What is wrong with the log. Undefined while nothing is. */
  fault: string | undefined

  /** Folds the next page. */
  add(records: ReadonlyArray<LogRecord>): void {
    const events: Array<Event> = []
    const times: Array<number> = []
    let next = this.log.seq
    for (const record of records) {
      if (record._tag !== "Event") {
        this.foldRecord(record)
        continue
      }
      const { event } = record
      if (event.seq !== next) this.fault ??= `expected event ${next}, found event ${event.seq}`
      else if (next === 0 && event.msg.type !== "session_configured") {
        this.fault ??= "its first event is not session_configured"
      }
      if (this.fault !== undefined) continue
      next++
      events.push(event)
      times.push(record.atMs)
      this.foldEvent(event)
    }
    this.log.append(events, times)
  }

  /** The result. Sets `fault` if the log is empty. */
  finish(): Folded {
    if (this.log.seq === 0) this.fault ??= "it has no events"
    return {
      log: this.log,
      unfinished: {
        receipts: this.unconfirmed ?? this.receipts,
        waiting: this.waiting,
        reverts: this.reverts,
        questions: this.questions,
        calls: this.calls.all(),
        attempt: this.attempt,
        hasInput: this.hasInput,
        ...defined({ stopped: this.stopped, cut: this.cut }),
      },
      ...defined({ settings: this.settings }),
    }
  }

  private foldRecord(record: Exclude<LogRecord, { readonly _tag: "Event" }>): void {
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

  private accept({ chosen, first, id, inQueue, op, receipt }: RecordOf<"Submission">): void {
    const { disposition } = receipt
    if (disposition === "started" || disposition === "joined") this.unconfirmed = this.receipts
    this.known.add(id)
    if (chosen) {
      // Events of the submission may precede it: its id was then marked as used.
      this.receipts = keep(this.receipts, id, receipt)
    } else this.receipts = spend(this.receipts, id)
    if (op !== undefined && isQueueChange(op)) {
      this.waiting = changed(this.waiting, op)
      return
    }
    if (op?.type === "revert") this.reverts = [...this.reverts, { id, turnId: op.turn_id }]
    if (op === undefined || !isTurnOp(op)) return
    const queued: QueuedSubmission = {
      ...queuedOf(id, op),
      ...(inQueue === true ? { inQueue } : {}),
    }
    this.waiting = first === true ? [queued, ...this.waiting] : [...this.waiting, queued]
  }

  /** Marks an id as used: a later submission with an id of the log would seem to end twice (L5). */
  private markUsed(id: SubmissionId): void {
    if (this.known.has(id) || isAutoCompactId(id)) return
    this.known.add(id)
    this.receipts = spend(this.receipts, id)
  }

  private foldEvent({ id, msg }: Event): void {
    this.unconfirmed = undefined
    this.markUsed(id)
    if (msg.type === "thread_rolled_back") {
      this.reverts = this.reverts.filter((pending) => pending.id !== id)
    }
    if (msg.type === "task_started") this.cut = this.cutOf(id)
    if (msg.type === "task_started" || isTerminal(msg)) {
      if (this.waiting.length > 0) this.waiting = this.waiting.filter((queued) => queued.id !== id)
    }
    if (msg.type === "task_started") {
      this.turn = id
      this.attempt = 1
      this.hasInput = false
      this.stopped = undefined
      this.calls.clear()
    } else if (id === this.turn) {
      this.follow(msg)
      this.calls.add(msg)
    }
  }

  private cutOf(id: SubmissionId): CutStart | undefined {
    const submission = this.waiting.find((queued) => queued.id === id)
    return submission === undefined || submission.items.length === 0
      ? undefined
      : { submission, recorded: 0 }
  }

  /** An event of the unfinished turn behind its first one. */
  private follow(msg: EventMsg): void {
    const { cut } = this
    if (cut !== undefined) this.cut = { ...cut, recorded: cut.recorded + 1 }
    if (isTerminal(msg)) {
      this.turn = undefined
      this.calls.clear()
    } else if (msg.type === "user_message") this.hasInput = true
    if (this.hasInput || this.turn === undefined) this.cut = undefined
  }
}
