/** Draws a plan of several nodes from a seed: few conversations, clients, followers and faults, small enough to read. Pure (L12). */
import type { Answering, ModelEnd, ModelPlan, ToolPlan } from "../scenario/Plan.ts"
import { SeededRandom } from "../SeededRandom.ts"
import { lostLeases } from "./LostLeases.ts"
import type { CommitFault, NodeAction, NodeFault, NodeSetup, NodesPlan } from "./NodePlan.ts"

/** Turns last long enough that faults meet them. `calm`: none takes for ever. */
const modelPlan = (draws: SeededRandom, calm: boolean): ModelPlan => ({
  pieces: 1 + draws.below(4),
  reasoning: draws.chance(0.2) ? 1 : 0,
  pieceMs: draws.pick(0, 1, 100, 400, 900),
  calls: draws.chance(0.5)
    ? Array.from({ length: 1 + draws.below(2) }, () =>
        calm
          ? draws.pick<ToolPlan>("ok", "slow", "slow", "emits")
          : draws.pick<ToolPlan>("ok", "asks", "asks", "asks", "slow", "emits", "hang", "stubborn"),
      )
    : [],
  end: draws.pick<ModelEnd>(
    ...(["completed", "completed", "completed", "completed", "completed"] as const),
    ...(["error", "retryable", calm ? "completed" : "hang"] as const),
  ),
})

const commitFaults = (draws: SeededRandom): ReadonlyArray<CommitFault> =>
  draws.chance(0.4)
    ? Array.from({ length: 1 + draws.below(4) }, () => ({
        commit: draws.below(50),
        how: draws.pick("before", "after"),
      }))
    : []

const minute = 60_000

const nodeSetup = (draws: SeededRandom): NodeSetup => ({
  skewMs: draws.chance(0.25) ? draws.pick(-minute, minute) : 0,
  commitFaults: commitFaults(draws),
})

/** Time in which faults begin. */
const faultsUntilMs = 25_000

const fault = (draws: SeededRandom, nodes: number): ReadonlyArray<NodeFault> => {
  const at = { atMs: draws.below(faultsUntilMs), node: draws.below(nodes) }
  // Shorter and longer than a lease.
  const ms = draws.pick(1_000, 6_000, 12_000, 20_000)
  const again = { ...at, atMs: at.atMs + draws.pick(0, 500, 4_000, 15_000), do: "start" } as const
  const roll = draws.below(100)
  if (roll < 32) return [{ ...at, do: "kill" }, ...(draws.chance(0.8) ? [again] : [])]
  if (roll < 52) return [{ ...at, do: "stop", ms }]
  if (roll < 67) return [{ ...at, do: "drain" }, again]
  if (roll < 85) return [{ ...at, do: "cut", how: draws.pick("silent", "refused"), ms }]
  if (roll < 95) return [{ ...at, do: "slow", delayMs: draws.pick(20, 150, 500), ms }]
  return [{ ...at, do: "down", ms: draws.pick(1_000, 4_000, 12_000) }]
}

/** Counts of the texts and followers that the plan has named so far. */
interface Names {
  texts: number
  followers: number
}

const answering = (draws: SeededRandom): Answering =>
  draws.pick("approved", "approved", "denied", "approved_for_session", "abort", "silent")

interface Shape {
  readonly nodes: number
  readonly slots: number
}

const follow = (draws: SeededRandom, slot: number, shape: Shape, names: Names): NodeAction => ({
  do: "follow",
  node: draws.below(shape.nodes),
  slot,
  follower: `f${names.followers++}`,
  from: draws.pick(0, 0, 0, 1, 3),
  ...(draws.chance(0.7) ? { answering: answering(draws) } : {}),
})

const action = (draws: SeededRandom, shape: Shape, names: Names): NodeAction => {
  const node = draws.below(shape.nodes)
  const slot = draws.below(shape.slots)
  const roll = draws.below(100)
  if (roll < 42) {
    const text = `u${names.texts++}.`
    return {
      do: "send",
      node,
      slot,
      text,
      whileRunning: draws.pick("queue", "wait", "wait", "reject", "interrupt"),
      ...(draws.chance(0.7) ? { id: `i${text}` } : {}),
    }
  }
  if (roll < 50) return { do: "interrupt", node, slot }
  if (roll < 54)
    return { do: "fork", node, slot, into: draws.below(shape.slots), n: draws.below(3) }
  if (roll < 57) return { do: "archive", node, slot }
  if (roll < 60) return { do: "unarchive", node, slot }
  if (roll < 63) return { do: "rename", node, slot, name: `n${names.texts++}` }
  if (roll < 66) return { do: "list", node }
  return { do: "pause", node, ms: draws.pick(50, 800, 2_500, 6_000) }
}

/** The plan of a seed. */
export const nodesPlanOf = (seed: number): NodesPlan => {
  const draws = new SeededRandom(Math.imul(seed + 7, 0x9e3779b1))
  const shape = { nodes: 2 + draws.below(2), slots: 1 + draws.below(2) }
  const names: Names = { texts: 0, followers: 0 }
  const slots = Array.from({ length: shape.slots }, (_, slot) => slot)
  const creates = slots.map((slot) => ({
    do: "create" as const,
    node: draws.below(shape.nodes),
    slot,
  }))
  const follows = slots.flatMap((slot) =>
    Array.from({ length: 1 + draws.below(2) }, () => follow(draws, slot, shape, names)),
  )
  const clients = Array.from({ length: 1 + draws.below(3) }, () =>
    Array.from({ length: 3 + draws.below(7) }, () => action(draws, shape, names)),
  )
  const [first = [], ...others] = clients
  const calm = draws.chance(0.3)
  const lost = lostLeases(seed, creates, shape.nodes)
  return {
    seed,
    nodes: Array.from({ length: shape.nodes }, () => nodeSetup(draws)),
    deadlineMs: draws.pick(8_000, 40_000),
    onRestart: draws.pick("close", "close", "continue"),
    model: Array.from({ length: 1 + draws.below(5) }, () => modelPlan(draws, calm)),
    clients: [
      [...creates, ...follows, ...first],
      ...others.map((actions): ReadonlyArray<NodeAction> => [
        { do: "pause", node: 0, ms: 100 },
        ...actions,
      ]),
      ...lost.clients,
    ],
    faults: [
      ...Array.from({ length: draws.below(5) }, () => fault(draws, shape.nodes)).flat(),
      ...lost.faults,
    ].toSorted((a, b) => a.atMs - b.atMs),
  }
}
