/**
 * The bytes that a turn and one delta allocate in the core, with a listener that reads. Garbage must not be collected
 * meanwhile: the process needs a young generation that holds everything, and code that is not optimised, because the
 * optimised code leaves out what it can prove to be unused.
 */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import * as Effect from "effect/Effect"
import { PerformanceObserver } from "node:perf_hooks"
import { isTurnEnd, readUntil, say, settings, speech, withManager } from "./Setting.ts"

/** Sizes of the measurement. */
export interface AllocatedSizes {
  /** Turns with one delta, and as many with one more than `deltas`. */
  readonly turns: number
  readonly deltas: number
}

/** The result. */
export interface AllocatedFigure {
  /** Bytes of a turn with one delta. */
  readonly bytesPerTurn: number
  /** Bytes of each further delta. */
  readonly bytesPerDelta: number
  /** Collections of garbage while it was measured: the bytes are right only without any. */
  readonly collections: number
}

/** Turns that come first and are not counted: they load code, and each call site gets its feedback. */
const warmUp = 100

/** Measures so many turns of one conversation. */
export const allocated = ({ deltas, turns }: AllocatedSizes): Effect.Effect<AllocatedFigure> => {
  let said = 1
  const measure = Effect.fnUntraced(function* (manager: ConversationManager["Service"]) {
    const conversation = yield* manager.create(settings())
    const listener = yield* conversation.attach()
    const bytesOf = Effect.fnUntraced(function* (count: number) {
      const before = process.memoryUsage().heapUsed
      for (let n = 0; n < count; n++) {
        yield* say(conversation)
        yield* readUntil(listener, isTurnEnd)
      }
      return (process.memoryUsage().heapUsed - before) / count
    })
    yield* bytesOf(warmUp)
    let collections = 0
    const observer = new PerformanceObserver((list) => (collections += list.getEntries().length))
    observer.observe({ entryTypes: ["gc"] })
    const bytesPerTurn = yield* bytesOf(turns)
    said = 1 + deltas
    yield* bytesOf(1)
    const bytesPerDelta = ((yield* bytesOf(turns)) - bytesPerTurn) / deltas
    // The observer is told by a later turn of the event loop.
    yield* Effect.sleep("50 millis")
    observer.disconnect()
    return { bytesPerTurn, bytesPerDelta, collections }
  })
  return withManager(
    () => speech(said),
    (manager) => Effect.orDie(measure(manager)),
  )
}
