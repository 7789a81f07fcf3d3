/**
 * The store as the manager uses it: in bounded time, so that one that does not answer holds up no start or shutdown, and
 * checked, so that what is loaded is a whole log.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { ConversationUnavailable } from "./ConversationErrors.ts"
import type { Entry } from "./ConversationManagerEntry.ts"
import { type ConversationStore, type StoredConversation, StoreError } from "./ConversationStore.ts"

/** One call of the store. */
const storeBound = Duration.seconds(10)

export const unavailable = (entry: Entry, reason: string): ConversationUnavailable =>
  new ConversationUnavailable({ id: entry.id, reason })

/** Waiting for the answer can be interrupted, whatever surrounds it. */
export const ask = <A>(
  operation: StoreError["operation"],
  call: Effect.Effect<A, StoreError>,
): Effect.Effect<A, StoreError> =>
  Effect.interruptible(call).pipe(
    Effect.timeoutOrElse({
      duration: storeBound,
      orElse: () =>
        Effect.fail(new StoreError({ operation, message: "the store did not answer in time" })),
    }),
  )

const isWhole = ({ events }: StoredConversation): boolean =>
  events[0]?.msg.type === "session_configured" && events.every(({ seq }, i) => seq === i)

export interface Storage {
  /** Fails, logged, when the store did not take it, for whatever reason. */
  readonly save: (
    entry: Entry,
    conversation: StoredConversation,
  ) => Effect.Effect<void, ConversationUnavailable>
  /** Fails, logged, when the store does not have it, or not as a whole. */
  readonly load: (entry: Entry) => Effect.Effect<StoredConversation, ConversationUnavailable>
  /** Nothing is asked of a store that never had it. */
  readonly remove: (entry: Entry) => Effect.Effect<void, StoreError>
}

export const make = (store: ConversationStore["Service"]): Storage => ({
  save: (entry, conversation) =>
    ask("save", store.save(entry.id, conversation)).pipe(
      Effect.map(() => {
        entry.stored = true
      }),
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logError(`conversation ${entry.id} stays in memory`, cause),
          Effect.fail(unavailable(entry, "it could not be stored")),
        ),
      ),
    ),
  load: (entry) =>
    ask("load", store.load(entry.id)).pipe(
      Effect.catchCause((cause) =>
        Effect.andThen(
          Effect.logError(`conversation ${entry.id} is not loaded`, cause),
          Effect.fail(unavailable(entry, "it could not be loaded")),
        ),
      ),
      Effect.flatMap((found) => {
        if (found === undefined) return Effect.fail(unavailable(entry, "the store has lost it"))
        return isWhole(found)
          ? Effect.succeed(found)
          : Effect.fail(unavailable(entry, "what the store has of it is not a whole log"))
      }),
    ),
  remove: (entry) =>
    Effect.suspend(() =>
      entry.stored
        ? Effect.map(ask("remove", store.remove(entry.id)), () => {
            entry.stored = false
          })
        : Effect.void,
    ),
})
