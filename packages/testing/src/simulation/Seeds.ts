/** Runs seeds and counts what they held; tells a failing one by its shortest plan and trace. */
import { violationsOf } from "./Laws.ts"
import { faultsOf } from "./Plan.ts"
import { shrink } from "./Shrink.ts"
import { traceText } from "./Trace.ts"
import { planOf } from "./Workload.ts"
import { run } from "./World.ts"

interface Failure {
  readonly seed: number
  /** The laws that were broken. */
  readonly laws: ReadonlyArray<string>
}

/** What the seeds added so far held. */
export class Seeds {
  runs = 0
  /** Tasks the scheduler ran. */
  steps = 0
  readonly operations = new Map<string, number>()
  readonly faults = new Map<string, number>()
  readonly failures: Array<Failure> = []

  /** Runs the seed; gives the laws it broke. */
  add(seed: number): ReadonlyArray<string> {
    const plan = planOf(seed)
    const done = run(plan)
    this.runs++
    this.steps += done.steps + (done.reborn?.steps ?? 0)
    for (const { do: name } of plan.clients.flat()) count(this.operations, name)
    for (const fault of faultsOf(plan)) count(this.faults, fault)
    for (const entry of done.trace) {
      if (entry.at === "store" && entry.how !== undefined) {
        count(this.faults, `store ${entry.operation} ${entry.how}`)
      }
    }
    const laws = [...new Set(violationsOf(done).map(({ law }) => law))]
    if (laws.length > 0) this.failures.push({ seed, laws })
    return laws
  }
}

const count = (counts: Map<string, number>, name: string) => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** What a person needs to see of a failing seed: the shortest plan that breaks one of its laws, and its trace. */
export const explain = (seed: number): string => {
  const [first] = violationsOf(run(planOf(seed)))
  if (first === undefined) return `seed ${seed} breaks no law`
  const { plan, tries } = shrink(planOf(seed), (candidate) =>
    violationsOf(run(candidate)).some(({ law }) => law === first.law),
  )
  const shortest = run(plan)
  return [
    `seed ${seed} breaks ${first.law} (the shortest plan of ${tries} that do or do not):`,
    ...violationsOf(shortest).map(({ law, what }) => `  ${law} ${what}`),
    JSON.stringify(plan, null, 1),
    traceText(shortest.trace),
  ].join("\n")
}
