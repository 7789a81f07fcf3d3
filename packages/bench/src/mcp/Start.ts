/** Start time and resident memory of the built program beside the other servers. */
import * as Effect from "effect/Effect"
import * as LineProcess from "../LineProcess.ts"
import { summarize } from "../Stats.ts"
import { megabytes, ms, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"
import { beside, type Contenders, map, rounds } from "./Contenders.ts"

/** A prototype with Effect and Schema in a bundle took 54 ms and 47 MB. */
const maxStartMs = 60
const maxBytes = 60_000_000

/** Sizes of the measurement. */
export interface StartSizes {
  readonly starts: number
}

const started = (command: LineProcess.Command) =>
  Effect.scoped(
    Effect.gen(function* () {
      const process = yield* LineProcess.make(command)
      yield* process.call(Wire.initialize)
      return {
        ms: performance.now() - process.bornAtMs,
        bytes: process.residentBytes() ?? Number.NaN,
      }
    }),
  )

/** Measures all servers. */
export const start = Effect.fn("bench.mcp.start")(function* (
  commands: Contenders<LineProcess.Command>,
  { starts }: StartSizes,
) {
  // The first run of a build fills the disk cache and Node's compile cache.
  yield* started(commands.own)
  const all = yield* rounds(starts, commands, started)
  const times = map(all, (one) => summarize(one.map((sample) => sample.ms)))
  const bytes = map(all, (one) => summarize(one.map((sample) => sample.bytes)).median)
  const rows: Array<Row> = [
    {
      name: "start to the answer to initialize, built",
      value: `${ms(times.own.median)} (min ${ms(times.own.min)})`,
      beside: beside(map(times, ({ median }) => ms(median))),
      aim: { text: `< ${maxStartMs} ms`, met: times.own.median < maxStartMs },
    },
  ]
  // There is no `/proc`.
  if (Number.isNaN(bytes.own)) return rows
  rows.push({
    name: "resident memory then",
    value: megabytes(bytes.own),
    beside: beside(map(bytes, megabytes)),
    aim: { text: `< ${megabytes(maxBytes)}`, met: bytes.own < maxBytes },
  })
  return rows
})
