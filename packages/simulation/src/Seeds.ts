/** Runs seeds and counts their operations and faults; explains a failing seed by its shortest plan and trace. */
import { runOf } from "./Vocabulary.ts"

interface Failure {
  readonly seed: number
  /** The laws that were broken. */
  readonly laws: ReadonlyArray<string>
}

/** Totals of the seeds that were added so far. */
export class Seeds {
  runs = 0
  /** Tasks the scheduler ran. */
  steps = 0
  readonly operations = new Map<string, number>()
  readonly faults = new Map<string, number>()
  readonly failures: Array<Failure> = []

  /** Runs the seed and adds its counts; returns the laws it broke. */
  add(seed: number): ReadonlyArray<string> {
    const { faults, operations, steps, violations } = runOf(seed)
    this.runs++
    this.steps += steps
    for (const name of operations) count(this.operations, name)
    for (const fault of faults) count(this.faults, fault)
    const laws = [...new Set(violations.map(({ law }) => law))]
    if (laws.length > 0) this.failures.push({ seed, laws })
    return laws
  }
}

const count = (counts: Map<string, number>, name: string) => {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Text for a person about a failing seed: the shortest plan that breaks its first broken law, and the trace of that plan. */
export const explain = (seed: number): string => {
  const found = runOf(seed)
  const [first] = found.violations
  if (first === undefined) return `seed ${seed} breaks no law`
  const { outcome, plan, tries } = found.shortest(first.law)
  return [
    `seed ${seed} breaks ${first.law} (the shortest plan of ${tries} that do or do not):`,
    ...outcome.violations.map(({ law, what }) => `  ${law} ${what}`),
    JSON.stringify(plan, null, 1),
    outcome.text(),
  ].join("\n")
}
