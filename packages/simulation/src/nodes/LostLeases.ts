/**
 * Draws the loss of leases that a node does not notice at once: its row in the database is locked, so that it cannot renew
 * them, while all else of it works. Another node takes a conversation over which this one still has in memory, with a listener
 * that waits there. Pure (L12).
 */
import { SeededRandom } from "../SeededRandom.ts"
import type { NodeAction, NodeFault } from "./NodePlan.ts"

/** What is added to a plan: a fault of the leases of a node, and a client that meets it. */
interface LostLeases {
  readonly faults: ReadonlyArray<NodeFault>
  readonly clients: ReadonlyArray<ReadonlyArray<NodeAction>>
}

/** Longer than the leases of a node last that was just renewed, or that was about to be. */
const leasesEndedMs = [7_000, 10_200, 12_000] as const

/**
 * Some plans have a node that cannot renew its leases while all else of it works, so that another one takes a conversation over
 * which the first one still uses.
 */
export const lostLeases = (
  seed: number,
  creates: ReadonlyArray<Extract<NodeAction, { readonly do: "create" }>>,
  nodes: number,
): LostLeases => {
  // Draws of its own: those of the rest of the plan remain as they are.
  const draws = new SeededRandom(Math.imul(seed + 90, 0xc2b2ae35))
  const isDrawn = draws.chance(0.3)
  const create = creates[draws.below(creates.length)]
  if (!isDrawn || create === undefined) return { faults: [], clients: [] }
  const { node, slot } = create
  const atMs = draws.below(8_000)
  const send = (at: number, text: string): NodeAction => ({
    do: "send",
    node: at,
    slot,
    text,
    id: `i${text}`,
    whileRunning: draws.pick("queue", "wait", "interrupt"),
  })
  const pause = (ms: number): NodeAction => ({ do: "pause", node, ms })
  const elsewhere = node + 1 + draws.below(nodes - 1)
  return {
    faults: [{ atMs, node, do: "lock", ms: draws.pick(11_000, 11_000, 20_000, 30_000) }],
    clients: [
      [
        pause(100),
        // With a listener the conversation remains in the memory of the node.
        { do: "follow", node, slot, follower: "fl", from: 0 },
        pause(atMs),
        send(node, "ul0."),
        pause(draws.pick(...leasesEndedMs)),
        send(elsewhere % nodes, "ul1."),
        pause(draws.pick(50, 1_000, 3_000)),
        ...(draws.chance(0.5) ? [send(node, "ul2.")] : []),
      ],
    ],
  }
}
