/** Locks by name, each of which exists only while it is used. Not of the database: they order the fibers of one process. */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"

interface Lock {
  readonly turn: Semaphore.Semaphore
  users: number
}

/** The locks. */
export class KeyedLocks {
  private readonly locks = new Map<string, Lock>()

  /** Runs an effect while no other one runs under this name. */
  with<A, E, R>(name: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const lock = this.locks.get(name) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
        lock.users++
        this.locks.set(name, lock)
        return lock
      }),
      ({ turn }) => turn.withPermit(effect),
      (lock) =>
        Effect.sync(() => {
          if (--lock.users === 0) this.locks.delete(name)
        }),
    )
  }
}
