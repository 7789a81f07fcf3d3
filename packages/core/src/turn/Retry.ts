/** What lies between a request that failed and its repeat (§6.4). */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { backoff } from "./Backoff.ts"
import type { ModelError, ModelProvider } from "../ModelClient.ts"
import { streamError } from "./ModelEvents.ts"

/** Tells of the failure and waits; fails with it when it is not to be tried again. `attempt` counts from 1. */
export const beforeRetry = Effect.fnUntraced(function* (
  { streamMaxRetries }: ModelProvider,
  attempt: number,
  error: ModelError,
  tell: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>,
): Effect.fn.Return<void, ModelError> {
  if (!error.retryable || attempt > streamMaxRetries) return yield* error
  const delay =
    error.retryAfterMs === undefined ? yield* backoff(attempt) : Duration.millis(error.retryAfterMs)
  yield* tell([streamError(error.message, attempt, streamMaxRetries, Duration.toMillis(delay))])
  yield* Effect.sleep(delay)
})
