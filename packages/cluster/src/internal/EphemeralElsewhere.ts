/**
 * What is known about an ephemeral conversation that another node has: no store has it, so that its owner is asked. Fails
 * with `NoSuchConversation` where the owner does not know it either, and in bounded time where the owner does not respond.
 */
import { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { AttachError } from "@colloquy/core/ConversationErrors"
import type { Access, GetError } from "@colloquy/core/ConversationManager"
import type { ConversationSummary } from "@colloquy/core/ConversationStore"
import type { Listener, ListenerEnd } from "@colloquy/core/listeners/Listener"
import { eventRecord, type RecordOf } from "@colloquy/core/LogRecord"
import { StoreError } from "@colloquy/core/StoreErrors"
import { defined } from "@colloquy/protocol/Defined"
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import type { ConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Routing } from "./Routing.ts"

/** Callers have a case for a store that cannot be asked, and none for a node. */
const storeError = (operation: "metadata" | "read", message: string): StoreError =>
  new StoreError({ operation, reason: "Unreachable", message })

/** Asks the owner for the metadata. One call, and no statement of the database. */
export const metadataElsewhere = (
  routing: Routing,
  id: ConversationId,
  access: Access | undefined,
): Effect.Effect<ConversationSummary, NoSuchConversation | StoreError> =>
  routing
    .call(id, ({ calls, isOwn }) =>
      isOwn
        ? Effect.fail(new NoSuchConversation({ id }))
        : calls.Metadata({ id, ...defined({ access }) }),
    )
    .pipe(
      Effect.mapError((error) =>
        error._tag === "NoSuchConversation" || error._tag === "StoreError"
          ? error
          : storeError("metadata", error.message),
      ),
    )

/** Takes the events of the log until the listener has got all that are recorded. */
const recorded = Effect.fnUntraced(function* (
  attaching: Effect.Effect<Listener, GetError | AttachError, Scope.Scope>,
): Effect.fn.Return<
  ReadonlyArray<RecordOf<"Event">>,
  GetError | AttachError | ListenerEnd,
  Scope.Scope
> {
  const listener = yield* attaching
  const records: Array<RecordOf<"Event">> = []
  while (true) {
    for (const delivery of yield* listener.take) {
      if (delivery._tag === "Synced") return records
      if (delivery._tag !== "Event" || isEphemeral(delivery.event.msg)) continue
      records.push(eventRecord(delivery.atMs, delivery.event))
    }
  }
})

/** The events of its log, by a listener that is attached from the first one on. */
export const historyElsewhere = (
  id: ConversationId,
  attaching: Effect.Effect<Listener, GetError | AttachError, Scope.Scope>,
): Effect.Effect<ReadonlyArray<RecordOf<"Event">>, NoSuchConversation | StoreError> =>
  Effect.mapError(Effect.scoped(recorded(attaching)), (error) => {
    if (error._tag === "NoSuchConversation") return error
    // The conversation was removed meanwhile.
    if (error._tag === "Done") return new NoSuchConversation({ id })
    return storeError("read", error.message)
  })
