/**
 * Limits the requests of each principal at all servers together, within windows of the clock that they share. A server counts
 * up to `slack` requests of a principal by itself, and then adds them to the count of all and learns what the others counted:
 *
 * ```
 *   request ─▶ limit reached, as far as known ─▶ refused until the window ends
 *          └─▶ fewer than `slack` not added ───▶ served
 *          └─▶ added, with those before ───────▶ served, or refused where all together are above the limit
 * ```
 *
 * So all servers together serve at most `slack` requests per server more than the limit in one window, and never refuse one
 * before the limit. While the count of all cannot be reached a server limits the requests that it serves itself.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { CountsUnavailable, RequestCount, RequestCounts } from "./RequestCounts.ts"

/** No request waits longer for the count of all. */
const patience = Duration.seconds(1)

/** The count of all is not asked again for so long after it could not be reached, since each attempt delays a request. */
const silenceMs = 1000

/** One in a hundred: few requests wait for the count of all, and few are served above the limit. */
export const slackOf = (limit: number): number => Math.floor(limit / 100)

/** The requests of one principal in the present window. */
interface Counted {
  /** Requests that were added to the count of all, of all servers. */
  total: number
  /** Requests that this server has served and not added. */
  own: number
  readonly adding: Semaphore.Semaphore
}

/** What the requests of one server are limited by. */
export interface SharedLimit {
  readonly counts: RequestCounts
  /** Requests of one principal in one window. */
  readonly limit: number
  readonly window: Duration.Duration
  /** Principals that are counted by themselves in one window; all others share one count. */
  readonly maxPrincipals: number
}

/** See the header. One per server. */
export class SharedRequests {
  private readonly parts: SharedLimit
  private readonly slack: number
  private readonly windowMs: number
  private principals = new Map<string, Counted>()
  private window = 0
  /** What the shared clock is ahead of that of this process; undefined until it was read. */
  private aheadMs: number | undefined
  private silentUntilMs = 0
  private isLost = false

  constructor(parts: SharedLimit) {
    this.parts = parts
    this.slack = slackOf(parts.limit)
    this.windowMs = Duration.toMillis(parts.window)
  }

  /** Counts a request. Resolves with the seconds until the next window where it is above the limit, else with undefined. */
  admit(principal: string): Effect.Effect<number | undefined> {
    return Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const counted = this.countedOf(principal, nowMs)
      return this.decide(counted, nowMs) ?? counted.adding.withPermit(this.add(principal))
    })
  }

  /** What is known without asking; undefined if the count of all has to be asked. */
  private decide(counted: Counted, nowMs: number): Effect.Effect<number | undefined> | undefined {
    if (counted.total + counted.own >= this.parts.limit) return Effect.succeed(this.left(nowMs))
    const isSilent = nowMs < this.silentUntilMs
    if (!isSilent && (this.aheadMs === undefined || counted.own >= this.slack)) return undefined
    counted.own++
    return Effect.undefined
  }

  /** Adds what is not added yet and one request more, unless that was done while this one waited. */
  private add(principal: string): Effect.Effect<number | undefined> {
    return Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const counted = this.countedOf(principal, nowMs)
      const decided = this.decide(counted, nowMs)
      if (decided !== undefined) return decided
      const { own } = counted
      const added = this.parts.counts
        .add(this.nameOf(principal), own + 1, this.parts.window)
        .pipe(
          Effect.interruptible,
          Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(silent) }),
        )
      return Effect.matchEffect(added, {
        onSuccess: (count) => this.learn(principal, counted, own, count),
        onFailure: (error) => this.alone(principal, error),
      })
    }).pipe(Effect.uninterruptible)
  }

  private learn(
    principal: string,
    before: Counted,
    own: number,
    { atMs, requests, window }: RequestCount,
  ): Effect.Effect<number | undefined> {
    return Effect.map(Clock.currentTimeMillis, (nowMs) => {
      before.own -= own
      this.isLost = false
      this.aheadMs = atMs - nowMs
      const counted = this.countedOf(principal, nowMs)
      if (window === this.window) counted.total = Math.max(counted.total, requests)
      return requests > this.parts.limit ? this.left(nowMs) : undefined
    })
  }

  /** Serves the request by this server's own count. */
  private alone(
    principal: string,
    { message }: CountsUnavailable | typeof silent,
  ): Effect.Effect<number | undefined> {
    return Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      this.silentUntilMs = nowMs + silenceMs
      const counted = this.countedOf(principal, nowMs)
      const first = !this.isLost
      this.isLost = true
      const decided = this.decide(counted, nowMs) ?? Effect.undefined
      return first
        ? Effect.andThen(
            Effect.logWarning(
              `requests of principals are counted by this server alone: ${message}`,
            ),
            decided,
          )
        : decided
    })
  }

  private nameOf(principal: string): string {
    return this.principals.has(principal) ? principal : ""
  }

  private countedOf(principal: string, nowMs: number): Counted {
    this.begin(Math.floor(this.sharedMs(nowMs) / this.windowMs))
    const { maxPrincipals } = this.parts
    const key =
      this.principals.has(principal) || this.principals.size < maxPrincipals ? principal : ""
    const known = this.principals.get(key)
    if (known !== undefined) return known
    const counted: Counted = { total: 0, own: 0, adding: Semaphore.makeUnsafe(1) }
    this.principals.set(key, counted)
    return counted
  }

  private begin(window: number): void {
    // Each reading of the shared clock is late by another time: the window that has begun does not end by that.
    if (window === this.window || window === this.window - 1) return
    this.window = window
    this.principals = new Map()
  }

  private sharedMs(nowMs: number): number {
    return nowMs + (this.aheadMs ?? 0)
  }

  private left(nowMs: number): number {
    const endMs = (this.window + 1) * this.windowMs
    return Math.max(1, Math.ceil((endMs - this.sharedMs(nowMs)) / 1000))
  }
}

const silent = { message: "no answer in time" }
