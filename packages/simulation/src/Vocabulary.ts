/**
 * The kinds of runs that a seed may select: of the core, of the server over connections in memory (MCP in either era, and
 * app-server v2), or of several nodes over one database.
 */
import { laws, type Violation, violationsOf } from "./Laws.ts"
import { nodeLaws, nodesViolationsOf } from "./nodes/NodeLaws.ts"
import { nodesFaultsOf, type NodesPlan, smallerNodes } from "./nodes/NodePlan.ts"
import { nodesOrClusterPlanOf } from "./nodes/cluster/ClusterWorkload.ts"
import { type NodesRun, runNodes } from "./nodes/NodeWorld.ts"
import { faultsOf, type Plan } from "./scenario/Plan.ts"
import { shrink, smaller } from "./scenario/Shrink.ts"
import { traceText } from "./trace/Trace.ts"
import { statelessLaws, statelessViolationsOf } from "./stateless/StatelessLaws.ts"
import {
  smallerStateless,
  statelessFaultsOf,
  type StatelessPlan,
} from "./stateless/StatelessPlan.ts"
import { statelessPlanOf } from "./stateless/StatelessWorkload.ts"
import { runStateless } from "./stateless/StatelessWorld.ts"
import { threadLaws, threadViolationsOf } from "./threads/ThreadLaws.ts"
import { smallerThreads, threadFaultsOf, type ThreadPlan } from "./threads/ThreadPlan.ts"
import { threadPlanOf } from "./threads/ThreadWorkload.ts"
import { runThreads, type ThreadRun } from "./threads/ThreadWorld.ts"
import { wireLaws, wireViolationsOf } from "./wire/WireLaws.ts"
import { smallerWire, wireFaultsOf, type WirePlan } from "./wire/WirePlan.ts"
import { runWire } from "./wire/WireWorld.ts"
import { wirePlanOf } from "./wire/WireWorkload.ts"
import { planOf } from "./scenario/Workload.ts"
import { run } from "./World.ts"

/** The result of running a plan. */
interface Outcome {
  /** `done`, or the reason why the run did not end. */
  readonly end: string
  /** Tasks the scheduler ran. */
  readonly steps: number
  /** Names of the planned operations, one entry for each occurrence. */
  readonly operations: ReadonlyArray<string>
  /** Kinds of the planned faults, one entry for each occurrence. */
  readonly faults: ReadonlyArray<string>
  readonly violations: ReadonlyArray<Violation>
  /** The trace as text; byte for byte the same for every run of the plan. */
  readonly text: () => string
}

/** How plans of one kind are drawn, run and made smaller. */
interface Kind<P> {
  readonly planOf: (seed: number) => P
  readonly run: (plan: P) => Outcome
  readonly smaller: (plan: P) => Iterable<P>
}

const core: Kind<Plan> = {
  planOf,
  smaller,
  run: (plan) => {
    const done = run(plan)
    const { afterRestart } = done
    const stored = done.trace.flatMap((entry) =>
      entry.at === "store" && entry.how !== undefined
        ? [`store ${entry.operation} ${entry.how}`]
        : entry.at === "append" && entry.how !== undefined
          ? [`store append ${entry.how}`]
          : [],
    )
    return {
      end: done.end,
      steps: done.steps + (afterRestart?.steps ?? 0),
      operations: plan.clients.flat().map(({ do: name }) => name),
      faults: [...faultsOf(plan), ...stored],
      violations: violationsOf(done),
      text: () => traceText(done.trace) + traceText(afterRestart?.trace ?? []),
    }
  },
}

const wire: Kind<WirePlan> = {
  planOf: wirePlanOf,
  smaller: smallerWire,
  run: (plan) => {
    const done = runWire(plan)
    return {
      end: done.end,
      steps: done.steps,
      operations: plan.connections.flatMap(({ steps }) => steps.map((step) => `wire ${step.do}`)),
      faults: wireFaultsOf(plan),
      violations: wireViolationsOf(done),
      text: () => traceText(done.trace),
    }
  },
}

const threadText = ({ afterRestart, trace }: ThreadRun): string =>
  traceText(trace) + traceText(afterRestart?.trace ?? [])

const nodesText = ({ logs, trace }: NodesRun): string =>
  traceText(trace) + [...logs.values()].map((log) => `${JSON.stringify(log)}\n`).join("")

/** One of so many runs of app-server v2, and of several nodes, is made twice. */
const repeatedRuns = 8

const repeated = {
  law: "L12",
  statement: "the same plan gives the same run, byte for byte",
}

const anotherRun: Violation = { law: repeated.law, what: "the same plan gives another run" }

const ofThreadsTwice = (done: ThreadRun): ReadonlyArray<Violation> => {
  if ((done.plan.seed >> 3) % repeatedRuns !== 0) return []
  return threadText(runThreads(done.plan)) === threadText(done) ? [] : [anotherRun]
}

const ofNodesTwice = (done: NodesRun): ReadonlyArray<Violation> => {
  if ((done.plan.seed >> 5) % repeatedRuns !== 0) return []
  return nodesText(runNodes(done.plan)) === nodesText(done) ? [] : [anotherRun]
}

const threads: Kind<ThreadPlan> = {
  planOf: threadPlanOf,
  smaller: smallerThreads,
  run: (plan) => {
    const done = runThreads(plan)
    const names = plan.connections.flatMap(({ steps }) => steps.map(({ do: name }) => name))
    return {
      end: done.end,
      steps: done.steps + (done.afterRestart?.steps ?? 0),
      operations: names.map((name) => `thread ${name}`),
      faults: threadFaultsOf(plan),
      violations: [...threadViolationsOf(done), ...ofThreadsTwice(done)],
      text: () => threadText(done),
    }
  },
}

const stateless: Kind<StatelessPlan> = {
  planOf: statelessPlanOf,
  smaller: smallerStateless,
  run: (plan) => {
    const done = runStateless(plan)
    const names = plan.connections.flatMap(({ steps }) => steps.map(({ do: name }) => name))
    return {
      end: done.end,
      steps: done.steps,
      operations: names.map((name) => `stateless ${name}`),
      faults: statelessFaultsOf(plan),
      violations: statelessViolationsOf(done),
      text: () => traceText(done.trace),
    }
  },
}

const nodes: Kind<NodesPlan> = {
  planOf: nodesOrClusterPlanOf,
  smaller: smallerNodes,
  run: (plan) => {
    const done = runNodes(plan)
    return {
      end: done.end,
      steps: done.steps,
      operations: plan.clients.flat().map(({ do: name }) => `nodes ${name}`),
      faults: nodesFaultsOf(plan),
      violations: [...nodesViolationsOf(done), ...ofNodesTwice(done)],
      text: () => nodesText(done),
    }
  },
}

/** The run that a seed selects. */
interface SeedRun extends Outcome {
  readonly plan: unknown
  /** Finds the shortest plan that still breaks the law; returns it with its result and the number of plans that were tried. */
  readonly shortest: (law: string) => {
    readonly plan: unknown
    readonly tries: number
    readonly outcome: Outcome
  }
}

const seedRun =
  <P>(kind: Kind<P>) =>
  (seed: number): SeedRun => {
    const plan = kind.planOf(seed)
    return {
      ...kind.run(plan),
      plan,
      shortest: (law) => {
        const breaks = (candidate: P) =>
          kind.run(candidate).violations.some((violation) => violation.law === law)
        const found = shrink(plan, breaks, kind.smaller)
        return { ...found, outcome: kind.run(found.plan) }
      },
    }
  }

const [ofCore, ofWire] = [seedRun(core), seedRun(wire)]
const [ofStateless, ofThreads] = [seedRun(stateless), seedRun(threads)]
const ofNodes = seedRun(nodes)

/**
 * Runs the plan of a seed. Three of eight seeds select a run of the server: MCP with handshakes and without, and app-server
 * v2. One of sixteen selects a run of several nodes: of a cluster (9, 41, …), or that know nothing of each other (25, 57, …).
 */
export const runOf = (seed: number): SeedRun => {
  if (seed % 16 === 9) return ofNodes(seed)
  switch (seed % 8) {
    case 7:
      return ofWire(seed)
    case 3:
      return ofStateless(seed)
    case 5:
      return ofThreads(seed)
    default:
      return ofCore(seed)
  }
}

/** Every check of every kind of run: the number of its law and its statement. */
export const allLaws: ReadonlyArray<{ readonly law: string; readonly statement: string }> = [
  ...laws,
  ...wireLaws,
  ...statelessLaws,
  ...threadLaws,
  ...nodeLaws,
  repeated,
]
