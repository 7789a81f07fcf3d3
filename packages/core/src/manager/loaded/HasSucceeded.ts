/** How a transition of a conversation between memory and store ended, for callers that only wait for it. */
import * as Effect from "effect/Effect"
import type { ConversationUnavailable } from "../../ConversationErrors.ts"

/**
 * True when the transition succeeded, false when it failed. The reason of a failure is logged by `Storage` and given to
 * the caller that started the transition.
 */
export const hasSucceeded = (
  transition: Effect.Effect<void, ConversationUnavailable>,
): Effect.Effect<boolean> =>
  transition.pipe(
    Effect.as(true),
    Effect.catch(() => Effect.succeed(false)),
  )
