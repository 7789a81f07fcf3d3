/**
 * Watches the time limits of the waits for all providers' responses. At most one fiber sleeps, whatever the number of
 * responses, because every request has such a wait: a fiber and a timer for each would cost more than reading the response.
 *
 *     no watcher ── first wait ──► sleeping until the earliest limit ──► wakes, other waits are left ──► sleeping
 *         ▲                             │       ▲                          └─ expires what is overdue
 *         └── wakes, nothing waits ◄────┘       └── interrupted by a wait with an earlier limit
 *
 * A wait that ends in time changes no timer. All time is from `Clock` (L12).
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** Milliseconds of the clock that no change of the wall clock moves. */
export const monotonicMs = (clock: Clock.Clock): number =>
  Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** A wait with a time limit. */
export interface LimitedWait {
  /** When the limit is over, as `monotonicMs` counts. Does not change while the wait is watched. */
  readonly endsAtMs: number
  /** Runs once when the limit is over. It starts what it does and returns at once. */
  readonly expire: Effect.Effect<void>
}

/** The time limits of one model client. */
export class IdleDeadlines {
  private readonly waits = new Set<LimitedWait>()
  private watcher: Fiber.Fiber<void> | undefined
  private isWatching = false
  private wakesAtMs = 0

  private constructor() {}

  /** Limits whose watching ends with the scope. */
  static readonly make: Effect.Effect<IdleDeadlines, never, Scope.Scope> = Effect.acquireRelease(
    Effect.sync(() => new IdleDeadlines()),
    (deadlines) =>
      Effect.sync(() => {
        deadlines.waits.clear()
        deadlines.watcher?.interruptUnsafe()
      }),
  )

  /** Watches the wait until it is removed or its limit is over. */
  add(wait: LimitedWait, clock: Clock.Clock): Effect.Effect<void> {
    this.waits.add(wait)
    if (this.isWatching && this.wakesAtMs <= wait.endsAtMs) return Effect.void
    this.watcher?.interruptUnsafe()
    this.isWatching = true
    return Effect.map(
      Effect.forkDetach(this.watch(clock), { startImmediately: true }),
      (watcher) => {
        this.watcher = watcher
      },
    )
  }

  /** The wait ended in time. */
  remove(wait: LimitedWait): void {
    this.waits.delete(wait)
  }

  private watch(clock: Clock.Clock): Effect.Effect<void> {
    return Effect.suspend(() => {
      const nowMs = monotonicMs(clock)
      const overdue = [...this.waits].filter(({ endsAtMs }) => endsAtMs <= nowMs)
      for (const wait of overdue) this.waits.delete(wait)
      const expiring = Effect.forEach(overdue, ({ expire }) => expire, { discard: true })
      return Effect.andThen(expiring, this.sleep(nowMs, clock))
    })
  }

  /** Sleeps until the next limit. Chosen only now: what expired may have started another wait. */
  private sleep(nowMs: number, clock: Clock.Clock): Effect.Effect<void> {
    return Effect.suspend(() => {
      let next = Number.POSITIVE_INFINITY
      for (const { endsAtMs } of this.waits) next = Math.min(next, endsAtMs)
      this.isWatching = Number.isFinite(next)
      if (!this.isWatching) return Effect.void
      this.wakesAtMs = next
      return Effect.flatMap(clock.sleep(Duration.millis(next - nowMs)), () => this.watch(clock))
    })
  }
}
