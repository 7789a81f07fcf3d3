/** Draws a plan of a cluster from a seed: that of several nodes, with faults between the nodes. Pure (L12). */
import { SeededRandom } from "../../SeededRandom.ts"
import type { CallFault, ClusterSetup, NodeFault, NodesPlan } from "../NodePlan.ts"
import { nodesPlanOf } from "../NodeWorkload.ts"

/** Time in which faults begin. */
const faultsUntilMs = 25_000

const callFaults = (draws: SeededRandom): ReadonlyArray<CallFault> =>
  draws.chance(0.6)
    ? Array.from({ length: 1 + draws.below(6) }, () => ({
        call: draws.below(40),
        how: draws.pick("lost", "lost answer", "lost answer", "late", "twice"),
        // Shorter and longer than a caller waits.
        ms: draws.pick(50, 700, 5_000, 18_000),
      }))
    : []

const clusterSetup = (draws: SeededRandom, nodes: number): ClusterSetup => ({
  delayMs: draws.pick(0, 1, 30, 200),
  patienceMs: draws.pick(6_000, 30_000, 30_000),
  drainWithinMs: draws.pick(0, 1_500, 6_000, 25_000),
  split: draws.chance(0.1) ? 1 : nodes,
  callFaults: Array.from({ length: nodes }, () => callFaults(draws)),
})

const fault = (draws: SeededRandom, nodes: number): NodeFault => {
  const node = draws.below(nodes)
  const at = { atMs: draws.below(faultsUntilMs), node }
  if (draws.chance(0.6)) return { ...at, do: "move" }
  const from = node + 1 + draws.below(nodes - 1)
  return {
    ...at,
    do: "part",
    from: from % nodes,
    how: draws.pick("silent", "refused"),
    ms: draws.pick(1_000, 6_000, 12_000, 20_000),
  }
}

/** Every fourth group of eight clusters: one in four, of which some are run twice (L12). */
const runsTurns = (seed: number): boolean => (seed >> 8) % 4 === 2

const clusterPlanOf = (seed: number): NodesPlan => {
  const plan = nodesPlanOf(seed)
  const draws = new SeededRandom(Math.imul(seed + 11, 0x85ebca6b))
  const nodes = plan.nodes.length
  const more = Array.from({ length: draws.below(6) }, () => fault(draws, nodes))
  return {
    ...plan,
    cluster: { ...clusterSetup(draws, nodes), ...(runsTurns(seed) ? { runsTurns: true } : {}) },
    faults: [...plan.faults, ...more].toSorted((a, b) => a.atMs - b.atMs),
  }
}

/** The plan of a seed: every second one is that of a cluster. */
export const nodesOrClusterPlanOf = (seed: number): NodesPlan =>
  (seed >> 4) % 2 === 0 ? clusterPlanOf(seed) : nodesPlanOf(seed)
