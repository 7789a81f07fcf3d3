/**
 * Resources that several users share by a key: opened by the first user of a key, released when the scope of its last
 * user closes. Keeps no state for a key without users, or for a key that failed to open.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Hash from "effect/Hash"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"

/**
 * Resolves with the resource of that key. The caller may use it until the caller's scope closes. `open` runs only for
 * the first user, in a scope that closes after the last one; concurrent users wait for it and share its failure.
 */
export type Shared<A, E> = (
  key: string,
  open: Effect.Effect<A, E, Scope.Scope>,
) => Effect.Effect<A, E, Scope.Scope>

/** A key with the effect that opens its resource. Keys are equal by name only, so only the first user's `open` runs. */
class Key<A, E> implements Equal.Equal {
  readonly name: string
  readonly open: Effect.Effect<A, E, Scope.Scope>

  constructor(name: string, open: Effect.Effect<A, E, Scope.Scope>) {
    this.name = name
    this.open = open
  }

  [Equal.symbol](that: Equal.Equal): boolean {
    return that instanceof Key && that.name === this.name
  }

  [Hash.symbol](): number {
    return Hash.string(this.name)
  }
}

/** Creates an empty table. Resources that are still in use when its scope closes are released then. */
export const make = <A, E = never>(): Effect.Effect<Shared<A, E>, never, Scope.Scope> =>
  Effect.map(
    RcMap.make({ lookup: (key: Key<A, E>) => key.open }),
    (map): Shared<A, E> =>
      (name, open) =>
        Effect.gen(function* () {
          // A failed use is released at once, so that a later one opens the resource again.
          const use = yield* Scope.fork(yield* Effect.scope)
          return yield* RcMap.get(map, new Key(name, open)).pipe(
            Scope.provide(use),
            Effect.onError(() => Scope.close(use, Exit.void)),
          )
        }),
  )
