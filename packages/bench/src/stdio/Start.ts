/** How long a client waits for a new process: from `spawn` to the response to `initialize`. */
import * as Effect from "effect/Effect"
import * as Home from "../Home.ts"
import * as LineProcess from "../LineProcess.ts"
import { summarize } from "../Stats.ts"
import { megabytes, ms, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"

/** Sizes of the measurement. */
export interface StartOptions {
  readonly server: ReadonlyArray<string>
  readonly peer: ReadonlyArray<string>
  readonly runs: number
}

/** An editor starts a server per window, so it should cost little more than Node itself. */
const maxRatio = 3

interface Started {
  readonly ms: number
  readonly residentBytes: number | undefined
}

const started = (command: LineProcess.Command): Effect.Effect<Started> =>
  Effect.scoped(
    Effect.gen(function* () {
      const process = yield* LineProcess.make(command)
      yield* process.call(Wire.initialize)
      return { ms: performance.now() - process.bornAtMs, residentBytes: process.residentBytes() }
    }),
  )

const memory = (samples: ReadonlyArray<Started>): number | undefined => {
  const known = samples.flatMap(({ residentBytes }) => residentBytes ?? [])
  return known.length === 0 ? undefined : summarize(known).median
}

/** Alternates the programs, so that a busy moment of the machine affects all of them. */
export const start = Effect.fn("bench.start")(function* (options: StartOptions) {
  const env = yield* Home.make()
  const configured = yield* Home.make(Home.providerConfig("http://127.0.0.1:9/v1"))
  const bare: Array<number> = []
  const ours: Array<Started> = []
  const withConfig: Array<Started> = []
  const peer: Array<Started> = []
  // The first run of a build fills the disk cache and Node's compile cache.
  yield* started({ args: options.server, env: configured })
  for (let run = 0; run < options.runs; run++) {
    bare.push(yield* LineProcess.timeToExit(["-e", "0"]))
    ours.push(yield* started({ args: options.server, env }))
    withConfig.push(yield* started({ args: options.server, env: configured }))
    peer.push(yield* started({ args: options.peer }))
  }
  const times = (samples: ReadonlyArray<Started>) => summarize(samples.map((one) => one.ms))
  const [node, own, read, other] = [summarize(bare), times(ours), times(withConfig), times(peer)]
  const ratio = own.median / node.median
  const [bytes, peerBytes] = [memory(ours), memory(peer)]
  return [
    {
      name: "start to the answer to initialize",
      value: `${ms(own.median)} (min ${ms(own.min)})`,
      beside: `bare Node ${ms(node.median)} (min ${ms(node.min)}): ${ratio.toFixed(2)} times`,
      aim: { text: `<= ${maxRatio} times`, met: ratio <= maxRatio },
    },
    {
      name: "the same with a config.toml",
      value: `${ms(read.median)} (min ${ms(read.min)})`,
      beside: `official SDK, no config ${ms(other.median)} (min ${ms(other.min)})`,
    },
    {
      name: "resident memory after initialize",
      value: bytes === undefined ? "unknown here" : megabytes(bytes),
      ...(peerBytes === undefined ? {} : { beside: `official SDK ${megabytes(peerBytes)}` }),
    },
  ] satisfies ReadonlyArray<Row>
})
