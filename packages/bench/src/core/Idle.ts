/** The memory of an idle conversation. */
import * as Effect from "effect/Effect"
import { heapBytes, settings, silent, withManager } from "./Setting.ts"

/** Sizes of the measurement. */
export interface IdleSizes {
  readonly conversations: number
  /** Listeners of each conversation; they have read everything. */
  readonly listeners: number
}

/** The result. */
export interface IdleFigure {
  /** Heap per conversation in bytes, after garbage collection. */
  readonly bytesEach: number
  /** Resident memory of the whole process in bytes, Node included. */
  readonly residentBytes: number
}

/** Measures the memory per conversation. */
export const idle = (sizes: IdleSizes): Effect.Effect<IdleFigure> =>
  withManager(silent, (manager) =>
    Effect.gen(function* () {
      // The first conversation loads and compiles code; that is not a cost of the others.
      const warm = yield* Effect.orDie(manager.create(settings()))
      yield* Effect.scoped(Effect.flatMap(warm.attach({ from: 0 }), (listener) => listener.take))
      const before = yield* heapBytes
      const listeners = []
      for (let n = 0; n < sizes.conversations; n++) {
        const conversation = yield* Effect.orDie(manager.create(settings()))
        for (let l = 0; l < sizes.listeners; l++) {
          const listener = yield* conversation.attach({ from: 0 })
          yield* listener.take
          listeners.push(listener)
        }
      }
      const after = yield* heapBytes
      const bytesEach = (after - before) / sizes.conversations
      return { bytesEach, residentBytes: process.memoryUsage.rss() }
    }).pipe(Effect.orDie),
  )
