/**
 * What a conversation is and what it has said: its state in a `Ref`, its event log, and its listeners; and what it has
 * decided to say that is not recorded yet.
 *
 * Decisions are staged, recorded, and then committed together: log, state and listeners change at once, before the
 * conversation lets anything else run, so that nobody ever finds one of them ahead of another (L4), nor anything that is not
 * on record (L10). Decides nothing, and records nothing itself.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import * as MutableRef from "effect/MutableRef"
import * as Ref from "effect/Ref"
import type { ConversationUnavailable } from "../ConversationErrors.ts"
import { numberDrafts, project, type State } from "../decider/State.ts"
import type { Decision, Input } from "../decider/Decision.ts"
import type { EventLog } from "../log/EventLog.ts"
import { recordsOf } from "../decider/LogRecords.ts"
import { Listeners } from "../listeners/Listeners.ts"
import type { LogRecord } from "../LogRecord.ts"

const none: ReadonlyArray<never> = []

export class Journal {
  readonly state: Ref.Ref<State>
  readonly log: EventLog
  readonly listeners: Listeners
  /** What the state becomes with the commit. */
  private staged: State
  private events: Array<Event> | undefined
  private unrecorded: Array<LogRecord> | undefined

  /** `log` holds the events that `state` follows from. */
  constructor(log: EventLog, state: State, maxListeners?: number) {
    this.log = log
    this.listeners = new Listeners(log, maxListeners)
    this.state = Ref.makeUnsafe(state)
    this.staged = state
  }

  /** As everybody sees it. */
  get now(): State {
    return Ref.getUnsafe(this.state)
  }

  /** As the next decision finds it. */
  get head(): State {
    return this.staged
  }

  /** What has to be recorded before the commit, in order. */
  get records(): ReadonlyArray<LogRecord> {
    return this.unrecorded ?? none
  }

  /** Numbers the events of a decision on the head; nobody sees them yet. */
  stage(input: Input | undefined, decision: Decision, atMs: number): void {
    const before = this.staged
    const events = numberDrafts(decision.state.seq, decision.events)
    const records = recordsOf(before, input, decision, events, atMs)
    // Not spread: a model that says a million deltas at once would overflow the stack.
    if (events.length > 0) {
      this.events ??= []
      for (const event of events) this.events.push(event)
    }
    if (records.length > 0) {
      this.unrecorded ??= []
      for (const record of records) this.unrecorded.push(record)
    }
    this.staged = events.reduce(project, decision.state)
  }

  /** What was staged is recorded: it is so from now on, and the listeners are given it. */
  commit(): void {
    const { events } = this
    this.events = undefined
    this.unrecorded = undefined
    MutableRef.set(this.state.ref, this.staged)
    if (events === undefined) return
    this.log.append(events)
    this.listeners.publish(events)
  }

  /** What was staged could not be recorded: it never was. Nothing may be staged any more. */
  drop(): void {
    this.events = undefined
    this.unrecorded = undefined
  }

  /** Nothing more will be committed. `because`: nothing can be recorded any more. */
  end(because?: ConversationUnavailable): void {
    this.listeners.end(because)
  }
}
