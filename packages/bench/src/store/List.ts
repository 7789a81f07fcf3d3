/** How long a list of many conversations takes, with its index and without it. */
import * as Effect from "effect/Effect"
import { batch, forget, home, metaOf, withStore } from "./Setting.ts"

/** Sizes of the measurement. */
export interface ListSizes {
  readonly conversations: number
  readonly runs: number
}

/** Durations in milliseconds. */
export interface ListFigure {
  /** First list of a process, with an index. */
  readonly firstMs: ReadonlyArray<number>
  /** All conversations in one page. */
  readonly allMs: ReadonlyArray<number>
  /** The newest 25. */
  readonly pageMs: ReadonlyArray<number>
  /** The newest 25 that contain a text. */
  readonly searchMs: ReadonlyArray<number>
  /** First list of a process, without an index. */
  readonly rebuildMs: ReadonlyArray<number>
}

/** Measures all lists. */
export const list = (sizes: ListSizes): Effect.Effect<ListFigure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const path = yield* home
      yield* withStore(path, (store) =>
        Effect.gen(function* () {
          for (let number = 0; number < sizes.conversations; number++) {
            yield* Effect.scoped(store.create(metaOf(number), batch(0, 8)))
          }
        }),
      )
      const times: Record<keyof ListFigure, Array<number>> = {
        firstMs: [],
        allMs: [],
        pageMs: [],
        searchMs: [],
        rebuildMs: [],
      }
      for (let run = 0; run < sizes.runs; run++) {
        if (run < 3) {
          yield* forget(path)
          yield* withStore(path, (store) => timed(times.rebuildMs, store.list({ limit: 25 })))
        }
        yield* withStore(path, (store) =>
          Effect.gen(function* () {
            yield* timed(times.firstMs, store.list({ limit: 25 }))
            yield* timed(times.pageMs, store.list({ limit: 25 }))
            yield* timed(times.searchMs, store.list({ limit: 25, text: "NOTHING of the kind" }))
            yield* timed(times.allMs, store.list({ limit: sizes.conversations }))
          }),
        )
      }
      return times
    }),
  )

const timed = <A, E>(into: Array<number>, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const startedAtMs = performance.now()
    return Effect.tap(effect, () =>
      Effect.sync(() => {
        into.push(performance.now() - startedAtMs)
      }),
    )
  })
