/** `tools/call` of the same server in both eras: the cost of metadata in each request. */
import * as Effect from "effect/Effect"
import type { Flood, LineProcess } from "../LineProcess.ts"
import { summarize } from "../Stats.ts"
import { perSecond, type Row } from "../Table.ts"
import { type Contender, echo, ready, statelessEcho } from "./Contenders.ts"

/** Minimal share of the rate in the handshake era. */
const minShare = 0.8

const inFlight = 64

/** Sizes of the measurement. */
export interface EraSizes {
  readonly calls: number
  readonly rounds: number
}

const rateOf = (count: number, { ms }: Flood) => (count / ms) * 1000

const microseconds = (ms: number) => `${(ms * 1000).toFixed(1)} µs`

/** Calls per second, and processor time of one call in milliseconds. */
const round = Effect.fnUntraced(function* (
  process: LineProcess,
  textOf: (id: number) => string,
  count: number,
) {
  const beforeMs = process.processorMs() ?? Number.NaN
  const rate = rateOf(count, yield* process.flood(textOf, count, inFlight))
  const processorMs = ((process.processorMs() ?? Number.NaN) - beforeMs) / count
  return { rate, processorMs }
})

const median = (values: ReadonlyArray<number>) => summarize(values).median

/** Measures both eras. */
export const eras = Effect.fn("bench.mcp.eras")(function* (contender: Contender, sizes: EraSizes) {
  const process = yield* ready(contender)
  const one = (textOf: (id: number) => string) => round(process, textOf, sizes.calls)
  // V8 optimizes in steps, which the first rounds complete.
  yield* one(echo)
  yield* one(statelessEcho)
  const shaken = []
  const stateless = []
  for (let turn = 0; turn < sizes.rounds; turn++) {
    shaken.push(yield* one(echo))
    stateless.push(yield* one(statelessEcho))
  }
  const [before, after] = [shaken, stateless].map((all) => median(all.map(({ rate }) => rate)))
  const [costs, costsMore] = [shaken, stateless].map((all) =>
    median(all.map(({ processorMs }) => processorMs)),
  )
  const share = (after ?? Number.NaN) / (before ?? Number.NaN)
  return [
    {
      name: "tools/call of the whole server without a handshake",
      value: perSecond(after ?? Number.NaN),
      beside: `${perSecond(before ?? Number.NaN)} with one: ${share.toFixed(2)} times${
        Number.isNaN(costs ?? Number.NaN)
          ? ""
          : `; processor time ${microseconds(costsMore ?? 0)} and ${microseconds(costs ?? 0)}`
      }`,
      aim: { text: `>= ${minShare} times`, met: share >= minShare },
    },
  ] satisfies ReadonlyArray<Row>
}, Effect.scoped)
