/** The cost of a request that does nothing: `ping`, pipelined, beside the low-level server of the official SDK. */
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import * as LineProcess from "../LineProcess.ts"
import { summarize } from "../Stats.ts"
import { perSecond, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"

/** Sizes of the measurement. */
export interface PingOptions {
  readonly server: ReadonlyArray<string>
  readonly peer: ReadonlyArray<string>
  readonly pings: number
  readonly runs: number
}

const inFlight = 64

const warm = Effect.fnUntraced(function* (command: LineProcess.Command, pings: number) {
  const process = yield* LineProcess.make(command)
  yield* process.call(Wire.initialize)
  yield* process.flood(Wire.ping, Math.ceil(pings / 2), inFlight)
  return process
})

/** Measures both servers. */
export const pings = Effect.fn("bench.pings")(function* (options: PingOptions) {
  const env = yield* Home.make()
  const server = yield* warm({ args: options.server, env }, options.pings)
  const peer = yield* warm({ args: options.peer }, options.pings)
  const ours: Array<number> = []
  const theirs: Array<number> = []
  const rate = ({ ms }: LineProcess.Flood) => (options.pings / ms) * 1000
  for (let run = 0; run < options.runs; run++) {
    ours.push(rate(yield* server.flood(Wire.ping, options.pings, inFlight)))
    theirs.push(rate(yield* peer.flood(Wire.ping, options.pings, inFlight)))
  }
  const [own, other] = [summarize(ours).median, summarize(theirs).median]
  return [
    {
      name: `ping, ${inFlight} in flight`,
      value: perSecond(own),
      beside: `official SDK ${perSecond(other)}: ${(own / other).toFixed(1)} times`,
    },
  ] satisfies ReadonlyArray<Row>
})
