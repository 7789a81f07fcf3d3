/**
 * Port: where conversations are kept that are not loaded. The manager alone calls it, one call at a time for one
 * conversation; what it saved last is what `load` gives. Never decides what is kept, or when.
 */
import type { Event } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { ConversationSettings } from "./ConversationSettings.ts"
import type { Receipts } from "./Receipts.ts"

/** Everything a conversation needs to go on as if nothing had been. */
export interface StoredConversation {
  /** Those in force at the end of the log. */
  readonly settings: ConversationSettings
  /** The whole log: `events[n].seq === n`. */
  readonly events: ReadonlyArray<Event>
  /** What makes a repeated submission harmless; a store that cannot keep them leaves them out. */
  readonly receipts?: Receipts
}

/** The store could not do it; `message` says what went wrong, without the contents of the conversation. */
export class StoreError extends Schema.TaggedError<StoreError>()("StoreError", {
  operation: Schema.Literals(["save", "load", "remove", "list"]),
  message: Schema.String,
}) {}

export class ConversationStore extends Context.Service<
  ConversationStore,
  {
    /** Replaces what is kept under the id, as a whole: after a failure `load` gives what it gave before. */
    readonly save: (
      id: ConversationId,
      conversation: StoredConversation,
    ) => Effect.Effect<void, StoreError>
    /** Undefined when nothing is kept under the id. Keeps it. */
    readonly load: (id: ConversationId) => Effect.Effect<StoredConversation | undefined, StoreError>
    /** Forgets it; nothing happens when nothing is kept under the id. */
    readonly remove: (id: ConversationId) => Effect.Effect<void, StoreError>
    /** What is kept, oldest conversation first. Asked once, when a manager starts. */
    readonly list: Effect.Effect<ReadonlyArray<ConversationId>, StoreError>
  }
>()("@colloquy/core/ConversationStore") {
  /** A map that lives as long as the layer. The events are shared with who saved them, not copied. */
  static readonly layerMemory = Layer.sync(this, () => {
    const kept = new Map<ConversationId, StoredConversation>()
    return {
      save: (id, conversation) =>
        Effect.sync(() => {
          kept.set(id, conversation)
        }),
      load: (id) => Effect.sync(() => kept.get(id)),
      remove: (id) =>
        Effect.sync(() => {
          kept.delete(id)
        }),
      list: Effect.sync(() => [...kept.keys()]),
    }
  })
}
