/** The wait between a failed request and its retry. */
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { backoff } from "./Backoff.ts"
import type { ModelError, ModelProvider } from "../ModelClient.ts"
import { streamError } from "./ModelEvents.ts"

/**
 * Emits `stream_error` and waits until the retry. Fails with the error when it is not retryable or the provider's retries
 * are used up. `attempt` counts from 1.
 */
export const beforeRetry = Effect.fnUntraced(function* (
  { streamMaxRetries }: ModelProvider,
  attempt: number,
  error: ModelError,
  emit: (messages: ReadonlyArray<EventMsg>) => Effect.Effect<void>,
): Effect.fn.Return<void, ModelError> {
  if (!error.retryable || attempt > streamMaxRetries) return yield* error
  const delay =
    error.retryAfterMs === undefined ? yield* backoff(attempt) : Duration.millis(error.retryAfterMs)
  yield* emit([streamError(error.message, attempt, streamMaxRetries, Duration.toMillis(delay))])
  yield* Effect.sleep(delay)
})
