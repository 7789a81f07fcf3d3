/**
 * The time limit of the waits for one provider's response, one wait at a time. `IdleDeadlines` watches it. All time is from
 * `Clock` (L12).
 *
 *     stopped ── start ──► started ── stop ──► stopped
 *                             └── its limit is over ──► expired ── start ──► started
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type IdleDeadlines, type LimitedWait, monotonicMs } from "./IdleDeadlines.ts"

/** The limit of one wait at a time. */
export class IdleDeadline implements LimitedWait {
  private readonly deadlines: IdleDeadlines
  private readonly scope: Scope.Scope
  private onExpiry: Effect.Effect<void> = Effect.void
  private started = false
  private expired = false
  endsAtMs = 0

  /**
   * @param deadlines those of the model client
   * @param scope interrupts what an expiry runs
   */
  constructor(deadlines: IdleDeadlines, scope: Scope.Scope) {
    this.deadlines = deadlines
    this.scope = scope
  }

  /** True from the expiry of a wait until the next one starts. */
  get isExpired(): boolean {
    return this.expired
  }

  /** True while a wait is limited. */
  get isStarted(): boolean {
    return this.started
  }

  /** Starts a wait. `onExpiry` runs, in another fiber, if it is not stopped within `limit`. */
  start(limit: Duration.Duration, onExpiry: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.clockWith((clock) => {
      this.stop()
      this.expired = false
      this.started = true
      this.onExpiry = onExpiry
      this.endsAtMs = monotonicMs(clock) + Duration.toMillis(limit)
      return Number.isFinite(this.endsAtMs) ? this.deadlines.add(this, clock) : Effect.void
    })
  }

  /** Ends the wait. */
  stop(): void {
    if (!this.started) return
    this.started = false
    this.deadlines.remove(this)
  }

  readonly expire: LimitedWait["expire"] = Effect.suspend(() => {
    this.started = false
    this.expired = true
    return Effect.asVoid(Effect.forkIn(this.onExpiry, this.scope, { startImmediately: true }))
  })
}
