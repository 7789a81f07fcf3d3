/**
 * The texts that are streamed and that no event has recorded yet, for listeners that attach in the middle of them: each text
 * in progress as one delta, and each section of a reasoning summary that a break has ended, since a summary is recorded as a
 * whole. The deltas that a listener concatenates are therefore always the whole text. Pieces are joined only when they are
 * read, or when their section ends. Holds as much text as one response of the model has.
 */
import {
  type Event,
  eventInfo,
  type EventMsg,
  isTextDelta,
  type TextDelta,
} from "@colloquy/protocol/EventMsg"

/** Types of the deltas whose text is complete, or discarded, once this event has happened. */
const completes = (msg: EventMsg): ReadonlyArray<string> => eventInfo(msg.type).completes

interface Pieces {
  readonly type: TextDelta["type"]
  readonly id: string
  readonly texts: Array<string>
}

/** A section of a reasoning summary that was streamed to its end. */
export interface EndedSection {
  /** Id of its submission. */
  readonly id: string
  /** Number of the section break that ends it. */
  readonly end: number
  /** All of it; never empty. */
  readonly text: string
  /** Number of the event that records it; undefined while it is not recorded. */
  record: number | undefined
}

const none: ReadonlyArray<Readonly<EndedSection>> = []

/** The texts in progress of one conversation. */
export class PartialTexts {
  /** Undefined while nothing is being streamed: most conversations are idle. */
  private pieces: Map<string, Pieces> | undefined
  private ended: Array<EndedSection> | undefined

  /** Folds the next event. */
  add({ id, msg, seq }: Event): void {
    if (isTextDelta(msg)) {
      const pieces = (this.pieces ??= new Map())
      const partial = pieces.get(msg.type)
      if (partial === undefined) pieces.set(msg.type, { type: msg.type, id, texts: [msg.delta] })
      else partial.texts.push(msg.delta)
      return
    }
    if (this.pieces === undefined && this.ended === undefined) return
    if (msg.type === "agent_reasoning_section_break") this.endSection(id, seq)
    // Sections are recorded in their order, before what is received behind them.
    else if (msg.type !== "agent_reasoning" || !this.recordSection(id, seq)) {
      this.complete(id, completes(msg))
    }
  }

  /** One delta per text in progress. */
  current(): ReadonlyArray<{ readonly id: string; readonly msg: EventMsg }> {
    return [...(this.pieces?.values() ?? [])].map(({ id, texts, type }) => ({
      id,
      msg: { type, delta: texts.join("") },
    }))
  }

  /**
   * The sections that were streamed to their end, oldest first: those that are not recorded, and those before them. A record
   * belongs to the oldest section that a listener has, which therefore must not lack one of these.
   */
  get sections(): ReadonlyArray<Readonly<EndedSection>> {
    return this.ended ?? none
  }

  private complete(id: string, types: ReadonlyArray<string>): void {
    for (const type of types) {
      // The end of a queued submission does not complete the texts of the running turn.
      if (this.pieces?.get(type)?.id === id) this.pieces.delete(type)
      if (type === "agent_reasoning_delta") this.dropSections((section) => section.id === id)
    }
    if (this.pieces?.size === 0) this.pieces = undefined
  }

  private endSection(id: string, end: number): void {
    const partial = this.pieces?.get("agent_reasoning_delta")
    if (partial?.id !== id) return
    const text = partial.texts.join("")
    if (text !== "") (this.ended ??= []).push({ id, end, text, record: undefined })
    this.pieces?.delete(partial.type)
    if (this.pieces?.size === 0) this.pieces = undefined
  }

  /** The event records the oldest section of the submission that is not recorded. False where there is none. */
  private recordSection(id: string, record: number): boolean {
    const section = this.ended?.find((one) => one.id === id && one.record === undefined)
    if (section === undefined) return false
    section.record = record
    if (this.ended?.every((one) => one.record !== undefined) === true) this.ended = undefined
    return true
  }

  private dropSections(isDropped: (section: EndedSection) => boolean): void {
    const left = this.ended?.filter((section) => !isDropped(section))
    this.ended = left?.length === 0 ? undefined : left
  }
}
