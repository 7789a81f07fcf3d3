/** Notifications of one call: `codex/event` here, the shorter `notifications/progress` of the other servers. */
import * as Effect from "effect/Effect"
import { summarize } from "../Stats.ts"
import { perSecond, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"
import { beside, type Contender, type Contenders, each, map, ready, rounds } from "./Contenders.ts"

/** More than the 211,000/s of the SDK in an early measurement. */
const minPerSecond = 250_000

/** Number of events that a busy turn delivers at once. */
const together = 64

/** Sizes of the measurement. */
export interface NotificationSizes {
  /** Notifications per call. */
  readonly notifications: number
  readonly rounds: number
}

/** Calls the tool `count` and returns its notifications per second. */
const counting = Effect.fnUntraced(function* (contender: Contender, notifications: number) {
  const process = yield* ready(contender)
  const to = Math.ceil(notifications * contender.share)
  const at = (size: number) =>
    Effect.map(
      process.call(Wire.toolCall(2, "count", { to, at: size }, { progressToken: "token" })),
      ({ chunks, ms }) => {
        const lines = Buffer.concat(chunks).reduce(
          (sum, byte) => (byte === 0x0a ? sum + 1 : sum),
          0,
        )
        if (lines !== to + 1) throw new Error(`${lines} lines, and ${to + 1} were asked for`)
        return (to / ms) * 1000
      },
    )
  yield* at(1)
  return at
})

/** Measures all servers. */
export const notifications = Effect.fn("bench.mcp.notifications")(function* (
  contenders: Contenders<Contender>,
  sizes: NotificationSizes,
) {
  const processes = yield* each(contenders, (one) => counting(one, sizes.notifications))
  const single = yield* rounds(sizes.rounds, processes, (at) => at(1))
  const rates = map(single, (all) => summarize(all).median)
  const batches: Array<number> = []
  for (let round = 0; round < sizes.rounds; round++) batches.push(yield* processes.own(together))
  const batched = summarize(batches).median
  const aim = (rate: number) => ({
    text: `>= ${perSecond(minPerSecond)}`,
    met: rate >= minPerSecond,
  })
  return [
    {
      name: "notifications of one call, one by one",
      value: perSecond(rates.own),
      beside: beside(map(rates, perSecond)),
      aim: aim(rates.own),
    },
    {
      name: `the same, ${together} at once`,
      value: perSecond(batched),
      beside: "as a turn hands them over that is behind",
      aim: aim(batched),
    },
  ] satisfies ReadonlyArray<Row>
})
