/** The benchmark `app-server`: plain JSON-RPC of the published program over its standard streams. */
import * as Effect from "effect/Effect"
import { events } from "./app/Events.ts"
import { requests } from "./app/Requests.ts"
import { versions } from "./app/Versions.ts"

/** How often each figure is taken; larger numbers take longer and vary less. */
export interface AppServerCounts {
  readonly requests: number
  readonly requestRuns: number
  /** Events delivered per turn to all listeners together; with more listeners the model produces fewer events. */
  readonly deliveries: number
  readonly turns: number
  /** Deltas of the model per turn where the versions are compared. */
  readonly versionDeltas: number
  /** Turns of each version where they are compared. */
  readonly versionTurns: number
}

/** Takes about three quarters of a minute on two cores. */
export const full: AppServerCounts = {
  requests: 20_000,
  requestRuns: 5,
  deliveries: 64_000,
  turns: 5,
  versionDeltas: 5000,
  versionTurns: 51,
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: AppServerCounts = {
  requests: 100,
  requestRuns: 1,
  deliveries: 128,
  turns: 1,
  versionDeltas: 64,
  versionTurns: 1,
}

/**
 * Measures requests and events, and prints one row per figure.
 *
 * @param bin entry of the program to measure
 */
export const appServer = Effect.fn("bench.appServer")(function* (
  counts: AppServerCounts,
  bin: string,
) {
  const server = [bin, "app-server"]
  const rows = [
    ...(yield* Effect.scoped(
      requests({ server, requests: counts.requests, runs: counts.requestRuns }),
    )),
  ]
  for (const listeners of [1, 8, 64]) {
    rows.push(
      yield* events({ server, listeners, deliveries: counts.deliveries, runs: counts.turns }),
    )
  }
  rows.push(
    ...(yield* versions({ server, deltas: counts.versionDeltas, runs: counts.versionTurns })),
  )
  return rows
})
