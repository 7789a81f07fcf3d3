/**
 * The benchmark `store`: conversations in files and in databases, on the disk of the directory for temporary files. Every
 * commit of a database is synced, as with the settings that it has by default.
 */
import * as Effect from "effect/Effect"
import { missingPostgres } from "@colloquy/testing/PostgresServer"
import { take } from "./Figure.ts"
import { summarize } from "./Stats.ts"
import type { AppendFigure, AppendSizes } from "./store/Append.ts"
import type { ListFigure, ListSizes } from "./store/List.ts"
import type { ResumeFigure, ResumeSizes } from "./store/Resume.ts"
import type { SqlAppendFigure, SqlAppendSizes } from "./store/SqlAppend.ts"
import { megabytes, ms, perSecond, type Row } from "./Table.ts"

/** How often each figure is taken; larger numbers take longer and vary less. */
export interface StoreCounts {
  readonly events: number
  readonly syncedEach: number
  readonly resumed: ReadonlyArray<number>
  readonly conversations: number
  readonly runs: number
}

/** Takes about a minute on two cores. */
export const full: StoreCounts = {
  events: 200_000,
  syncedEach: 2000,
  resumed: [1000, 10_000, 100_000],
  conversations: 10_000,
  runs: 5,
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: StoreCounts = {
  events: 200,
  syncedEach: 10,
  resumed: [100],
  conversations: 20,
  runs: 2,
}

/** Events per second in batches of 100. */
const minBatched = 100_000

/** Milliseconds to load a log of 10,000 events. */
const maxResumeMs = 100

/** Milliseconds to list 10,000 conversations. */
const maxListMs = 50

const count = (value: number): string => value.toLocaleString("en-US")

const appends = Effect.fn("bench.appends")(function* ({ events, runs, syncedEach }: StoreCounts) {
  const measure = (sizes: Omit<AppendSizes, "runs">) =>
    Effect.map(
      take<AppendFigure>("append", { ...sizes, runs } satisfies AppendSizes),
      (figure) => ({
        ...figure,
        ...summarize(figure.perSecond),
      }),
    )
  const batched = yield* measure({ events, perBatch: 100, durability: "written" })
  const synced = yield* measure({ events, perBatch: 100, durability: "synced" })
  const each = yield* measure({ events: events / 10, perBatch: 1, durability: "written" })
  const eachSynced = yield* measure({ events: syncedEach, perBatch: 1, durability: "synced" })
  return [
    {
      name: "events appended, 100 at a time",
      value: perSecond(batched.median),
      beside: `slowest run ${perSecond(batched.min)}`,
      aim: { text: `>= ${perSecond(minBatched)}`, met: batched.median >= minBatched },
    },
    { name: "the same, each batch synced", value: perSecond(synced.median) },
    { name: "events appended one at a time", value: perSecond(each.median) },
    { name: "the same, each synced", value: perSecond(eachSynced.median) },
    { name: "an event on the disk", value: `${batched.bytesEach.toFixed(0)} bytes` },
  ] satisfies ReadonlyArray<Row>
})

const resume = Effect.fn("bench.resume")(function* (events: number, runs: number) {
  const figure = yield* take<ResumeFigure>("resume", { events, runs } satisfies ResumeSizes)
  const median = summarize(figure.ms).median
  return {
    name: `resume of ${count(events)} events`,
    value: ms(median),
    beside: `after a crash ${ms(summarize(figure.afterCrashMs).median)}, the last 100 ${ms(summarize(figure.lastPageMs).median)}, heap +${megabytes(figure.growthBytes)}`,
    ...(events === 10_000
      ? { aim: { text: `< ${ms(maxResumeMs)}`, met: median < maxResumeMs } }
      : {}),
  } satisfies Row
})

const lists = Effect.fn("bench.lists")(function* ({ conversations, runs }: StoreCounts) {
  const figure = yield* take<ListFigure>("list", { conversations, runs } satisfies ListSizes)
  const all = summarize(figure.allMs).median
  const first = summarize(figure.firstMs).median
  return [
    {
      name: `first list of a process, of ${count(conversations)}`,
      value: ms(first),
      beside: `the next ${ms(summarize(figure.pageMs).median)}, a search ${ms(summarize(figure.searchMs).median)}, 25 to a page`,
      aim: { text: `< ${ms(maxListMs)}`, met: first < maxListMs },
    },
    { name: `all ${count(conversations)} in one page`, value: ms(all) },
    { name: "rebuilding the index", value: ms(summarize(figure.rebuildMs).median) },
  ] satisfies ReadonlyArray<Row>
})

/** Appends to a database, beside a loop of plain INSERT statements that adds the same rows. */
const sqlAppends = Effect.fn("bench.sqlAppends")(function* (
  database: SqlAppendSizes["database"],
  { runs, syncedEach }: StoreCounts,
) {
  const name = database === "sqlite" ? "SQLite" : "PostgreSQL"
  const rows: Array<Row> = []
  for (const perBatch of [100, 1]) {
    const events = perBatch === 1 ? syncedEach : syncedEach * 10
    const sizes: SqlAppendSizes = { database, events, perBatch, runs }
    const figure = yield* take<SqlAppendFigure>("sqlAppend", sizes)
    const median = summarize(figure.perSecond).median
    const floor = summarize(figure.insertsPerSecond).median
    rows.push({
      name: `${name}: events appended, ${perBatch === 1 ? "one" : count(perBatch)} at a time`,
      value: perSecond(median),
      beside: `plain INSERT of the same rows ${perSecond(floor)}, ${(floor / median).toFixed(2)} times as fast`,
    })
    if (perBatch > 1) {
      rows.push({
        name: `${name}: an event on the disk`,
        value: `${figure.bytesEach.toFixed(0)} bytes`,
        beside: "with its indexes",
      })
    }
  }
  return rows
})

/** Measures stored conversations, and prints one row per figure. */
export const store = Effect.fn("bench.store")(function* (counts: StoreCounts) {
  const rows: Array<Row> = [...(yield* appends(counts))]
  for (const events of counts.resumed) rows.push(yield* resume(events, counts.runs))
  rows.push(...(yield* lists(counts)))
  rows.push(...(yield* sqlAppends("sqlite", counts)))
  const missing = missingPostgres()
  if (missing === undefined) rows.push(...(yield* sqlAppends("postgres", counts)))
  else rows.push({ name: "PostgreSQL", value: "not measured", beside: missing })
  return rows
})
