/** The earlier messages of `history.jsonl`, newest first, read one by one as a person asks for them. */
import { MessageHistory } from "@colloquy/store/MessageHistory"
import * as Effect from "effect/Effect"

/** Reads older messages, and writes new ones. */
export interface ChatHistory {
  /** The next older message; undefined when there is no more. */
  readonly older: Effect.Effect<string | undefined>
  /** Appends a message. A failure is logged: the message was sent. */
  readonly append: (conversationId: string, text: string) => Effect.Effect<void>
}

const logged = (error: { readonly message: string }) => Effect.logWarning(error.message)

/** Begins behind the newest message. */
export const make = Effect.gen(function* () {
  const history = yield* MessageHistory
  const start = yield* Effect.catch(history.metadata, (error) =>
    Effect.as(logged(error), { logId: 0, entryCount: 0 }),
  )
  let next = start.entryCount - 1
  const older: ChatHistory["older"] = Effect.gen(function* () {
    // A line that is not an entry is passed over.
    while (next >= 0) {
      const entry = yield* history.lookup(start.logId, next)
      next -= 1
      if (entry !== undefined) return entry.text
    }
    return undefined
  }).pipe(Effect.catch((error) => Effect.as(logged(error), undefined)))
  return {
    older,
    append: (conversationId, text) => Effect.catch(history.append(conversationId, text), logged),
  } satisfies ChatHistory
})
