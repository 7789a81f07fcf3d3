/** Round trips of `tools/call` of a tool that returns a short text, one at a time and many at once. */
import * as Effect from "effect/Effect"
import type { Flood } from "../LineProcess.ts"
import { summarize } from "../Stats.ts"
import { megabytes, perSecond, type Row } from "../Table.ts"
import {
  beside,
  type Contender,
  type Contenders,
  each,
  echo,
  map,
  ready,
  rounds,
} from "./Contenders.ts"

/** A prototype with one fiber and one Schema decode per call reached 3.6 times the SDK's rate. */
const minTimes = 3

/** One call at a time mostly measures how two processes wake each other; runs of one build differ by this factor. */
const noise = 0.1

const inFlight = 64

/** Sizes of the measurement. */
export interface CallSizes {
  /** Calls per round with many in flight; one at a time, a fifth of them. */
  readonly calls: number
  readonly rounds: number
}

const microseconds = (ms: number) => `${(ms * 1000).toFixed(1)} µs`

const perSecondOf = (count: number, { ms }: Flood) => (count / ms) * 1000

/** `: 1.4 and 13.0 times` (the SDK and Effect); empty when the divisor was too short to measure. */
const times = (sdk: number, effect: number) =>
  Number.isFinite(sdk) && Number.isFinite(effect)
    ? `: ${sdk.toFixed(1)} and ${effect.toFixed(1)} times`
    : ""

const measured = Effect.fnUntraced(function* (contender: Contender, calls: number) {
  const process = yield* ready(contender)
  const many = Math.ceil(calls * contender.share)
  const few = Math.ceil(many / 5)
  const round = Effect.gen(function* () {
    const alone = perSecondOf(few, yield* process.flood(echo, few, 1))
    const beforeMs = process.processorMs() ?? Number.NaN
    const flood = yield* process.flood(echo, many, inFlight)
    const processorMs = (process.processorMs() ?? Number.NaN) - beforeMs
    const together = perSecondOf(many, flood)
    return { alone, together, processorMs, clientMs: flood.clientMs, calls: many }
  })
  // V8 optimizes in steps, which the first round completes.
  yield* round
  return { round, residentBytes: process.residentBytes }
})

/** The rows with processor time and memory; none on systems without `/proc`. */
const usageRows = (
  processor: Contenders<number>,
  client: Contenders<number>,
  bytes: Contenders<number>,
): ReadonlyArray<Row> =>
  Number.isNaN(bytes.own)
    ? []
    : [
        {
          // A busy machine changes processor time least.
          name: "processor time of one of them",
          value: microseconds(processor.own),
          beside: `${beside(map(processor, microseconds))}${times(processor.sdk / processor.own, processor.effect / processor.own)}`,
        },
        {
          // Must be small in comparison, otherwise the rates are those of the benchmark.
          name: "processor time of the client",
          value: microseconds(client.own),
          beside: beside(map(client, microseconds)),
        },
        {
          name: "resident memory after those calls",
          value: megabytes(bytes.own),
          beside: beside(map(bytes, megabytes)),
        },
      ]

/** Measures all servers. */
export const calls = Effect.fn("bench.mcp.calls")(function* (
  contenders: Contenders<Contender>,
  sizes: CallSizes,
) {
  const processes = yield* each(contenders, (one) => measured(one, sizes.calls))
  const figures = yield* rounds(sizes.rounds, processes, ({ round }) => round)
  const alone = map(figures, (all) => summarize(all.map((one) => one.alone)).median)
  const together = map(figures, (all) => summarize(all.map((one) => one.together)).median)
  const sum = (samples: ReadonlyArray<number>) => samples.reduce((a, b) => a + b, 0)
  const perCall = (of: "processorMs" | "clientMs") =>
    map(figures, (all) => sum(all.map((one) => one[of])) / sum(all.map((one) => one.calls)))
  const processor = perCall("processorMs")
  const client = perCall("clientMs")
  const bytes = map(processes, ({ residentBytes }) => residentBytes() ?? Number.NaN)
  const rows: Array<Row> = [
    {
      name: "tools/call, one at a time",
      value: perSecond(alone.own),
      beside: beside(map(alone, perSecond)),
      aim: { text: "as the SDK ± 10 %", met: alone.own >= alone.sdk * (1 - noise) },
    },
    {
      name: `tools/call, ${inFlight} in flight`,
      value: perSecond(together.own),
      beside: `${beside(map(together, perSecond))}${times(together.own / together.sdk, together.own / together.effect)}`,
      aim: { text: `>= ${minTimes} times the SDK`, met: together.own >= minTimes * together.sdk },
    },
  ]
  return [...rows, ...usageRows(processor, client, bytes)]
})
