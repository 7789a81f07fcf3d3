/** One effect of a name at a time; the others of that name wait their turn, and may be interrupted meanwhile. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

interface Turn {
  readonly one: Semaphore.Semaphore
  users: number
}

/** Keeps nothing of a name that nobody uses. */
export const exclusively = () => {
  const turns = new Map<string, Turn>()
  return <A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const turn = turns.get(name) ?? { one: Semaphore.makeUnsafe(1), users: 0 }
        turn.users++
        turns.set(name, turn)
        return turn
      }),
      ({ one }) => one.withPermit(effect),
      (turn) =>
        Effect.sync(() => {
          if (--turn.users === 0) turns.delete(name)
        }),
    )
}
