/** How long a new process takes to resume a stored conversation: to open it and to read its whole log by pages. */
import type { Position } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import { batch, forget, home, metaOf, withStore } from "./Setting.ts"

/** Sizes of the measurement. */
export interface ResumeSizes {
  readonly events: number
  readonly runs: number
}

/** The result; durations in milliseconds. */
export interface ResumeFigure {
  /** Per run, after the previous writer closed the log. */
  readonly ms: ReadonlyArray<number>
  /** Per run, after the previous writer was killed: the file is checked first. */
  readonly afterCrashMs: ReadonlyArray<number>
  /** Last page of 100 records, from the end. */
  readonly lastPageMs: ReadonlyArray<number>
  /** Largest growth of the heap in bytes while the log was read and discarded. */
  readonly growthBytes: number
}

const pageRecords = 1000

const heap = () => process.memoryUsage().heapUsed

const meta = metaOf(1)

/** Writes a closed log with so many events. */
const writeLog = (path: string, events: number) =>
  withStore(path, (store) =>
    Effect.gen(function* () {
      const writer = yield* store.create(meta, [])
      for (let from = 0; from < events; from += 1000) {
        yield* writer.append(batch(from, Math.min(1000, events - from)), "written")
      }
    }),
  )

/** Runs `before`, opens the log in a new store and reads all of it by pages; resolves to the milliseconds and the growth of the heap. */
const readLog = (path: string, events: number, before: Effect.Effect<void>) =>
  withStore(path, (store) =>
    Effect.gen(function* () {
      yield* before
      globalThis.gc?.()
      const heapBefore = heap()
      const startedAtMs = performance.now()
      yield* store.open({ id: meta.id })
      let count = 0
      for (let from: Position | undefined = 0; from !== undefined;) {
        const page: { readonly records: ReadonlyArray<unknown>; readonly next?: Position } =
          yield* store.read(meta.id, { from, max: pageRecords })
        count += page.records.length
        from = page.next
      }
      const ms = performance.now() - startedAtMs
      if (count !== events) return yield* Effect.die(`${count} events`)
      globalThis.gc?.()
      return { ms, growthBytes: heap() - heapBefore }
    }),
  )

/** Reads the last page in a new store; resolves to the milliseconds. */
const readLastPage = (path: string) =>
  withStore(path, (store) =>
    Effect.gen(function* () {
      yield* store.metadata({ id: meta.id })
      const startedAtMs = performance.now()
      yield* store.readBackward(meta.id, { max: 100 })
      return performance.now() - startedAtMs
    }),
  )

/** Measures one log. */
export const resume = (sizes: ResumeSizes): Effect.Effect<ResumeFigure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const path = yield* home
      yield* writeLog(path, sizes.events)
      let growthBytes = 0
      const ms: Array<number> = []
      const afterCrashMs: Array<number> = []
      const lastPageMs: Array<number> = []
      for (let run = 0; run < sizes.runs; run++) {
        const closed = yield* readLog(path, sizes.events, Effect.void)
        const killed = yield* readLog(path, sizes.events, forget(path))
        ms.push(closed.ms)
        afterCrashMs.push(killed.ms)
        growthBytes = Math.max(growthBytes, closed.growthBytes, killed.growthBytes)
        lastPageMs.push(yield* readLastPage(path))
      }
      return { ms, afterCrashMs, lastPageMs, growthBytes }
    }),
  )
