/** Calls of a tool over HTTP, one at a time and on many connections at once. */
import * as Effect from "effect/Effect"
import { beside, type Contenders, each, echo, map, rounds } from "../mcp/Contenders.ts"
import { summarize } from "../Stats.ts"
import { ms, perSecond, type Row } from "../Table.ts"
import type { HttpProcess } from "./HttpProcess.ts"
import { session, type Session } from "./Sessions.ts"

const connections = 64

/** The SDK turns each request into a web request and each response back. */
const minTimes = 2

/** Sizes of the measurement. */
export interface HttpCallSizes {
  /** Calls per round and server. */
  readonly calls: number
  readonly rounds: number
}

interface Round {
  readonly perSecond: number
  /** Processor time of the server for one call. */
  readonly processorMs: number
  readonly aloneMs: ReadonlyArray<number>
  readonly togetherMs: ReadonlyArray<number>
}

const check = ({ text }: { readonly text: string }) => {
  if (!text.includes('"content"')) throw new Error(`no result: ${text.slice(0, 300)}`)
}

const calling = Effect.fnUntraced(function* ({ post, send }: Session, count: number) {
  const request = post(echo(1))
  const times: Array<number> = []
  for (let n = 0; n < count; n++) {
    const response = yield* send(request)
    if (n === 0) check(response)
    times.push(response.ms)
  }
  return times
})

const measured = Effect.fnUntraced(function* (server: HttpProcess, calls: number) {
  const sessions: Array<Session> = []
  for (let n = 0; n < connections; n++) sessions.push(yield* session(server))
  const [first] = sessions
  const few = Math.max(1, Math.ceil(calls / 10))
  const round: Effect.Effect<Round> = Effect.gen(function* () {
    const aloneMs = first === undefined ? [] : yield* calling(first, few)
    const each = Math.max(1, Math.ceil(calls / connections))
    const processorBefore = server.processorMs()
    const startedAtMs = performance.now()
    const all = yield* Effect.forEach(sessions, (one) => calling(one, each), {
      concurrency: "unbounded",
    })
    const elapsedMs = performance.now() - startedAtMs
    const count = each * connections
    return {
      perSecond: (count / elapsedMs) * 1000,
      processorMs: (server.processorMs() - processorBefore) / count,
      aloneMs,
      togetherMs: all.flat(),
    }
  })
  // V8 optimizes in steps, which the first round completes.
  yield* round
  return round
})

/** Servers without the protocol, which show what HTTP itself costs. */
interface Floors {
  readonly node: HttpProcess
  readonly effect: HttpProcess
}

/** What the same requests cost where nothing is checked, looked up or called. */
const floorRow = Effect.fnUntraced(function* (floors: Floors, sizes: HttpCallSizes) {
  const node = yield* measured(floors.node, sizes.calls)
  const effect = yield* measured(floors.effect, sizes.calls)
  const times: { readonly node: Array<number>; readonly effect: Array<number> } = {
    node: [],
    effect: [],
  }
  for (let round = 0; round < sizes.rounds; round++) {
    times.node.push((yield* node).processorMs)
    times.effect.push((yield* effect).processorMs)
  }
  return {
    name: "processor time without the protocol",
    value: `Node alone ${microseconds(summarize(times.node).median)}`,
    beside: `Effect's HTTP server alone ${microseconds(summarize(times.effect).median)}`,
  } satisfies Row
})

const microseconds = (value: number): string => `${(value * 1000).toFixed(0)} µs`

const quantiles = (samples: ReadonlyArray<number>): string => {
  const { median, p99 } = summarize(samples)
  return `${ms(median)}, p99 ${ms(p99)}`
}

/** Measures all servers. */
export const httpCalls = Effect.fn("bench.http.calls")(function* (
  contenders: Contenders<HttpProcess>,
  floors: Floors,
  sizes: HttpCallSizes,
) {
  const prepared = yield* each(contenders, (one) => measured(one, sizes.calls))
  const figures = yield* rounds(sizes.rounds, prepared, (round) => round)
  const rate = map(figures, (all) => summarize(all.map((one) => one.perSecond)).median)
  const processor = map(figures, (all) => summarize(all.map((one) => one.processorMs)).median)
  const alone = map(figures, (all) => quantiles(all.flatMap((one) => one.aloneMs)))
  const together = map(figures, (all) => quantiles(all.flatMap((one) => one.togetherMs)))
  return [
    {
      name: `tools/call over HTTP, ${connections} connections`,
      value: perSecond(rate.own),
      beside: `${beside(map(rate, perSecond))}: ${(rate.own / rate.sdk).toFixed(1)} and ${(rate.own / rate.effect).toFixed(1)} times`,
      aim: { text: `>= ${minTimes} times the SDK`, met: rate.own >= minTimes * rate.sdk },
    },
    {
      name: "processor time of one of them",
      value: microseconds(processor.own),
      beside: beside(map(processor, microseconds)),
    },
    yield* floorRow(floors, sizes),
    {
      name: `one of ${connections} at once`,
      value: together.own,
      beside: beside(together),
    },
    { name: "one at a time", value: alone.own, beside: beside(alone) },
  ] satisfies ReadonlyArray<Row>
})
