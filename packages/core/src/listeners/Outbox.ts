/**
 * What one listener has not read yet, in bounded memory (L6). Filled by the conversation without ever waiting, emptied
 * by whoever serves the listener.
 *
 * It is either live, holding events as they come, or replaying, holding only a number in the event log. It starts
 * in replay and falls back to it when it overflows, with one `lagged` marker; each replay ends with one delta per
 * text in progress and one `synced` marker. Deltas coalesce once the listener is behind; items are never dropped:
 * they stand in the log. Keeps L4 (no loss, no duplicate): what comes while it replays
 * stands in the log already, what comes while it is live is offered once.
 */
import { type Event, type EventMsg, isEphemeral } from "@colloquy/protocol/EventMsg"
import type { Answers } from "../approvals/Approval.ts"
import { takes } from "../approvals/Elicitation.ts"
import type { EventLog } from "../log/EventLog.ts"
import type { Delivery } from "./Delivery.ts"

export interface OutboxLimits {
  readonly maxEvents: number
  readonly maxBytes: number
}

/** Design §4: 1,024 events or 4 MiB. */
export const defaultOutboxLimits: OutboxLimits = { maxEvents: 1024, maxBytes: 4 * 1024 * 1024 }

/** Fewer unread events than this and a listener is not behind: its deltas stay as they came. */
const behind = 128

/** Durable events read from the log at a time while replaying. */
const replayBatch = 256

const deltaSize = (msg: EventMsg): number => {
  if ("delta" in msg) return msg.delta.length
  return "chunk" in msg ? msg.chunk.length : 0
}

/** Two deltas that read as one, or undefined. */
const joined = (a: Event, b: Event): Event | undefined => {
  if (a.id !== b.id || a.msg.type !== b.msg.type) return undefined
  return "delta" in a.msg && "delta" in b.msg
    ? { ...a, msg: { ...a.msg, delta: a.msg.delta + b.msg.delta } }
    : undefined
}

export class Outbox {
  private events: Array<Event> = []
  /** Sizes of deltas only: durable events are shared with the log and cost a reference. */
  private deltaBytes = 0
  /** Undefined while live, else the number of the next durable event to read from the log. */
  private replayFrom: number | undefined
  private lagged = false
  private readonly log: EventLog
  private readonly limits: OutboxLimits

  private readonly answers: Answers | undefined

  /** @param answers which of the conversation's questions the listener is asked; default: none */
  constructor(log: EventLog, limits: OutboxLimits, from: number, answers?: Answers) {
    this.log = log
    this.answers = answers
    this.limits = limits
    this.replayFrom = Math.max(0, from)
  }

  /** What follows in the log on what was offered before; it stands there already. */
  offer(batch: ReadonlyArray<Event>): void {
    // While replaying, the log has it all.
    if (this.replayFrom !== undefined) return
    for (const event of batch) this.push(event)
    if (this.events.length > this.limits.maxEvents || this.deltaBytes > this.limits.maxBytes) {
      this.overflow()
    }
  }

  private push(event: Event): void {
    const last = this.events.length >= behind ? this.events.at(-1) : undefined
    const one = last === undefined ? undefined : joined(last, event)
    if (one === undefined) this.events.push(event)
    else this.events[this.events.length - 1] = one
    this.deltaBytes += deltaSize(event.msg)
  }

  private overflow(): void {
    const first = this.events[0]
    if (first === undefined) return
    // A delta carries the number of the durable event before it, which was delivered.
    this.replayFrom = isEphemeral(first.msg) ? first.seq + 1 : first.seq
    this.lagged = true
    this.events = []
    this.deltaBytes = 0
  }

  get isEmpty(): boolean {
    return this.replayFrom === undefined && this.events.length === 0
  }

  /** Everything there is to deliver now, in order; a replay comes in pieces. */
  take(): ReadonlyArray<Delivery> {
    const deliveries: Array<Delivery> = []
    if (this.replayFrom === undefined) {
      for (const event of this.events) {
        deliveries.push({ _tag: "Event", event })
        if (this.answers !== undefined && this.log.isOpenQuestion(event)) {
          this.ask(event, this.answers, deliveries)
        }
      }
      this.events = []
      this.deltaBytes = 0
      return deliveries
    }
    if (this.lagged) deliveries.push({ _tag: "Lagged", from: this.replayFrom })
    this.lagged = false
    for (const event of this.log.slice(this.replayFrom, replayBatch)) {
      deliveries.push({ _tag: "Event", event })
      this.replayFrom++
    }
    if (this.replayFrom >= this.log.seq) this.goLive(deliveries)
    return deliveries
  }

  private ask(event: Event, answers: Answers, deliveries: Array<Delivery>): void {
    if (!takes(answers, event.msg.type === "elicitation_request")) return
    deliveries.push({ _tag: "Ask", event })
  }

  private goLive(deliveries: Array<Delivery>): void {
    for (const event of this.log.inProgress()) deliveries.push({ _tag: "Event", event })
    deliveries.push({ _tag: "Synced", seq: this.log.seq })
    if (this.answers !== undefined) {
      for (const event of this.log.openQuestions()) this.ask(event, this.answers, deliveries)
    }
    this.replayFrom = undefined
  }
}
