/**
 * The text so far of items that are still being streamed. A listener that attaches in the middle of an item gets it as one
 * delta, so that the deltas it concatenates are always the whole text. Pieces are joined only when they are read.
 */
import { eventInfo, type EventMsg, isTextDelta, type TextDelta } from "@colloquy/protocol/EventMsg"

/** Types of the deltas whose text is complete, or discarded, once this event has happened. */
const completes = (msg: EventMsg): ReadonlyArray<string> => eventInfo(msg.type).completes

/** The texts in progress of one conversation. */
export class PartialTexts {
  /** Undefined while nothing is being streamed: most conversations are idle. */
  private pieces:
    | Map<string, { type: TextDelta["type"]; id: string; texts: Array<string> }>
    | undefined

  /** Folds the next event; `id` is its submission. */
  add(id: string, msg: EventMsg): void {
    if (isTextDelta(msg)) {
      const pieces = (this.pieces ??= new Map())
      const partial = pieces.get(msg.type)
      if (partial === undefined) pieces.set(msg.type, { type: msg.type, id, texts: [msg.delta] })
      else partial.texts.push(msg.delta)
      return
    }
    if (this.pieces === undefined) return
    for (const type of completes(msg)) {
      // The end of a queued submission does not complete the texts of the running turn.
      if (this.pieces.get(type)?.id === id) this.pieces.delete(type)
    }
    if (this.pieces.size === 0) this.pieces = undefined
  }

  /** One delta per text in progress. */
  current(): ReadonlyArray<{ readonly id: string; readonly msg: EventMsg }> {
    return [...(this.pieces?.values() ?? [])].map(({ id, texts, type }) => ({
      id,
      msg: { type, delta: texts.join("") },
    }))
  }
}
