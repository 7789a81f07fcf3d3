/** A limit in time that stands still while something else is waited for. On `Clock` (L12). */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export interface Pauses {
  /** While this runs, and while any other does, no limit runs on. */
  readonly pause: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Interrupts what takes longer, pauses not counted. */
  readonly timeout: <B, E2, R2>(
    limit: Duration.Duration,
    orElse: () => Effect.Effect<B, E2, R2>,
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A | B, E | E2, R | R2>
}

export const makePauses = (): Pauses => {
  let open = 0
  let since = 0
  /** Milliseconds of pauses that are over. */
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

  /** Waits until `limit` has passed beside all pauses. */
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
