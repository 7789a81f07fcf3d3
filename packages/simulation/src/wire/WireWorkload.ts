/** Draws the plan of a wire run from a seed. Pure (L12). */
import { SeededRandom } from "../SeededRandom.ts"
import { modelPlan } from "../scenario/Workload.ts"
import type { Garbage, WireClientPlan, WirePlan, WireReading, WireStep } from "./WirePlan.ts"

const garbage = (draws: SeededRandom): Garbage =>
  draws.pick<Garbage>(
    ...(["noise", "batch", "not UTF-8", "too long", "no method"] as const),
    ...(["bad params", "no tool", "bad arguments", "answer to nothing"] as const),
  )

const step = (draws: SeededRandom, connection: number, id: number): WireStep => {
  const text = `w${connection}.${id}.`
  const roll = draws.below(100)
  if (roll < 8) return { do: "hello", id }
  if (roll < 20) return { do: "pulse", id }
  if (roll < 40) return { do: "codex", id, text }
  if (roll < 55) {
    return { do: "reply", id, text, to: draws.pick("own", "own", "any", "unknown") }
  }
  if (roll < 67) return { do: "cancel", id: draws.below(Math.max(1, id)) }
  if (roll < 80) return { do: "garbage", id, what: garbage(draws) }
  // The id of a request that may still be served.
  if (roll < 82) return { do: "pulse", id: draws.below(Math.max(1, id)) }
  if (roll < 91) return { do: "pause", ms: draws.pick(1, 50, 250, 1_500) }
  return { do: "yield", times: 1 + draws.below(30) }
}

const reading = (draws: SeededRandom): WireReading =>
  draws.pick<WireReading>(
    ...([{ how: "fast" }, { how: "fast" }, { how: "fast" }] as const),
    { how: "slow", ms: 1 + draws.below(50) },
    { how: "stops", takes: draws.below(5) },
  )

const client = (draws: SeededRandom, connection: number): WireClientPlan => ({
  capacity: draws.pick(1, 4, 16, 16),
  reading: reading(draws),
  steps: Array.from({ length: 2 + draws.below(9) }, (_, id) => step(draws, connection, id)),
  ends: draws.chance(0.8) ? "closes" : "drops",
})

/** Starts a conversation, listens to it and replies there. */
const listening = (draws: SeededRandom, connection: number): ReadonlyArray<WireStep> => [
  { do: "codex", id: 100, text: `w${connection}.100.` },
  { do: "yield", times: 10 + draws.below(200) },
  {
    do: "listen",
    id: 101,
    raw: draws.chance(0.3),
    ...(draws.chance(0.7) ? { after: -1 } : {}),
  },
  { do: "yield", times: 1 + draws.below(50) },
  { do: "reply", id: 102, text: `w${connection}.102.`, to: "own" },
  { do: "pause", ms: draws.pick(1, 250, 1_500) },
]

/** Uses a separate random stream, so that an additional draw here does not change the rest of the plan. */
const withListeners = (plan: WirePlan): WirePlan => {
  const draws = new SeededRandom(Math.imul(plan.seed + 1, 0xc2b2ae35))
  const connections = plan.connections.map((one, i) =>
    draws.chance(0.7) ? { ...one, steps: [...one.steps, ...listening(draws, i)] } : one,
  )
  const appendFaults = draws.chance(0.5) ? [draws.below(24)] : []
  return { ...plan, connections, appendFaults }
}

/** The plan of a seed. */
export const wirePlanOf = (seed: number): WirePlan => {
  const draws = new SeededRandom(Math.imul(seed + 1, 0x85ebca6b))
  return withListeners({
    seed,
    model: Array.from({ length: 1 + draws.below(5) }, () => modelPlan(draws)),
    connections: Array.from({ length: 1 + draws.below(3) }, (_, i) => client(draws, i)),
    appendFaults: [],
  })
}
