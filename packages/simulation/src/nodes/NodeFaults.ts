/** Carries out the faults of a plan at their times, and ends all of them. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Cluster } from "./cluster/Cluster.ts"
import type { Database } from "./Database.ts"
import type { Node } from "./Node.ts"
import type { NodeFault } from "./NodePlan.ts"
import type { NodeRecorder } from "./NodeRecorder.ts"

/** What faults concern. */
export interface Faulty {
  readonly nodes: ReadonlyArray<Node>
  readonly database: Database
  readonly recorder: NodeRecorder
  readonly cluster: Cluster | undefined
  /** Runs after each kill. */
  readonly inspect: Effect.Effect<void>
}

const begin = (
  { cluster, database, inspect, nodes }: Faulty,
  node: Node,
  fault: NodeFault,
): Effect.Effect<void> => {
  switch (fault.do) {
    case "kill":
      return Effect.andThen(
        Effect.sync(() => node.kill()),
        inspect,
      )
    case "start":
      return Effect.sync(() => node.start())
    case "drain":
      return node.drain
    case "stop":
      return Effect.sync(() => node.stop())
    case "cut":
      return Effect.sync(() => node.link.sever(fault.how))
    case "slow":
      return Effect.sync(() => (node.link.delayMs = fault.delayMs))
    case "lock":
      return Effect.sync(() => node.link.lockLeases())
    case "part": {
      const other = nodes[fault.from % nodes.length]?.name ?? node.name
      return Effect.sync(() => cluster?.network.sever(node.name, other, fault.how))
    }
    case "move":
      return Effect.sync(() => cluster?.move())
    case "down":
      return Effect.sync(() => database.goDown())
  }
}

const end = ({ cluster, database, nodes }: Faulty, node: Node, fault: NodeFault): void => {
  if (fault.do === "part") {
    cluster?.network.mend(node.name, nodes[fault.from % nodes.length]?.name ?? node.name)
  }
  if (fault.do === "stop") node.go()
  if (fault.do === "cut") node.link.cut = undefined
  if (fault.do === "slow") node.link.delayMs = 0
  if (fault.do === "lock") node.link.unlockLeases()
  if (fault.do === "down") database.comeUp()
}

const carryOut = (faulty: Faulty, fault: NodeFault): Effect.Effect<void> =>
  Effect.gen(function* () {
    const node = faulty.nodes[fault.node % faulty.nodes.length]
    if (node === undefined) return
    yield* Effect.sleep(Duration.millis(fault.atMs))
    yield* faulty.recorder.record({ at: "node", node: node.name, does: fault.do })
    yield* begin(faulty, node, fault)
    if (!("ms" in fault)) return
    yield* Effect.sleep(Duration.millis(fault.ms))
    yield* faulty.recorder.record({ at: "node", node: node.name, does: `${fault.do} ends` })
    end(faulty, node, fault)
  })

/** Carries out all faults. Resolves when the last one has ended. */
export const runFaults = (faulty: Faulty, faults: ReadonlyArray<NodeFault>): Effect.Effect<void> =>
  Effect.forEach(faults, (fault) => carryOut(faulty, fault), {
    concurrency: "unbounded",
    discard: true,
  })

/** Starts every node that does not run. */
export const heal = ({ nodes }: Faulty): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const node of nodes) node.start()
  })
