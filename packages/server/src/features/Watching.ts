/** What is watched because somebody subscribes to it: each address once, however many wait for it, until the last leaves. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

interface Watched {
  readonly scope: Scope.Closeable
  users: number
}

/** `begin` runs for the first who wants that key, in a scope that ends with the last. */
export type Watching = <E>(
  key: string,
  begin: Effect.Effect<void, E, Scope.Scope>,
) => Effect.Effect<void, E, Scope.Scope>

export const make = (): Watching => {
  const watched = new Map<string, Watched>()
  const one = Semaphore.makeUnsafe(1)

  const leave = (key: string, mine: Watched): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (--mine.users > 0) return Effect.void
      if (watched.get(key) === mine) watched.delete(key)
      return Scope.close(mine.scope, Exit.void)
    })

  return (key, begin) =>
    Effect.asVoid(
      Effect.acquireRelease(
        one.withPermit(
          Effect.gen(function* () {
            const known = watched.get(key)
            if (known !== undefined) {
              known.users++
              return known
            }
            const scope = yield* Scope.make()
            const mine: Watched = { scope, users: 1 }
            yield* Scope.provide(begin, scope).pipe(
              Effect.onError(() => Scope.close(scope, Exit.void)),
            )
            watched.set(key, mine)
            return mine
          }),
        ),
        (mine) => one.withPermit(leave(key, mine)),
      ),
    )
}
