/** The simulated cluster that the nodes of a run form, and the manager that each of their processes runs. */
import * as ClusterManager from "@colloquy/cluster/ClusterManager"
import { Notices } from "@colloquy/cluster/Notices"
import { Nodes } from "@colloquy/cluster/Nodes"
import { Workspaces } from "@colloquy/cluster/Workspaces"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import type { Database } from "../Database.ts"
import type { Link } from "../Link.ts"
import type { Ground } from "../Machine.ts"
import type { ClusterSetup } from "../NodePlan.ts"
import { Membership } from "./Membership.ts"
import { Network, type Peer } from "./Network.ts"
import { simulatedNodes } from "./SimulatedNodes.ts"

/** What the nodes of a cluster share; or of two clusters, which do not know of each other. */
export class Cluster {
  readonly network: Network
  private readonly setup: ClusterSetup
  private readonly first: Membership
  private readonly second: Membership

  constructor(ground: Ground, setup: ClusterSetup) {
    this.setup = setup
    this.first = new Membership(ground)
    this.second = new Membership(ground)
    const faults = setup.callFaults.map(
      (of, i) => [`n${i}`, new Map(of.map((fault) => [fault.call, fault]))] as const,
    )
    this.network = new Network(ground, setup, new Map(faults))
  }

  /** Gives the conversations other owners. */
  move(): void {
    this.first.move()
    this.second.move()
  }

  /** The manager of a process. */
  manager(
    peer: Peer,
    parts: { readonly link: Link; readonly database: Database },
    conversations: { readonly idleTimeToLive: Duration.Duration },
  ) {
    const { drainWithinMs, patienceMs, split } = this.setup
    const membership = Number(peer.node.slice(1)) < split ? this.first : this.second
    const { network } = this
    const nodes = Layer.sync(Nodes, () => simulatedNodes({ peer, network, membership, ...parts }))
    return ClusterManager.layer({
      conversations,
      patience: Duration.millis(patienceMs),
      drainWithin: Duration.millis(drainWithinMs),
    }).pipe(
      Layer.provide(nodes),
      Layer.provide(Notices.layerNone),
      Layer.provide(Workspaces.layerAll),
    )
  }
}
