/** Appends entries to the trace of one run and numbers its calls and conversations. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Entry } from "./Trace.ts"

/** An entry without its time. */
export type Happening = Entry extends infer E ? (E extends Entry ? Omit<E, "ms"> : never) : never

/** The trace of one run while it grows, with the slots and numbers of its conversations. */
export class Recorder {
  /** Every entry so far, in order. */
  readonly trace: Array<Entry> = []
  private readonly slots = new Map<string, { readonly slot: number; readonly ordinal: number }>()
  private calls = 0
  private readonly firstOrdinal: number

  /** @param firstOrdinal number of the first conversation; a restarted process gets another range, so that no name repeats */
  constructor(firstOrdinal = 0) {
    this.firstOrdinal = firstOrdinal
  }

  /** The number of the next call. */
  nextCall(): number {
    return this.calls++
  }

  /** Records the slot that a conversation was created for, and numbers the conversation. */
  own(conversation: string, slot: number): void {
    this.slots.set(conversation, { slot, ordinal: this.firstOrdinal + this.slots.size })
  }

  /** Ids of all conversations that have a slot. */
  get conversations(): ReadonlyArray<string> {
    return [...this.slots.keys()]
  }

  /** The slot of a conversation. */
  slotOf(conversation: string): number {
    return this.nameOf(conversation).slot
  }

  /** The number of a conversation; no two conversations share one. */
  ordinalOf(conversation: string): number {
    return this.nameOf(conversation).ordinal
  }

  /** An unknown conversation gets a new slot. */
  private nameOf(conversation: string) {
    if (!this.slots.has(conversation)) this.own(conversation, this.slots.size)
    return this.slots.get(conversation) ?? { slot: 0, ordinal: 0 }
  }

  /** Appends one entry with the current virtual time. */
  record(happening: Happening): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (ms) => this.push(ms, happening))
  }

  /** Appends one entry. */
  push(ms: number, happening: Happening): void {
    this.trace.push({ ms, ...happening })
  }
}
