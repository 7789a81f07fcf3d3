/** Notifications of one call: ours are `codex/event`, those of the others `notifications/progress`, which are shorter. */
import * as Effect from "effect/Effect"
import { summarize } from "../Stats.ts"
import { perSecond, type Row } from "../Table.ts"
import * as Wire from "../Wire.ts"
import { beside, type Contender, type Contenders, each, map, ready, rounds } from "./Contenders.ts"

/** Above the SDK's 211,000 of mcp-perf. */
const minPerSecond = 250_000

/** What a turn that is behind hands over at once. */
const together = 64

export interface NotificationSizes {
  /** Per call. */
  readonly notifications: number
  readonly rounds: number
}

/** A call of the tool `count`; its notifications per second. */
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
