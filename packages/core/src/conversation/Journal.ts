/**
 * The state of a conversation in a `Ref`, its event log and its listeners, and the decisions that are not recorded yet.
 *
 * ```
 *             stage                     records                  commit
 *   decision ───────▶ staged, numbered ─────────▶ (the store) ──────────▶ state, log and listeners
 *                            │
 *                            └── discard: it could not be recorded and never happened
 * ```
 *
 * What a conversation begins with may be held: it is staged, and it is recorded together with the first records that
 * follow. Until then nothing is committed.
 *
 * `commit` changes state, log and listeners in one step, before any other fiber runs, so that no reader ever finds one of
 * them ahead of another (L4), nor anything that is not recorded (L10). Decides nothing, and records nothing itself.
 */
import { defined } from "@colloquy/protocol/Defined"
import type { Event } from "@colloquy/protocol/EventMsg"
import * as MutableRef from "effect/MutableRef"
import * as Ref from "effect/Ref"
import type { ConversationUnavailable } from "../ConversationErrors.ts"
import { numberDrafts, project, type State } from "../decider/State.ts"
import type { Decision, Input } from "../decider/Decision.ts"
import type { EventLog } from "../log/EventLog.ts"
import { userMessagesFrom } from "../log/Reverted.ts"
import { recordsOf } from "../decider/LogRecords.ts"
import { Listeners } from "../listeners/Listeners.ts"
import type { LogRecord } from "../LogRecord.ts"
import type { Step } from "../turn/TurnPort.ts"

const none: ReadonlyArray<never> = []

/** State, event log, listeners and staged events of one conversation. */
export class Journal {
  /** The committed state. Written by `commit` alone. */
  readonly state: Ref.Ref<State>
  /** The committed durable events. */
  readonly log: EventLog
  readonly listeners: Listeners
  /** The state after the next commit. */
  private staged: State
  private events: Array<Event> | undefined
  private unrecorded: Array<LogRecord> | undefined
  /** How many of the staged events and records are held. Absent from the first commit on, and where nothing was held. */
  private held: { readonly events: number; readonly records: number } | undefined
  /** True until settings are recorded, where the conversation was loaded with other ones than the log has. */
  private hasOtherSettings: boolean

  /** `log` holds the events that `state` follows from; `maxListeners` as in `ConversationOptions`. */
  constructor(log: EventLog, state: State, maxListeners?: number, hasOtherSettings = false) {
    this.log = log
    this.hasOtherSettings = hasOtherSettings
    this.listeners = new Listeners(log, maxListeners)
    this.state = Ref.makeUnsafe(state)
    this.staged = state
  }

  /** The committed state, which clients see. Read without an effect: the conversation's fiber reads it for every decision. */
  get current(): State {
    return Ref.getUnsafe(this.state)
  }

  /** The input with what its decision needs to know of the log. */
  informed(input: Input): Input {
    if (input._tag !== "Submit" || input.op.type !== "revert") return input
    const dropped = userMessagesFrom(this.allEvents, input.op.turn_id)
    return { ...input, ...defined({ dropped }) }
  }

  /** The state after everything that is staged. The next decision starts from it. */
  get head(): State {
    return this.staged
  }

  /** Every durable event, and those that are staged. Clients see the committed ones only. */
  get allEvents(): ReadonlyArray<Event> {
    const { events, log } = this
    return events === undefined ? log.all() : [...log.all(), ...events]
  }

  /** What has to be recorded before the commit, in order. */
  get records(): ReadonlyArray<LogRecord> {
    return this.unrecorded ?? none
  }

  /** True while nothing but what is held waits to be recorded. */
  get isHolding(): boolean {
    const { events = none, held, unrecorded = none } = this
    return held !== undefined && events.length === held.events && unrecorded.length === held.records
  }

  /**
   * Stages what the conversation begins with, before anything else is staged: its first records, the events in them and
   * the state after them.
   */
  hold(records: ReadonlyArray<LogRecord>, events: ReadonlyArray<Event>, state: State): void {
    this.unrecorded = [...records]
    this.events = [...events]
    this.staged = state
    this.held = { events: events.length, records: records.length }
  }

  /** Numbers the events of a decision that starts from `head`; no reader sees them before `commit`. */
  stage(input: Input | undefined, decision: Decision, atMs: number): void {
    const before = this.staged
    const events = numberDrafts(decision.state.seq, decision.events)
    const records = recordsOf(before, input, decision, events, atMs, this.hasOtherSettings)
    this.hasOtherSettings &&= !records.some(({ _tag }) => _tag === "Settings")
    // Not spread: a model that streams a million deltas at once would overflow the stack.
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

  /** The parts of the next request of the turn. Contains what is staged, which is committed before anything else is staged. */
  nextStep(): Step {
    const { events, log, staged } = this
    if (events !== undefined) log.foldAhead(events)
    return {
      history: log.history(),
      seq: staged.seq - 1,
      usage: staged.usage,
      tokens: log.tokens(),
    }
  }

  /**
   * Makes the staged state current, appends its events to the log and publishes them, and returns them. Call it after
   * recording them.
   */
  commit(): ReadonlyArray<Event> {
    const { events, records } = this
    this.events = undefined
    this.unrecorded = undefined
    this.held = undefined
    MutableRef.set(this.state.ref, this.staged)
    if (events === undefined) return none
    // Every durable event has a record, in the same order.
    const times: Array<number> = []
    for (const record of records) if (record._tag === "Event") times.push(record.atMs)
    this.log.append(events, times)
    this.listeners.publish(events)
    return events
  }

  /** Drops what was staged, because it could not be recorded. Nothing may be staged any more. */
  discard(): void {
    this.held = undefined
    this.events = undefined
    this.unrecorded = undefined
  }

  /** Ends the listeners: nothing more will be committed. `because`: nothing can be recorded any more. */
  end(because?: ConversationUnavailable): void {
    this.listeners.end(because)
  }
}
