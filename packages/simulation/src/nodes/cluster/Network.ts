/**
 * The network between the nodes of a simulated cluster: which processes answer, and which pairs of nodes are cut off from
 * each other. A process that ends, leaves, or is cut off breaks the exchanges with it.
 */
import type { ConversationCalls } from "@colloquy/cluster/Nodes"
import type { ConversationId } from "@colloquy/protocol/Ids"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { Ground, Machine } from "../Machine.ts"
import type { CallFault, ClusterSetup, CutHow } from "../NodePlan.ts"

/** A process as the others see it. */
export interface Peer {
  readonly node: string
  readonly machine: Machine
  /** Runs an effect in the process. */
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /** What it carries out for others; undefined before it serves, and once it has left. */
  calls: ConversationCalls | undefined
  owns: (id: ConversationId) => boolean
  /** The exchanges that it takes part in. */
  readonly exchanges: Set<Connected>
  /** Closes what this process has open at others. */
  readonly opened: Set<() => void>
}

/** An exchange between two processes that has not ended. */
export interface Connected {
  readonly from: Peer
  readonly to: Peer
  /** Ends it: the caller gets no result. */
  readonly fail: (reason: string) => void
}

/** Time between two signs of life; a process that misses two of them counts as unreachable. */
export const heartbeatMs = 4_000

/** The network of one run. */
export class Network {
  readonly ground: Ground
  /** Delay of each packet. */
  readonly delayMs: number
  /** True where a packet that a silent cut loses is sent again, if its sender would otherwise wait for ever. */
  readonly resends: boolean
  private readonly peers = new Map<string, Peer>()
  private readonly cuts = new Map<string, CutHow>()
  private readonly faults: ReadonlyMap<string, ReadonlyMap<number, CallFault>>
  private readonly counts = new Map<string, number>()

  /** @param faults those of the calls of each node, by its name */
  constructor(
    ground: Ground,
    { delayMs, runsTurns }: Pick<ClusterSetup, "delayMs" | "runsTurns">,
    faults: ReadonlyMap<string, ReadonlyMap<number, CallFault>>,
  ) {
    this.ground = ground
    this.delayMs = delayMs
    this.resends = runsTurns === true
    this.faults = faults
  }

  /** The process takes the place of an earlier one of its node. */
  join(peer: Peer): void {
    this.peers.set(peer.node, peer)
  }

  /** The process of a node. */
  at(node: string): Peer | undefined {
    return this.peers.get(node)
  }

  /** How two nodes are cut off from each other; undefined while they are not. */
  cut(one: string, other: string): CutHow | undefined {
    return this.cuts.get(`${one} ${other}`)
  }

  /** Cuts two nodes off from each other, in both directions. */
  sever(one: string, other: string, how: CutHow): void {
    this.cuts.set(`${one} ${other}`, how).set(`${other} ${one}`, how)
    if (how === "silent") return
    for (const name of [one, other]) {
      for (const exchange of this.peers.get(name)?.exchanges ?? []) {
        if (this.cut(exchange.from.node, exchange.to.node) === how) exchange.fail("cut off")
      }
    }
  }

  /** Two nodes reach each other again. */
  mend(one: string, other: string): void {
    this.cuts.delete(`${one} ${other}`)
    this.cuts.delete(`${other} ${one}`)
  }

  /** The process carries out nothing for others any more. */
  left(peer: Peer): void {
    peer.calls = undefined
    for (const exchange of peer.exchanges) {
      if (exchange.to === peer) exchange.fail("the node has left")
    }
  }

  /** The process has ended. The others notice unless they are cut off. */
  ended(peer: Peer): void {
    peer.calls = undefined
    for (const exchange of peer.exchanges) {
      if (this.cut(exchange.from.node, exchange.to.node) === undefined) {
        exchange.fail("the node has ended")
      }
    }
    for (const close of peer.opened) close()
    peer.opened.clear()
  }

  /** The planned fault of the next call of a node. */
  nextFault(node: string): CallFault | undefined {
    const count = this.counts.get(node) ?? 0
    this.counts.set(node, count + 1)
    return this.faults.get(node)?.get(count)
  }

  /** Runs the task once the time has passed; not as one of a process. Returns what prevents it. */
  after(ms: number, task: () => void): () => void {
    let isOff = false
    const dispatcher = this.ground.scheduler.makeDispatcher()
    const arrive = () =>
      dispatcher.scheduleTask(() => {
        if (!isOff) task()
      }, 0)
    if (ms > 0) this.ground.clock.timer(ms, arrive)
    else arrive()
    return () => {
      isOff = true
    }
  }
}
