/** The delay before a retry, shared by the HTTP layer and the turn loop. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/**
 * 200 ms × 2^(attempt − 1) × a random factor in [0.9, 1.1), at most one minute; `attempt` counts from 1. Without the bound
 * the 100 retries that the configuration allows would take years.
 */
export const backoff = (attempt: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (r) =>
    Duration.millis(Math.min(200 * 2 ** (attempt - 1) * (0.9 + 0.2 * r), 60_000)),
  )
