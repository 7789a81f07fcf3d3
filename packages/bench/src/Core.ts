/** The benchmark `core`: conversations in memory, as an embedding application uses them. */
import * as Effect from "effect/Effect"
import type { AttachFigure, AttachSizes } from "./core/Attach.ts"
import type { IdleFigure, IdleSizes } from "./core/Idle.ts"
import type { LifecycleFigure, LifecycleSizes } from "./core/Lifecycle.ts"
import type { PublishFigure, PublishSizes } from "./core/Publish.ts"
import { take } from "./Figure.ts"
import { summarize } from "./Stats.ts"
import { kibibytes, ms, perSecond, type Row } from "./Table.ts"

/** How often each figure is taken; larger numbers take longer and vary less. */
export interface CoreCounts {
  readonly few: number
  readonly many: number
  readonly events: number
  readonly runs: number
  readonly logEvents: number
}

/** Takes about a minute on two cores. */
export const full: CoreCounts = {
  few: 10_000,
  many: 100_000,
  events: 500_000,
  runs: 5,
  logEvents: 100_000,
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: CoreCounts = { few: 20, many: 50, events: 200, runs: 2, logEvents: 1000 }

/** Heap of an idle conversation with one listener: an open window of an editor should cost one or two pages. */
const maxIdleBytes = 8 * 1024

/** Resident memory of the whole process with `many` loaded conversations. */
const maxResidentBytes = 1024 ** 3

/** Events per second to one listener. */
const minPerSecond = 500_000

const count = (value: number): string => value.toLocaleString("en-US")

const gibibytes = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(2)} GiB`

const idle = Effect.fn("bench.idle")(function* ({ few, many }: CoreCounts) {
  const measure = (conversations: number, listeners: number) =>
    take<IdleFigure>("idle", { conversations, listeners } satisfies IdleSizes)
  const bare = { few: yield* measure(few, 0), many: yield* measure(many, 0) }
  const listening = { few: yield* measure(few, 1), many: yield* measure(many, 1) }
  const of = (conversations: number, alone: IdleFigure, listened: IdleFigure): Row => ({
    name: `idle conversation, one listener, of ${count(conversations)}`,
    value: kibibytes(listened.bytesEach),
    beside: `without listener ${kibibytes(alone.bytesEach)}`,
    aim: { text: `< ${kibibytes(maxIdleBytes)}`, met: listened.bytesEach < maxIdleBytes },
  })
  const resident = listening.many.residentBytes
  return [
    of(few, bare.few, listening.few),
    of(many, bare.many, listening.many),
    {
      name: `resident memory with ${count(many)} of them`,
      value: gibibytes(resident),
      beside: `without listeners ${gibibytes(bare.many.residentBytes)}, heap and Node included`,
      aim: { text: `< ${gibibytes(maxResidentBytes)}`, met: resident < maxResidentBytes },
    },
  ] satisfies ReadonlyArray<Row>
})

const publish = Effect.fn("bench.publish")(function* (
  { events, runs }: CoreCounts,
  listeners: number,
) {
  // With many listeners each event is many deliveries, so a tenth of the events is enough work.
  const figure = yield* take<PublishFigure>("publish", {
    listeners,
    events: listeners > 4 ? Math.ceil(events / 10) : events,
    runs,
  } satisfies PublishSizes)
  const { median, min } = summarize(figure.perSecond)
  const share = `${(figure.deliveredShare * 100).toFixed(0)} % of the deltas as they came`
  return {
    name: `events to ${listeners === 1 ? "1 listener" : `${listeners} listeners`}`,
    value: perSecond(median),
    beside: `slowest turn ${perSecond(min)}${listeners === 0 ? "" : `, ${share}`}`,
    ...(listeners === 1
      ? { aim: { text: `>= ${perSecond(minPerSecond)}`, met: median >= minPerSecond } }
      : {}),
  } satisfies Row
})

const attach = Effect.fn("bench.attach")(function* ({ logEvents, runs }: CoreCounts) {
  const figure = yield* take<AttachFigure>("attach", {
    events: logEvents,
    runs,
  } satisfies AttachSizes)
  const synced = summarize(figure.syncedMs).median
  return {
    name: `attach to a log of ${count(logEvents)} events, replayed`,
    value: ms(synced),
    beside: `first events after ${ms(summarize(figure.firstMs).median)}, ${perSecond((figure.events / synced) * 1000)}`,
  } satisfies Row
})

const lifecycle = Effect.fn("bench.lifecycle")(function* (conversations: number) {
  const { createMs, removeMs } = yield* take<LifecycleFigure>("lifecycle", {
    conversations,
  } satisfies LifecycleSizes)
  const each = (total: number) => `${((total / conversations) * 1000).toFixed(1)} µs`
  return {
    name: `create and remove ${count(conversations)} conversations`,
    value: ms(createMs + removeMs),
    beside: `each created in ${each(createMs)}, removed in ${each(removeMs)}`,
  } satisfies Row
})

/** Measures conversations in memory, and prints one row per figure. */
export const core = Effect.fn("bench.core")(function* (counts: CoreCounts) {
  const rows: Array<Row> = [...(yield* idle(counts))]
  for (const listeners of [0, 1, 4, 64]) rows.push(yield* publish(counts, listeners))
  rows.push(yield* attach(counts))
  for (const conversations of [counts.few, counts.many]) rows.push(yield* lifecycle(conversations))
  return rows
})
