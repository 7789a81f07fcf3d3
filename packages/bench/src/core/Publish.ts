/** The rate at which a conversation delivers the model's deltas; every array of the stream has one delta, the worst case. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { isTurnEnd, readUntil, say, settings, speech, withManager } from "./Setting.ts"

/** Sizes of the measurement. */
export interface PublishSizes {
  readonly listeners: number
  readonly events: number
  /** Turns, each in a separate conversation; the first one is not counted. */
  readonly runs: number
}

/** The result. */
export interface PublishFigure {
  /** Events of the model per second, per counted turn in order. */
  readonly perSecond: ReadonlyArray<number>
  /** Events delivered to a listener per event of the model: a listener that is behind gets coalesced deltas. */
  readonly deliveredShare: number
}

/** Measures the rate for one number of listeners. */
export const publish = (sizes: PublishSizes): Effect.Effect<PublishFigure> =>
  withManager(
    () => speech(sizes.events),
    (manager) =>
      Effect.gen(function* () {
        const perSecond: Array<number> = []
        let delivered = 0
        for (let run = 0; run <= sizes.runs; run++) {
          const conversation = yield* manager.create(settings())
          const readers: Array<Fiber.Fiber<number>> = []
          for (let n = 0; n < sizes.listeners; n++) {
            const listener = yield* conversation.attach()
            readers.push(yield* Effect.forkChild(readUntil(listener, isTurnEnd)))
          }
          // Without a listener the end of the turn is visible only in the state.
          const startedAtMs = performance.now()
          yield* say(conversation)
          for (const reader of readers) delivered += yield* Fiber.join(reader)
          if (sizes.listeners === 0) {
            while ((yield* conversation.state).turn !== undefined) yield* Effect.sleep(1)
          }
          if (run > 0) perSecond.push((sizes.events / (performance.now() - startedAtMs)) * 1000)
          yield* manager.remove(conversation.id)
        }
        const said = sizes.events * (sizes.runs + 1) * Math.max(1, sizes.listeners)
        return { perSecond, deliveredShare: delivered / said }
      }).pipe(Effect.orDie),
  )
