/** The benchmark `app-server`: the published program's plain JSON-RPC, as an editor meets it over its standard streams. */
import * as Effect from "effect/Effect"
import { events } from "./app/Events.ts"
import { requests } from "./app/Requests.ts"

/** How often what is done; more takes longer and says the same more surely. */
export interface AppServerCounts {
  readonly requests: number
  readonly requestRuns: number
  /** Events of a turn to all its listeners together: with more listeners the model says less. */
  readonly deliveries: number
  readonly turns: number
}

/** Some half a minute on two cores. */
export const full: AppServerCounts = {
  requests: 20_000,
  requestRuns: 5,
  deliveries: 64_000,
  turns: 5,
}

/** To see that it runs; the figures mean nothing. */
export const quick: AppServerCounts = { requests: 100, requestRuns: 1, deliveries: 128, turns: 1 }

/** @param bin the entry to measure */
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
  return rows
})
