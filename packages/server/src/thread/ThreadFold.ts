/**
 * What this dialect reports of a thread, folded from its events: the items (`items/ItemProjection.ts`), the turns around
 * them, and what the thread waits for. The same for live events and for a log that is read back, so that both show the same.
 * Knows no method and reads no clock. Used by one listener, or for one reading of a log.
 */
import { compactionNotice, type Item } from "@colloquy/core/log/Item"
import { type Reading, stepReading } from "@colloquy/core/log/Reading"
import { initialItems, type ItemsState, step } from "@colloquy/core/log/Items"
import { isAutoCompactId } from "@colloquy/core/decider/State"
import {
  type Event,
  type EventMsg,
  type EventOf,
  isTerminal,
  isTextDelta,
} from "@colloquy/protocol/EventMsg"
import type { ThreadItem } from "@colloquy/protocol/thread/Items"
import type { Turn } from "@colloquy/protocol/thread/Thread"
import type { ThreadStatus, TurnError } from "@colloquy/protocol/thread/Values"
import { openCall, project, requested, resynced, turnEnded } from "./items/ItemProjection.ts"
import { begunItems, type OpenItem, openItems } from "./items/OpenItems.ts"
import {
  initialProjection,
  type ItemOutput,
  type ProjectionState,
} from "./items/ProjectionState.ts"
import { withRecorded } from "./items/ReasoningItems.ts"
import { Waiting } from "./questions/Waiting.ts"
import { retryError, turnError } from "./TurnErrors.ts"

/** What happened in a thread. */
export type ThreadOutput =
  | ItemOutput
  | { readonly _tag: "TurnStarted" | "TurnCompleted"; readonly turn: Turn }
  | { readonly _tag: "Status"; readonly status: ThreadStatus }
  /** A turn has an answer that the user has not seen. */
  | { readonly _tag: "Unread"; readonly reading: Reading }
  /** Turns at the end of the thread were dropped. */
  | { readonly _tag: "Reverted" }
  | {
      readonly _tag: "Error"
      readonly turnId: string
      readonly error: TurnError
      readonly willRetry: boolean
    }
  | { readonly _tag: "Message"; readonly turnId: string; readonly msg: ReportedMsg }

/** The events that are reported as they are. */
export type ReportedMsg =
  | EventOf<"warning">
  | EventOf<"turn_diff">
  | EventOf<"plan_update">
  | EventOf<"token_count">
  | EventOf<"raw_response_item">
  | EventOf<"approval_resolved">
  | EventOf<"queue_changed">

interface OpenTurn {
  readonly id: string
  readonly startedAtMs: number
  /** The error that was reported last. It is why the turn failed if the end of the turn follows at once. */
  error: TurnError | undefined
  lastMessage: ThreadItem | undefined
}

/** The events after which a turn can send its next request: none is between the beginning of a text and its record. */
const allowsRequest = (msg: EventMsg): boolean =>
  msg.type === "task_started" || msg.type === "token_count" || msg.type === "compacted"

const seconds = (ms: number): number => Math.floor(ms / 1000)

/** A turn that runs. */
export const runningTurn = (id: string, startedAtMs: number | null): Turn => ({
  id,
  rootTurnId: id,
  items: [],
  itemsView: "notLoaded",
  status: "inProgress",
  error: null,
  startedAt: startedAtMs === null ? null : seconds(startedAtMs),
  completedAt: null,
  durationMs: null,
})

/** A turn that was interrupted before it began: the client has its id from the response. */
const droppedTurn = (id: string, atMs: number): Turn => ({
  ...runningTurn(id, null),
  status: "interrupted",
  completedAt: seconds(atMs),
})

/** See the header. */
export class ThreadFold {
  private items: ItemsState = initialItems
  private projection: ProjectionState = initialProjection
  private turn: OpenTurn | undefined
  /** Time of the last event. */
  private lastMs = 0
  private waiting = new Waiting()
  private hasFailed = false
  /** A turn that was reported as interrupted, because nothing of it could be recorded any more. The log has no end of it yet. */
  private abandoned: string | undefined
  /** Ids of the input in the queue, which no client knows as turns. */
  private queued: ReadonlyArray<string> = []
  private read: Reading | undefined
  /** Id of the last submission that has summarised the history. */
  private compacted: string | undefined

  /** A fold in the same state, which continues on its own. */
  copy(): ThreadFold {
    const copy = new ThreadFold()
    copy.items = this.items
    copy.projection = this.projection
    copy.turn = this.turn === undefined ? undefined : { ...this.turn }
    copy.lastMs = this.lastMs
    copy.waiting = this.waiting.copy()
    copy.hasFailed = this.hasFailed
    copy.abandoned = this.abandoned
    copy.queued = this.queued
    copy.read = this.read
    copy.compacted = this.compacted
    return copy
  }

  /** What the thread waits for now. */
  get status(): ThreadStatus {
    if (this.turn === undefined) return { type: this.hasFailed ? "systemError" : "idle" }
    return { type: "active", activeFlags: this.waiting.flags }
  }

  /** Which turns are unread; undefined before the first one. */
  get reading(): Reading | undefined {
    return this.read
  }

  /** Id of the running turn, if any. */
  get turnId(): string | undefined {
    return this.turn?.id
  }

  /** The items that have no end yet, with what is known of them. */
  get open(): ReadonlyArray<OpenItem> {
    return openItems(this.projection)
  }

  /** The beginnings of what runs, for a client that joins now: of the turn, and of its open items. Nothing while none runs. */
  get begun(): ReadonlyArray<ThreadOutput> {
    const { turn } = this
    return turn === undefined
      ? []
      : [
          { _tag: "TurnStarted", turn: runningTurn(turn.id, turn.startedAtMs) },
          ...begunItems(this.projection),
        ]
  }

  /** Id and start of the item of a call that runs or waits for its approval. */
  callOf(callId: string): ReturnType<typeof openCall> {
    return openCall(this.projection, callId)
  }

  /** The listener fell behind: the next piece of every open text repeats it from its beginning. */
  resync(): void {
    this.projection = resynced(this.projection)
  }

  /** What the event means for a client. `at`: the time of its delivery or of its record. */
  step(event: Event, at: number): ReadonlyArray<ThreadOutput> {
    const { msg } = event
    // A virtual clock can be between two milliseconds, which the dialect cannot write.
    const atMs = Math.floor(at)
    const outputs: Array<ThreadOutput> = []
    if (msg.type === "task_started") this.endUnfinished(event, outputs)
    this.lastMs = atMs
    this.settleError(event, outputs)
    // Most events are pieces of a text, which change nothing else.
    if (isTextDelta(msg)) {
      this.project(event, atMs, outputs)
      this.takeUp(event, atMs, outputs)
      return outputs
    }
    if (msg.type === "task_started") this.startTurn(event.id, atMs, outputs)
    if (allowsRequest(msg)) this.projection = requested(this.projection, atMs)
    const before = this.status
    this.waiting.count(msg)
    if (msg.type === "approval_resolved") {
      outputs.push({ _tag: "Message", turnId: this.turnOf(event.id), msg })
    }
    // What the thread waits for, and that it waits no more, is reported before the change of the item, but for a patch,
    // which is shown first.
    const isPatch = msg.type === "apply_patch_approval_request"
    if (!isPatch) this.report(before, outputs)
    this.project(event, atMs, outputs)
    if (isPatch) this.report(before, outputs)
    this.reportMessage(event, outputs)
    this.countUnread(event, outputs)
    const isReported = this.abandoned === event.id
    this.takeUp(event, atMs, outputs)
    if (isTerminal(msg) && this.turn?.id === event.id) {
      this.endTurn(msg.type === "turn_aborted", atMs, outputs)
    } else if (msg.type === "turn_aborted" && !isReported && !this.queued.includes(event.id)) {
      outputs.push({ _tag: "TurnCompleted", turn: droppedTurn(event.id, atMs) })
    }
    return outputs
  }

  /** Ids of the questions that wait for an answer. */
  get pending(): ReadonlyArray<string> {
    return this.waiting.ids
  }

  /**
   * No event follows, for that reason: the running turn and what it has left open end as interrupted, as they do in the log
   * once a process loads it, unless that one continues the turn. Where the log continues with the turn, the ids of its
   * items follow on those that are recorded.
   */
  abandon(reason: string, at: number): ReadonlyArray<ThreadOutput> {
    const { items, projection, turn } = this
    if (turn === undefined) return []
    const { id } = turn
    const atMs = Math.floor(at)
    const outputs: Array<ThreadOutput> = []
    const aborted: EventOf<"turn_aborted"> = { type: "turn_aborted", reason: "interrupted" }
    this.project({ seq: 0, id, msg: aborted }, atMs, outputs)
    const because: EventOf<"warning"> = { type: "warning", message: reason }
    outputs.push({ _tag: "Message", turnId: id, msg: because })
    this.endTurn(true, atMs, outputs)
    this.abandoned = id
    this.items = { ...this.items, counts: items.counts }
    this.projection = withRecorded(this.projection, projection, id)
    return outputs
  }

  /** The log continues with an abandoned turn: it ends as was reported already, or goes on, which is reported as a start. */
  private takeUp({ id, msg }: Event, atMs: number, outputs: Array<ThreadOutput>): void {
    if (this.abandoned === undefined || this.abandoned !== id) return
    if (msg.type === "turn_aborted") {
      this.abandoned = undefined
      this.projection = turnEnded(this.projection, id, atMs).state
    } else if (isTerminal(msg) || outputs.some(({ _tag }) => _tag === "ItemStarted")) {
      this.abandoned = undefined
      const start: Array<ThreadOutput> = []
      this.startTurn(id, atMs, start)
      outputs.unshift(...start)
    }
  }

  /** The turn goes on after an error, or was interrupted: the error has not ended it, and is a warning. */
  private settleError({ id, msg }: Event, outputs: Array<ThreadOutput>): void {
    const { turn } = this
    if (turn?.error === undefined || turn.id !== id || msg.type === "task_complete") return
    const { message } = turn.error
    turn.error = undefined
    outputs.push({ _tag: "Message", turnId: id, msg: { type: "warning", message } })
  }

  private report(before: ThreadStatus, outputs: Array<ThreadOutput>): void {
    const { status } = this
    if (JSON.stringify(before) !== JSON.stringify(status)) outputs.push({ _tag: "Status", status })
  }

  private countUnread(event: Event, outputs: Array<ThreadOutput>): void {
    const before = this.read
    this.read = stepReading(before, event)
    const isAnswer = event.msg.type === "task_complete" && this.read !== before
    if (isAnswer && this.read !== undefined) outputs.push({ _tag: "Unread", reading: this.read })
  }

  /** Id of the turn that shows what has this id: a summary in the middle of a turn belongs to it. */
  private turnOf(id: string): string {
    return isAutoCompactId(id) ? (this.turn?.id ?? id) : id
  }

  /** True for the message that follows a summary: here the item of the compaction says that already. */
  private endsCompaction({ id, msg }: Event): boolean {
    if (msg.type === "compacted") this.compacted = id
    return msg.type === "agent_message" && msg.message === compactionNotice && this.compacted === id
  }

  private project(event: Event, atMs: number, outputs: Array<ThreadOutput>): void {
    if (this.endsCompaction(event)) return
    const next = step(this.items, event)
    this.items = next.state
    for (const change of next.changes) {
      const shown =
        "item" in change && isAutoCompactId(change.item.turnId)
          ? { ...change, item: { ...change.item, turnId: this.turnOf(change.item.turnId) } as Item }
          : change
      const projected = project(this.projection, shown, atMs)
      this.projection = projected.state
      for (const output of projected.outputs) this.add(output, outputs)
    }
  }

  private add(output: ItemOutput, outputs: Array<ThreadOutput>): void {
    if (
      output._tag === "ItemCompleted" &&
      output.item.type === "agentMessage" &&
      this.turn?.id === output.turnId
    ) {
      this.turn.lastMessage = output.item
    }
    outputs.push(output)
  }

  /** The logs of other programs have turns that were cut off with their process: each ends with its last event. */
  private endUnfinished({ id }: Event, outputs: Array<ThreadOutput>): void {
    const { lastMs, turn } = this
    if (turn === undefined || turn.id === id) return
    const aborted: EventOf<"turn_aborted"> = { type: "turn_aborted", reason: "interrupted" }
    this.project({ seq: 0, id: turn.id, msg: aborted }, lastMs, outputs)
    this.endTurn(true, lastMs, outputs)
  }

  private startTurn(id: string, atMs: number, outputs: Array<ThreadOutput>): void {
    const before = this.status
    this.hasFailed = false
    this.turn = { id, startedAtMs: atMs, error: undefined, lastMessage: undefined }
    this.report(before, outputs)
    outputs.push({ _tag: "TurnStarted", turn: runningTurn(id, atMs) })
  }

  private endTurn(isAborted: boolean, atMs: number, outputs: Array<ThreadOutput>): void {
    const { turn } = this
    if (turn === undefined) return
    const ended = turnEnded(this.projection, turn.id, atMs)
    this.projection = ended.state
    for (const output of ended.outputs) this.add(output, outputs)
    this.turn = undefined
    this.waiting.clear()
    const status = isAborted ? "interrupted" : turn.error === undefined ? "completed" : "failed"
    this.hasFailed = status === "failed"
    outputs.push({ _tag: "Status", status: this.status })
    const error = turn.error ?? null
    if (error !== null && status === "failed") {
      outputs.push({ _tag: "Error", turnId: turn.id, error, willRetry: false })
    }
    const items = turn.lastMessage === undefined ? [] : [turn.lastMessage]
    outputs.push({
      _tag: "TurnCompleted",
      turn: {
        ...runningTurn(turn.id, turn.startedAtMs),
        items,
        itemsView: items.length === 0 ? "notLoaded" : "summary",
        status,
        error: status === "failed" ? error : null,
        completedAt: seconds(atMs),
        durationMs: Math.max(0, Math.round(atMs - turn.startedAtMs)),
      },
    })
  }

  private reportMessage({ id, msg }: Event, outputs: Array<ThreadOutput>): void {
    const turnId = this.turnOf(id)
    switch (msg.type) {
      case "error": {
        const error = turnError(msg.message)
        if (this.turn?.id === turnId) this.turn.error = error
        else outputs.push({ _tag: "Error", turnId, error, willRetry: false })
        return
      }
      case "stream_error":
        outputs.push({ _tag: "Error", turnId, error: retryError(msg.message), willRetry: true })
        return
      case "thread_rolled_back": {
        const before = this.status
        this.hasFailed = false
        this.report(before, outputs)
        outputs.push({ _tag: "Reverted" })
        return
      }
      case "warning":
      case "turn_diff":
      case "plan_update":
      case "token_count":
      case "raw_response_item":
        outputs.push({ _tag: "Message", turnId, msg })
        return
      case "queue_changed":
        this.queued = msg.ids
        outputs.push({ _tag: "Message", turnId, msg })
        return
      default:
    }
  }
}
