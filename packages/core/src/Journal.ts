/**
 * What a conversation is and what it has said: its state in a `Ref`, its event log, and its listeners.
 *
 * The three go together: what is recorded is in log and state at once, and is published before the conversation lets
 * anything else run, so that nobody ever finds one of them ahead of another (L4). Decides nothing.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as MutableRef from "effect/MutableRef"
import * as Ref from "effect/Ref"
import type { ConversationOptions } from "./ConversationHandle.ts"
import type { ConversationSettings } from "./ConversationSettings.ts"
import { type Draft, initial, number, project, type State } from "./ConversationState.ts"
import { EventLog } from "./EventLog.ts"
import { Listeners } from "./Listeners.ts"
import { opening } from "./Opening.ts"
import { closeUnfinished, restore } from "./Restore.ts"

export class Journal {
  readonly state: Ref.Ref<State>
  readonly log = new EventLog()
  readonly listeners: Listeners
  private unpublished: Array<Event> = []

  /** Begins with the opening events, or goes on from what there is. */
  constructor(id: ConversationId, settings: ConversationSettings, options: ConversationOptions) {
    const { existing, maxListeners } = options
    this.listeners = new Listeners(this.log, maxListeners)
    if (existing === undefined) {
      this.state = Ref.makeUnsafe(initial(settings))
      this.record(this.now, opening(id, settings))
    } else {
      this.log.append(existing.events)
      this.state = Ref.makeUnsafe(restore(settings, existing))
      this.record(this.now, closeUnfinished(this.now, this.log.openQuestions()))
    }
    this.publish()
  }

  get now(): State {
    return Ref.getUnsafe(this.state)
  }

  /** Numbers the drafts and appends them; the state becomes what follows from `state` by them. */
  record(state: State, drafts: ReadonlyArray<Draft>): void {
    const events = number(state.seq, drafts)
    this.log.append(events)
    // Not spread: a model that says a million deltas at once would overflow the stack.
    for (const event of events) this.unpublished.push(event)
    MutableRef.set(this.state.ref, events.reduce(project, state))
  }

  /** Gives the listeners what was recorded since the last time. */
  publish(): void {
    const events = this.unpublished
    if (events.length === 0) return
    this.unpublished = []
    this.listeners.publish(events)
  }

  /** Nothing more will be recorded. */
  end(): void {
    this.publish()
    this.listeners.end()
  }
}
