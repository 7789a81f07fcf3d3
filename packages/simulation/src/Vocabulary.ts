/** The kinds of runs that a seed may name: of the core, or of the server over connections in memory, in either era. */
import { laws, type Violation, violationsOf } from "./Laws.ts"
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
import { wireLaws, wireViolationsOf } from "./wire/WireLaws.ts"
import { smallerWire, wireFaultsOf, type WirePlan } from "./wire/WirePlan.ts"
import { runWire } from "./wire/WireWorld.ts"
import { wirePlanOf } from "./wire/WireWorkload.ts"
import { planOf } from "./scenario/Workload.ts"
import { run } from "./World.ts"

/** What came of a plan. */
interface Outcome {
  /** `done`, or why the run did not come to its end. */
  readonly end: string
  /** Tasks the scheduler ran. */
  readonly steps: number
  /** One entry each time. */
  readonly operations: ReadonlyArray<string>
  readonly faults: ReadonlyArray<string>
  readonly violations: ReadonlyArray<Violation>
  /** The trace, byte for byte the same each time. */
  readonly text: () => string
}

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
    const { reborn } = done
    const stored = done.trace.flatMap((entry) =>
      entry.at === "store" && entry.how !== undefined
        ? [`store ${entry.operation} ${entry.how}`]
        : entry.at === "append" && entry.how !== undefined
          ? [`store append ${entry.how}`]
          : [],
    )
    return {
      end: done.end,
      steps: done.steps + (reborn?.steps ?? 0),
      operations: plan.clients.flat().map(({ do: name }) => name),
      faults: [...faultsOf(plan), ...stored],
      violations: violationsOf(done),
      text: () => traceText(done.trace) + traceText(reborn?.trace ?? []),
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
      operations: plan.connections.flatMap(({ steps }) => steps.map(({ say }) => `wire ${say}`)),
      faults: wireFaultsOf(plan),
      violations: wireViolationsOf(done),
      text: () => traceText(done.trace),
    }
  },
}

const stateless: Kind<StatelessPlan> = {
  planOf: statelessPlanOf,
  smaller: smallerStateless,
  run: (plan) => {
    const done = runStateless(plan)
    const said = plan.connections.flatMap(({ steps }) => steps.map(({ say }) => say))
    return {
      end: done.end,
      steps: done.steps,
      operations: said.map((say) => `stateless ${say}`),
      faults: statelessFaultsOf(plan),
      violations: statelessViolationsOf(done),
      text: () => traceText(done.trace),
    }
  },
}

/** The run that a seed names. */
interface Named extends Outcome {
  readonly plan: unknown
  /** The shortest plan that breaks the law, of so many that were tried, and what came of it. */
  readonly shortest: (law: string) => {
    readonly plan: unknown
    readonly tries: number
    readonly outcome: Outcome
  }
}

const named =
  <P>(kind: Kind<P>) =>
  (seed: number): Named => {
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

const [ofCore, ofWire, ofStateless] = [named(core), named(wire), named(stateless)]

/** Two of eight seeds name a run of the server: one of clients that shake hands, one of clients that do not. */
export const runOf = (seed: number): Named => {
  switch (seed % 8) {
    case 7:
      return ofWire(seed)
    case 3:
      return ofStateless(seed)
    default:
      return ofCore(seed)
  }
}

/** Every law, and what it says, of any kind. */
export const allLaws: ReadonlyArray<{ readonly law: string; readonly says: string }> = [
  ...laws,
  ...wireLaws,
  ...statelessLaws,
]
