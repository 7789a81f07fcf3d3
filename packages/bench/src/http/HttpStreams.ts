/** The time until the first event of a call that reports progress, and what an idle session costs. */
import * as Effect from "effect/Effect"
import { beside, type Contenders, each, map, rounds } from "../mcp/Contenders.ts"
import { summarize } from "../Stats.ts"
import { kibibytes, ms, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"
import type { HttpProcess } from "./HttpProcess.ts"
import * as RawHttp from "./RawHttp.ts"
import { initialize, session } from "./Sessions.ts"

const maxFirstEventMs = 2
const maxSessionBytes = 20 * 1024

/** Sizes of the measurement. */
export interface HttpStreamSizes {
  /** Calls per round and server. */
  readonly streams: number
  readonly rounds: number
  /** Idle sessions. */
  readonly sessions: number
}

const progress = Wire.toolCall(1, "count", { to: 3 }, { progressToken: "token" })

const firstEvents = Effect.fnUntraced(function* (server: HttpProcess, streams: number) {
  const { post, send } = yield* session(server)
  const request = post(progress)
  const round = Effect.gen(function* () {
    const times: Array<number> = []
    for (let n = 0; n < streams; n++) {
      const { firstEventMs = Number.NaN } = yield* send(request)
      times.push(firstEventMs)
    }
    return times
  })
  yield* round
  return round
})

/** Bytes that one session adds, after garbage collection. All are opened over one connection, which is closed. */
const sessionBytes = Effect.fnUntraced(function* (server: HttpProcess, count: number) {
  const opening = (sessions: number) =>
    Effect.scoped(
      Effect.flatMap(RawHttp.open(server.port), (connection) =>
        Effect.repeat(initialize(connection), { times: sessions - 1 }),
      ),
    )
  yield* opening(10)
  const before = yield* server.heapBytes
  yield* opening(count)
  return ((yield* server.heapBytes) - before) / count
})

/** Measures all servers. */
export const httpStreams = Effect.fn("bench.http.streams")(function* (
  contenders: Contenders<HttpProcess>,
  sizes: HttpStreamSizes,
) {
  const prepared = yield* each(contenders, (one) => firstEvents(one, sizes.streams))
  const figures = yield* rounds(sizes.rounds, prepared, (round) => round)
  const first = map(figures, (all) => summarize(all.flat()))
  const bytes = yield* each(contenders, (one) => sessionBytes(one, sizes.sessions))
  return [
    {
      name: "first event of a call",
      value: `${ms(first.own.median)}, p99 ${ms(first.own.p99)}`,
      beside: beside(map(first, ({ median, p99 }) => `${ms(median)}, p99 ${ms(p99)}`)),
      aim: { text: `< ${ms(maxFirstEventMs)}`, met: first.own.median < maxFirstEventMs },
    },
    {
      name: "an idle session",
      value: kibibytes(bytes.own),
      beside: beside(map(bytes, kibibytes)),
      aim: { text: `< ${kibibytes(maxSessionBytes)}`, met: bytes.own < maxSessionBytes },
    },
  ] satisfies ReadonlyArray<Row>
})
