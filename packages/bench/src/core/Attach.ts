/** How long a listener waits that attaches to a long conversation: for its first events, and for all of them. */
import type { ModelEvent } from "@colloquy/core/ModelClient"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isTurnEnd, readUntil, say, settings, withManager } from "./Setting.ts"

export interface AttachSizes {
  /** Durable events in the log, at least. */
  readonly events: number
  readonly runs: number
}

export interface AttachFigure {
  readonly events: number
  /** Of each run, to the first piece of the replay. */
  readonly firstMs: ReadonlyArray<number>
  /** Of each run, to `Synced`. */
  readonly syncedMs: ReadonlyArray<number>
}

/** Each leaves two durable events: the record, and what listeners are told. */
const item: ModelEvent = {
  _tag: "ItemDone",
  item: { type: "message", role: "assistant", content: [{ type: "output_text", text: "word" }] },
}

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
