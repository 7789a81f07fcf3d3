/** The delay before a retry (§6.4), shared by the HTTP layer and the turn loop. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** 200 ms × 2^(attempt − 1) × a random factor in [0.9, 1.1); `attempt` counts from 1. Capped at one minute: the original's 100 retries would wait for ages. */
export const backoff = (attempt: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (r) =>
    Duration.millis(Math.min(200 * 2 ** (attempt - 1) * (0.9 + 0.2 * r), 60_000)),
  )
