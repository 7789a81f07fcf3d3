/** A time limit that is suspended while something else is awaited. Uses `Clock` (L12). */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Suspends the limits that it created. */
export interface Pauses {
  /** Suspends all limits while the effect runs. */
  readonly pause: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Interrupts an effect that takes longer than the limit, pauses not counted. */
  readonly timeout: <B, E2, R2>(
    limit: Duration.Duration,
    orElse: () => Effect.Effect<B, E2, R2>,
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A | B, E | E2, R | R2>
}

/** Limits that are suspended together. */
export const makePauses = (): Pauses => {
  let open = 0
  let since = 0
  /** Milliseconds of completed pauses. */
  let past = 0
  let running = Deferred.makeUnsafe<void>()

  const enter = Effect.map(Clock.currentTimeMillis, (now) => {
    if (open++ > 0) return
    since = now
    running = Deferred.makeUnsafe()
  })
  const leave = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (--open > 0) return Effect.void
    past += now - since
    return Effect.asVoid(Deferred.succeed(running, undefined))
  })

  /** Resolves when `limit` has passed outside of all pauses. */
  const wait = (limit: Duration.Duration): Effect.Effect<void> =>
    Effect.gen(function* () {
      const startedAt = yield* Clock.currentTimeMillis
      const pastBefore = past - (open > 0 ? since - startedAt : 0)
      while (true) {
        if (open > 0) yield* Deferred.await(running)
        const now = yield* Clock.currentTimeMillis
        const left = Duration.toMillis(limit) - (now - startedAt - (past - pastBefore))
        if (left <= 0 && open === 0) return
        yield* Effect.sleep(Duration.millis(Math.max(left, 0)))
      }
    })

  return {
    pause: (effect) =>
      Effect.acquireUseRelease(
        enter,
        () => effect,
        () => leave,
      ),
    timeout: (limit, orElse) => (effect) =>
      Effect.raceFirst(effect, Effect.flatMap(wait(limit), orElse)),
  }
}
