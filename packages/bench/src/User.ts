/** The benchmark `user`: turns and conversations as users have them, beside plain Node and any other servers. */
import * as Effect from "effect/Effect"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as LineProcess from "./LineProcess.ts"
import * as Machine from "./Machine.ts"
import * as PlainRequest from "./PlainRequest.ts"
import { summarize } from "./Stats.ts"
import { attempted } from "./user/Attempts.ts"
import { type Contender, floor, ours, peer } from "./user/Contender.ts"
import { lines, type Report, type Samples, spread } from "./user/Figures.ts"
import { phases } from "./user/Phases.ts"
import * as ProviderProcess from "./user/ProviderProcess.ts"
import { scenarios, type Sizes } from "./user/Scenarios.ts"
import * as Text from "./user/Text.ts"

/** How often each figure is taken. */
export interface UserCounts extends Sizes {
  readonly runs: number
  /** Replies of which the parts are measured. */
  readonly phases: number
}

/** Takes about two minutes on two cores, with two peers about five. */
export const full: UserCounts = {
  runs: 7,
  conversations: 20,
  replies: 30,
  sequence: 200,
  atOnce: 200,
  growth: 500,
  deltas: 5000,
  deltaTurns: 2,
  phases: 200,
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: UserCounts = {
  runs: 1,
  conversations: 1,
  replies: 2,
  sequence: 3,
  atOnce: 3,
  growth: 2,
  deltas: 20,
  deltaTurns: 1,
  phases: 3,
}

/** What else the command line says. */
export interface UserOptions {
  readonly bin: string
  /** Command lines of other servers. */
  readonly peers: ReadonlyArray<string>
  /** File for the report as JSON. */
  readonly json?: string
  /** True: the documentation gets this report. */
  readonly write: boolean
}

const compare = Effect.fnUntraced(function* (counts: UserCounts, options: UserOptions) {
  const { baseUrl } = yield* ProviderProcess.make(counts.deltas)
  const plain = yield* PlainRequest.make(`${baseUrl}/responses`)
  const peers = yield* Effect.forEach(options.peers, (line) => peer(line, baseUrl))
  const contenders: ReadonlyArray<Contender> = [...peers, ours(options.bin), floor]
  const samples = new Map<string, Samples>(
    contenders.map(({ name }) => [name, new Map()] satisfies [string, Samples]),
  )
  const unanswered = new Map<string, number>()
  const bare: Array<number> = []
  for (let run = 0; run < counts.runs; run++) {
    for (const scenario of scenarios) {
      bare.push(yield* LineProcess.timeToExit(["-e", "0"]))
      for (const contender of contenders) {
        const { name } = contender
        yield* attempted(
          scenario,
          contender,
          { baseUrl, plain, sizes: counts },
          {
            add: (key, value) => {
              const taken = samples.get(name)
              taken?.set(key, [...(taken.get(key) ?? []), value])
            },
            unanswered: () => unanswered.set(name, (unanswered.get(name) ?? 0) + 1),
          },
        )
      }
    }
  }
  return {
    contenders: contenders.map(({ name }) => name),
    samples,
    bare,
    unanswered: Object.fromEntries(unanswered),
  }
}, Effect.scoped)

const docs = new URL("../../docs/", import.meta.url)

const store = (report: Report) => {
  const folder = new URL("benchmarks/", docs)
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL("user.json", folder), `${JSON.stringify(report, undefined, 2)}\n`)
  writeFileSync(new URL("user.svg", folder), Text.chart(report.phases))
  const page = fileURLToPath(new URL("benchmarks.md", docs))
  writeFileSync(page, Text.paged(readFileSync(page, "utf8"), report))
}

/** Measures all servers alternately and returns the table. */
export const user = Effect.fn("bench.user")(function* (counts: UserCounts, options: UserOptions) {
  const machine = Machine.describe()
  const { bare, contenders, samples, unanswered } = yield* compare(counts, options)
  const { runs, phases: replies, ...sizes } = counts
  const report: Report = {
    machine,
    runs,
    sizes,
    contenders,
    unanswered,
    bareNode: spread(bare),
    figures: lines(samples, summarize(bare).median),
    phases: yield* phases(options.bin, replies),
  }
  const { json } = options
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, undefined, 2)}\n`)
  if (options.write) store(report)
  return Text.render(report)
})
