/** The cost of a request that does almost nothing, and of one that reads a conversation; pipelined. */
import { GetConversation } from "@colloquy/protocol/app/Conversations"
import { GetUserAgent } from "@colloquy/protocol/app/Session"
import { requestText } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import { summarize } from "../Stats.ts"
import { perSecond, type Row } from "../Table.ts"
import { begin, newConversation } from "./Wire.ts"

/** Sizes of the measurement. */
export interface RequestOptions {
  readonly server: ReadonlyArray<string>
  readonly requests: number
  readonly runs: number
}

const inFlight = 64

/** Measures both requests. */
export const requests = Effect.fn("bench.appRequests")(function* (options: RequestOptions) {
  const server = yield* begin(options.server, yield* Home.make())
  const conversationId = yield* newConversation(server)
  const rows: Array<Row> = []
  for (const [method, params] of [
    [GetUserAgent._tag, undefined],
    [GetConversation._tag, { conversationId }],
  ] as const) {
    const textOf = (id: number) => requestText(id, method, params)
    yield* server.flood(textOf, Math.ceil(options.requests / 2), inFlight)
    const rates: Array<number> = []
    for (let run = 0; run < options.runs; run++) {
      const { ms } = yield* server.flood(textOf, options.requests, inFlight)
      rates.push((options.requests / ms) * 1000)
    }
    const { median, min } = summarize(rates)
    rows.push({
      name: `${method}, ${inFlight} in flight`,
      value: perSecond(median),
      beside: `slowest run ${perSecond(min)}`,
    })
  }
  return rows
})
