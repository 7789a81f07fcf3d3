/**
 * The time limit of the waits for one provider's response. Has at most one sleeping fiber, which is started by the first
 * wait, continues through later ones, and ends when it wakes and nothing waits. All time is from `Clock` (L12).
 *
 *     no sleeper ── start ──► sleeping ── wakes, a wait is left with time ──► sleeping
 *         ▲                      ├─────── wakes, nothing waits ──► no sleeper
 *         └── expire, once ◄─────┴─────── wakes, the wait's time is over
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

const nowMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** The limit of one wait at a time. */
export class IdleDeadline {
  private readonly scope: Scope.Scope
  private onExpiry: Effect.Effect<void> = Effect.void
  private endsAtMs: number | undefined
  private sleeper: Fiber.Fiber<void> | undefined
  private isAsleep = false
  private wakesAtMs = 0
  private expired = false

  /** @param scope ends the sleeping fiber */
  constructor(scope: Scope.Scope) {
    this.scope = scope
  }

  /** True from the expiry of a wait until the next one starts. */
  get isExpired(): boolean {
    return this.expired
  }

  /** True while a wait is limited. */
  get isStarted(): boolean {
    return this.endsAtMs !== undefined
  }

  /** Starts a wait. `onExpiry` runs, in another fiber, if it is not stopped within `limit`. */
  start(limit: Duration.Duration, onExpiry: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.clockWith((clock) => {
      const endsAtMs = nowMs(clock) + Duration.toMillis(limit)
      this.expired = false
      this.onExpiry = onExpiry
      this.endsAtMs = endsAtMs
      if (!Number.isFinite(endsAtMs)) return Effect.void
      if (this.isAsleep && this.wakesAtMs <= endsAtMs) return Effect.void
      this.sleeper?.interruptUnsafe()
      this.isAsleep = true
      return Effect.map(
        Effect.forkIn(this.sleep(clock), this.scope, { startImmediately: true }),
        (sleeper) => {
          this.sleeper = sleeper
        },
      )
    })
  }

  /** Ends the wait. */
  stop(): void {
    this.endsAtMs = undefined
  }

  private sleep(clock: Clock.Clock): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { endsAtMs } = this
      const leftMs = endsAtMs === undefined ? 0 : endsAtMs - nowMs(clock)
      if (leftMs > 0 && endsAtMs !== undefined) {
        this.wakesAtMs = endsAtMs
        return Effect.flatMap(clock.sleep(Duration.millis(leftMs)), () => this.sleep(clock))
      }
      this.isAsleep = false
      if (endsAtMs === undefined) return Effect.void
      this.endsAtMs = undefined
      this.expired = true
      return this.onExpiry
    })
  }
}
