/**
 * Calls back after a fixed time. One fiber serves all waiters, because most are gone long before: a fiber and a timer for each
 * request would cost more than the request.
 *
 *   no fiber ── first waiter ──▶ sleeping until the oldest deadline ──┬── a waiter is left: sleeps again
 *      ▲                                                              │
 *      └──────────────────────────────────────────── none is left ────┘
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

interface Waiter {
  readonly atMs: number
  readonly expire: () => void
}

/** Waiters in the order of their deadlines. */
export class Deadlines {
  private readonly waiters = new Set<Waiter>()
  private isWatched = false
  private readonly scope: Scope.Scope
  private readonly delayMs: number

  /** @param scope in which the fiber runs */
  constructor(scope: Scope.Scope, delayMs: number) {
    this.scope = scope
    this.delayMs = delayMs
  }

  /** Calls `expire` after the delay, unless the returned function was called before. */
  after(expire: () => void): Effect.Effect<() => void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const waiter: Waiter = { atMs: now + this.delayMs, expire }
      this.waiters.add(waiter)
      const leave = () => {
        this.waiters.delete(waiter)
      }
      if (this.isWatched) return Effect.succeed(leave)
      this.isWatched = true
      return Effect.as(Effect.forkIn(this.watch, this.scope), leave)
    })
  }

  private readonly watch: Effect.Effect<void> = Effect.suspend(() => {
    const [oldest] = this.waiters
    if (oldest === undefined) {
      this.isWatched = false
      return Effect.void
    }
    return Clock.currentTimeMillis.pipe(
      Effect.flatMap((now) => Effect.sleep(Math.max(0, oldest.atMs - now))),
      Effect.andThen(Clock.currentTimeMillis),
      Effect.map((now) => this.expire(now)),
      Effect.andThen(this.watch),
    )
  })

  private expire(now: number): void {
    for (const waiter of this.waiters) {
      if (waiter.atMs > now) return
      this.waiters.delete(waiter)
      waiter.expire()
    }
  }
}
