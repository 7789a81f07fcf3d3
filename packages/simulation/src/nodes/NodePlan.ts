/** What one simulated run of several nodes does: its clients and followers, the responses of the model, the faults. Plain data. */
import type { WhileRunning } from "@colloquy/core/decider/Decision"
import type { Answering, ModelPlan } from "../scenario/Plan.ts"

/** How a link to the database is cut. `silent`: nothing arrives. `refused`: every session is lost at once. */
export type CutHow = "silent" | "refused"

/** The n-th commit of a node loses its session: `before` it is carried out, or `after`, so that its outcome is not known. */
export interface CommitFault {
  readonly commit: number
  readonly how: "before" | "after"
}

/** What happens to the n-th call that a node makes to another one. */
export interface CallFault {
  readonly call: number
  /**
   * `lost`: it does not arrive. `lost answer`: it is carried out. `late`: it arrives after that time. `twice`: it arrives
   * once more after that time, where it is a message that waits in the database.
   */
  readonly how: "lost" | "lost answer" | "late" | "twice"
  readonly ms: number
}

/** How the nodes form a cluster. */
export interface ClusterSetup {
  /** Delay of each packet between nodes. */
  readonly delayMs: number
  /** How long an operation is repeated while its conversation moves. */
  readonly patienceMs: number
  /** How long a turn may go on whose node leaves. */
  readonly drainWithinMs: number
  /** The nodes from this number on form another cluster on the same database. */
  readonly split: number
  /** The faults of the calls of each node. */
  readonly callFaults: ReadonlyArray<ReadonlyArray<CallFault>>
  /** Present where each message with an id is also run, with that id, through another node than the one it is sent to. */
  readonly runsTurns?: true
}

/** One node. */
export interface NodeSetup {
  /** Difference of its clock from that of the database. */
  readonly skewMs: number
  readonly commitFaults: ReadonlyArray<CommitFault>
}

/** One fault, at a time since the start. */
export type NodeFault = { readonly atMs: number; readonly node: number } & (
  | { readonly do: "kill" }
  /** The process is stopped, and continued after that time. */
  | { readonly do: "stop"; readonly ms: number }
  /** The node ends in an orderly way: its turns are stopped within their bound. */
  | { readonly do: "drain" }
  | { readonly do: "start" }
  | { readonly do: "cut"; readonly how: CutHow; readonly ms: number }
  | { readonly do: "slow"; readonly delayMs: number; readonly ms: number }
  /** Another transaction of the database locks the row in which the node renews its leases: only that waits for it. */
  | { readonly do: "lock"; readonly ms: number }
  /** Two nodes do not reach each other; both reach the database. */
  | { readonly do: "part"; readonly from: number; readonly how: CutHow; readonly ms: number }
  /** The cluster gives the conversations other owners. */
  | { readonly do: "move" }
  /** The database is down for every node. */
  | { readonly do: "down"; readonly ms: number }
)

/** One thing that a client does through a node; when that one does not respond, it tries the others. */
export type NodeAction = { readonly node: number } & (
  | { readonly do: "create"; readonly slot: number }
  /** With an id the message is sent again until it is acknowledged; without one it is sent once. */
  | {
      readonly do: "send"
      readonly slot: number
      readonly text: string
      readonly id?: string
      readonly whileRunning: WhileRunning
    }
  | { readonly do: "interrupt"; readonly slot: number }
  | { readonly do: "fork"; readonly slot: number; readonly into: number; readonly n: number }
  | { readonly do: "archive"; readonly slot: number }
  | { readonly do: "unarchive"; readonly slot: number }
  | { readonly do: "rename"; readonly slot: number; readonly name: string }
  | { readonly do: "list" }
  | {
      readonly do: "follow"
      readonly slot: number
      readonly follower: string
      readonly from: number
      readonly answering?: Answering
    }
  | { readonly do: "pause"; readonly ms: number }
)

/** Everything that a run of several nodes depends on. */
export interface NodesPlan {
  readonly seed: number
  readonly nodes: ReadonlyArray<NodeSetup>
  /** Present where the nodes form a cluster; otherwise each knows nothing of the others. */
  readonly cluster?: ClusterSetup
  /** Deadline of every question. */
  readonly deadlineMs: number
  /** Whether turns that a lost node had begun are resumed or closed. */
  readonly onRestart: "close" | "continue"
  /** The responses of the model; `modelPlanOf` selects one for each request. */
  readonly model: ReadonlyArray<ModelPlan>
  readonly clients: ReadonlyArray<ReadonlyArray<NodeAction>>
  readonly faults: ReadonlyArray<NodeFault>
}

/** Tools that may take for ever. */
const endless: ReadonlyArray<string> = ["asks", "hang", "stubborn"]

/**
 * True where every turn ends by itself: no response, no tool and no question may take for ever. A turn that is resumed asks
 * before it repeats a call.
 */
export const turnsEnd = ({ model, onRestart }: NodesPlan): boolean =>
  onRestart === "close" &&
  model.every(({ calls, end }) => end !== "hang" && !calls.some((call) => endless.includes(call)))

/** The kinds of faults that a plan holds, one entry for each occurrence. */
export const nodesFaultsOf = ({ cluster, faults, nodes }: NodesPlan): ReadonlyArray<string> => [
  ...faults.map((fault) =>
    fault.do === "cut" || fault.do === "part"
      ? `nodes ${fault.do} ${fault.how}`
      : fault.do === "down"
        ? "nodes database down"
        : `nodes ${fault.do}`,
  ),
  ...nodes.flatMap(({ commitFaults, skewMs }) => [
    ...(skewMs === 0 ? [] : ["nodes clock skew"]),
    ...commitFaults.map(({ how }) => `nodes lost ${how} commit`),
  ]),
  ...(cluster?.callFaults ?? []).flatMap((of) => of.map(({ how }) => `nodes call ${how}`)),
  ...(cluster !== undefined && cluster.split < nodes.length ? ["nodes two clusters"] : []),
  ...(cluster?.runsTurns ? ["nodes turns run twice"] : []),
]

const without = <A>(all: ReadonlyArray<A>, at: number): ReadonlyArray<A> => all.toSpliced(at, 1)

/** Every plan whose cluster has a fault less. */
const smallerClusters = function* (plan: NodesPlan, cluster: ClusterSetup): Generator<NodesPlan> {
  const { callFaults, runsTurns, split } = cluster
  if (runsTurns) {
    const { runsTurns: _, ...rest } = cluster
    yield { ...plan, cluster: rest }
  }
  if (split < plan.nodes.length) {
    yield { ...plan, cluster: { ...cluster, split: plan.nodes.length } }
  }
  for (const [i, faults] of callFaults.entries()) {
    for (const at of faults.keys()) {
      const fewer = callFaults.with(i, without(faults, at))
      yield { ...plan, cluster: { ...cluster, callFaults: fewer } }
    }
  }
}

/** Every plan that is a little smaller, for the search for the shortest one. */
export const smallerNodes = function* (plan: NodesPlan): Generator<NodesPlan> {
  for (const at of plan.clients.keys()) yield { ...plan, clients: without(plan.clients, at) }
  for (const at of plan.faults.keys()) yield { ...plan, faults: without(plan.faults, at) }
  for (const at of plan.model.keys()) yield { ...plan, model: without(plan.model, at) }
  for (const [i, actions] of plan.clients.entries()) {
    for (const at of actions.keys()) {
      yield { ...plan, clients: plan.clients.with(i, without(actions, at)) }
    }
  }
  for (const [i, node] of plan.nodes.entries()) {
    if (node.skewMs !== 0) yield { ...plan, nodes: plan.nodes.with(i, { ...node, skewMs: 0 }) }
    for (const at of node.commitFaults.keys()) {
      const setup = { ...node, commitFaults: without(node.commitFaults, at) }
      yield { ...plan, nodes: plan.nodes.with(i, setup) }
    }
  }
  if (plan.onRestart !== "close") yield { ...plan, onRestart: "close" }
  if (plan.cluster !== undefined) yield* smallerClusters(plan, plan.cluster)
}
