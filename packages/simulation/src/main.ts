/**
 * `npm run simulate -- --seeds 20000 [--from 0] [--step 1]`, `--only 3,17` for those seeds, or `--seed 17` for the trace of
 * one. `--law L5` ends at the first seed that breaks that law; `--from 5 --step 8` selects the runs of app-server v2,
 * `--from 9 --step 16` those of several nodes, `--from 9 --step 32` those of a cluster. The only module here that reads
 * arguments and the real time, and prints.
 */
import { parseArgs } from "node:util"
import { runOf } from "./Vocabulary.ts"
import { explain, Seeds } from "./Seeds.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "0" },
    step: { type: "string", default: "1" },
    seed: { type: "string" },
    only: { type: "string" },
    law: { type: "string" },
  },
})

const [from, seeds, step] = [Number(values.from), Number(values.seeds), Number(values.step)]
const selected =
  values.only === undefined
    ? Array.from({ length: seeds }, (_, place) => from + place * step)
    : values.only.split(",").map(Number)

const print = (text: string) => process.stdout.write(`${text}\n`)

const table = (counts: ReadonlyMap<string, number>) => {
  for (const [name, times] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    print(`  ${name.padEnd(24)}${String(times).padStart(9)}`)
  }
}

const printSeed = (seed: number) => {
  const { end, plan, text, violations } = runOf(seed)
  print(JSON.stringify(plan))
  process.stdout.write(text())
  for (const { law, what } of violations) print(`${law} ${what}`)
  print(`seed ${seed}: ${end}, ${violations.length} violations`)
  return violations.length
}

/** Prints the first seed that breaks the law, if any does; returns the number of such seeds (0 or 1). */
const printFirst = (law: string) => {
  const summary = new Seeds()
  for (const seed of selected) {
    if (!summary.add(seed).includes(law)) continue
    print(`seed ${seed} breaks ${law}`)
    return 1
  }
  print(`no seed breaks ${law}`)
  return 0
}

const printSeeds = () => {
  const summary = new Seeds()
  const start = performance.now()
  for (const seed of selected) {
    const laws = summary.add(seed)
    if (laws.length > 0) print(`seed ${seed} breaks ${laws.join(", ")}`)
  }
  const seconds = (performance.now() - start) / 1000
  const [first] = summary.failures
  if (first !== undefined) print(explain(first.seed))
  print("operations")
  table(summary.operations)
  print("faults planned")
  table(summary.faults)
  const [operations, faults] = [summary.operations, summary.faults].map((counts) =>
    [...counts.values()].reduce((a, b) => a + b, 0),
  )
  print(
    `${summary.runs} runs (seeds ${selected[0] ?? from} to ${selected.at(-1) ?? from}), ${operations} operations, ` +
      `${faults} faults, ${summary.steps} steps, ${summary.failures.length} violations, ` +
      `${Math.round(summary.runs / seconds)} seeds/s`,
  )
  return summary.failures.length
}

const failed = () => {
  if (values.seed !== undefined) return printSeed(Number(values.seed))
  return values.law === undefined ? printSeeds() : printFirst(values.law)
}
process.exitCode = failed() === 0 ? 0 : 1
