/** The benchmark `conversations`: one process that serves more and more of them. */
import * as Effect from "effect/Effect"
import type { PeriodicFigure, PeriodicSizes } from "./core/Periodic.ts"
import type { SequentialFigure, SequentialSizes } from "./core/Sequential.ts"
import { take } from "./Figure.ts"
import { kibibytes, megabytes, ms, perSecond, type Row } from "./Table.ts"

/** Largest numbers of conversations, powers of ten. */
export interface ConversationsCounts {
  readonly files: number
  readonly memory: number
  /** The day of virtual time. */
  readonly day: PeriodicSizes
}

/** Takes some minutes on two cores. */
export const full: ConversationsCounts = {
  files: 10_000,
  memory: 100_000,
  day: { conversations: 20, hours: 8 },
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: ConversationsCounts = {
  files: 1,
  memory: 10,
  day: { conversations: 1, hours: 1 },
}

/** What an evicted conversation of which the files keep the log may leave in memory: its id and where it is. */
const maxBytesEach = 1024

/** Below this number what the process itself allocates meanwhile outweighs the conversations. */
const firstJudged = 1000

const row = Effect.fn("bench.sequential")(function* (sizes: SequentialSizes) {
  const figure = yield* take<SequentialFigure>("sequential", sizes)
  const { bytesEach, p99Ms, residentBytes } = figure
  const isJudged = sizes.store === "files" && sizes.conversations >= firstJudged
  return {
    name: `${sizes.conversations.toLocaleString("en-US")} conversations of one turn, ${sizes.store}`,
    value: perSecond(figure.perSecond),
    beside: `p99 ${ms(p99Ms)}, heap of each ${kibibytes(bytesEach)}, resident ${megabytes(residentBytes)}`,
    ...(isJudged
      ? { aim: { text: `< ${kibibytes(maxBytesEach)}`, met: bytesEach < maxBytesEach } }
      : {}),
  } satisfies Row
})

/** An eighth of what a turn would leave if its events stayed in memory. */
const maxBytesEachTurn = 256

const day = Effect.fn("bench.periodic")(function* (sizes: PeriodicSizes) {
  const { bytesEachTurn, perSecond: turns } = yield* take<PeriodicFigure>("periodic", sizes)
  const isJudged = sizes.hours >= full.day.hours
  return {
    name: `${sizes.conversations} conversations that are loaded for each turn, ${sizes.hours} hours of virtual time`,
    value: perSecond(turns),
    beside: `heap of each turn ${kibibytes(bytesEachTurn)}`,
    ...(isJudged
      ? {
          aim: { text: `< ${kibibytes(maxBytesEachTurn)}`, met: bytesEachTurn < maxBytesEachTurn },
        }
      : {}),
  } satisfies Row
})

/** Measures each power of ten, and then the day, and prints one row for each. The store in memory keeps the events of every conversation. */
export const conversations = Effect.fn("bench.conversations")(function* (
  counts: ConversationsCounts,
) {
  const rows: Array<Row> = []
  for (const store of ["files", "memory"] as const) {
    for (let n = 1; n <= counts[store]; n *= 10) {
      rows.push(yield* row({ conversations: n, store }))
    }
  }
  rows.push(yield* day(counts.day))
  return rows
})
