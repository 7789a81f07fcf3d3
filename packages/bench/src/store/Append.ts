/** The rate of appends to a log, by batch size, and the bytes that an event takes on disk. */
import type { Durability } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import { statSync } from "node:fs"
import { batch, home, metaOf, withStore } from "./Setting.ts"

/** Sizes of the measurement. */
export interface AppendSizes {
  readonly events: number
  /** Events per append. */
  readonly perBatch: number
  readonly durability: Durability
  readonly runs: number
}

/** The result. */
export interface AppendFigure {
  /** Events per second, per run in order. */
  readonly perSecond: ReadonlyArray<number>
  readonly bytesEach: number
}

/** Measures one batch size. */
export const append = (sizes: AppendSizes): Effect.Effect<AppendFigure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const path = yield* home
      return yield* withStore(path, (store) =>
        Effect.gen(function* () {
          const perSecond: Array<number> = []
          let bytesEach = 0
          for (let run = 0; run < sizes.runs; run++) {
            const meta = metaOf(run)
            const writer = yield* store.create(meta, [])
            const batches = Array.from(
              { length: Math.ceil(sizes.events / sizes.perBatch) },
              (_, i) => batch(i * sizes.perBatch, sizes.perBatch),
            )
            const startedAtMs = performance.now()
            for (const records of batches) yield* writer.append(records, sizes.durability)
            const count = batches.length * sizes.perBatch
            perSecond.push((count / (performance.now() - startedAtMs)) * 1000)
            const { path: file = "" } = yield* store.metadata({ id: meta.id })
            bytesEach = statSync(file).size / count
          }
          return { perSecond, bytesEach }
        }),
      )
    }),
  )
