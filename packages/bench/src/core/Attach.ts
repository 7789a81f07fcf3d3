/** How long a listener that attaches to a long conversation waits for its first events, and for all of them. */
import type { ModelEvent } from "@colloquy/core/ModelClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isTurnEnd, readUntil, say, settings, withManager } from "./Setting.ts"

/** Sizes of the measurement. */
export interface AttachSizes {
  /** Minimal number of durable events in the log. */
  readonly events: number
  readonly runs: number
}

/** The result. */
export interface AttachFigure {
  readonly events: number
  /** Milliseconds to the first part of the replay, per run. */
  readonly firstMs: ReadonlyArray<number>
  /** Milliseconds to `Synced`, per run. */
  readonly syncedMs: ReadonlyArray<number>
}

/** Each causes two durable events: the recorded input, and the event for listeners. */
const item: ModelEvent = {
  _tag: "ItemDone",
  item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "word" }] },
}

/** Measures both durations. */
export const attach = (sizes: AttachSizes): Effect.Effect<AttachFigure> =>
  withManager(
    () =>
      Stream.fromIterable<ModelEvent>([
        ...Array.from({ length: Math.ceil(sizes.events / 2) }, () => item),
        { _tag: "Completed" },
      ]),
    (manager) =>
      Effect.gen(function* () {
        const conversation = yield* manager.create(settings())
        const first = yield* conversation.attach()
        yield* say(conversation)
        yield* readUntil(first, isTurnEnd)
        const firstMs: Array<number> = []
        const syncedMs: Array<number> = []
        for (let run = 0; run < sizes.runs; run++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const startedAtMs = performance.now()
              const listener = yield* conversation.attach({ from: 0 })
              yield* listener.take
              firstMs.push(performance.now() - startedAtMs)
              yield* readUntil(listener, (delivery) => delivery._tag === "Synced")
              syncedMs.push(performance.now() - startedAtMs)
            }),
          )
        }
        const { seq: events } = yield* conversation.state
        return { events, firstMs, syncedMs }
      }).pipe(Effect.orDie),
  )
