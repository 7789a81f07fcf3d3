/**
 * A time limit that is suspended while something else is awaited. Uses `Clock` (L12).
 *
 *     running --first pause--> paused --end of the last overlapping pause--> running
 */
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

class SharedPauses {
  /** Number of effects that are paused for. */
  private open = 0
  /** Start of the current pause, in milliseconds. */
  private since = 0
  /** Milliseconds of completed pauses. */
  private past = 0
  /** Completed when the current pause ends. */
  private running = Deferred.makeUnsafe<void>()

  readonly enter: Effect.Effect<void> = Effect.map(Clock.currentTimeMillis, (now) => {
    if (this.open++ > 0) return
    this.since = now
    this.running = Deferred.makeUnsafe()
  })

  readonly leave: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (--this.open > 0) return Effect.void
    this.past += now - this.since
    return Effect.asVoid(Deferred.succeed(this.running, undefined))
  })

  /** Resolves when `limit` has passed outside of all pauses. */
  wait(limit: Duration.Duration): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const startedAt = yield* Clock.currentTimeMillis
      const pastBefore = this.past - (this.open > 0 ? this.since - startedAt : 0)
      while (true) {
        if (this.open > 0) yield* Deferred.await(this.running)
        const now = yield* Clock.currentTimeMillis
        const left = Duration.toMillis(limit) - (now - startedAt - (this.past - pastBefore))
        if (left <= 0 && this.open === 0) return
        yield* Effect.sleep(Duration.millis(Math.max(left, 0)))
      }
    })
  }
}

/** Limits that are suspended together. */
export const makePauses = (): Pauses => {
  const pauses = new SharedPauses()
  return {
    pause: (effect) =>
      Effect.acquireUseRelease(
        pauses.enter,
        () => effect,
        () => pauses.leave,
      ),
    timeout: (limit, orElse) => (effect) =>
      Effect.raceFirst(effect, Effect.flatMap(pauses.wait(limit), orElse)),
  }
}
