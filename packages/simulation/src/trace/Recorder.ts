/** Writes the trace of one run. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Entry } from "./Trace.ts"

type Happening = Entry extends infer E ? (E extends Entry ? Omit<E, "ms"> : never) : never

export class Recorder {
  readonly trace: Array<Entry> = []
  private readonly slots = new Map<string, { readonly slot: number; readonly ordinal: number }>()
  private calls = 0
  private readonly firstOrdinal: number

  /** @param firstOrdinal another one for a second life, so that nothing in it has the name of something in the first */
  constructor(firstOrdinal = 0) {
    this.firstOrdinal = firstOrdinal
  }

  /** The name of a call, in order. */
  nextCall(): number {
    return this.calls++
  }

  /** Which slot a conversation was made for. */
  own(conversation: string, slot: number): void {
    this.slots.set(conversation, { slot, ordinal: this.firstOrdinal + this.slots.size })
  }

  /** Those that have one. */
  get conversations(): ReadonlyArray<string> {
    return [...this.slots.keys()]
  }

  slotOf(conversation: string): number {
    return this.nameOf(conversation).slot
  }

  /** No two conversations share it. */
  ordinalOf(conversation: string): number {
    return this.nameOf(conversation).ordinal
  }

  /** One that nobody named gets a slot of its own. */
  private nameOf(conversation: string) {
    if (!this.slots.has(conversation)) this.own(conversation, this.slots.size)
    return this.slots.get(conversation) ?? { slot: 0, ordinal: 0 }
  }

  record(happening: Happening): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (ms) => {
      this.trace.push({ ms, ...happening })
    })
  }
}
