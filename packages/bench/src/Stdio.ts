/** The benchmark `stdio`: the published program as a client of its standard streams uses it. */
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { deltas } from "./stdio/Deltas.ts"
import { pings } from "./stdio/Pings.ts"
import { start } from "./stdio/Start.ts"
import { turns } from "./stdio/Turns.ts"

/** How often each figure is taken; larger numbers take longer and vary less. */
export interface StdioCounts {
  readonly starts: number
  readonly turns: number
  readonly deltas: number
  readonly deltaTurns: number
  readonly pings: number
  readonly pingRuns: number
}

/** Takes about half a minute on two cores. */
export const full: StdioCounts = {
  starts: 20,
  turns: 300,
  deltas: 30_000,
  deltaTurns: 7,
  pings: 30_000,
  pingRuns: 5,
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: StdioCounts = {
  starts: 2,
  turns: 5,
  deltas: 300,
  deltaTurns: 2,
  pings: 200,
  pingRuns: 1,
}

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Path of the published entry, which loads the bundle. */
export const entry = pathOf("../../cli/bin/colloquy.mjs")

const peer = [pathOf("./peers/SdkServer.mjs")]

/**
 * Measures start, turns, deltas and pings, and prints one row per figure.
 *
 * @param bin entry of the program to measure
 */
export const stdio = Effect.fn("bench.stdio")(function* (counts: StdioCounts, bin: string) {
  const server = [bin, "mcp"]
  return [
    ...(yield* Effect.scoped(start({ server, peer, runs: counts.starts }))),
    ...(yield* Effect.scoped(turns({ server, turns: counts.turns }))),
    ...(yield* Effect.scoped(deltas({ server, deltas: counts.deltas, runs: counts.deltaTurns }))),
    ...(yield* Effect.scoped(pings({ server, peer, pings: counts.pings, runs: counts.pingRuns }))),
  ]
})
