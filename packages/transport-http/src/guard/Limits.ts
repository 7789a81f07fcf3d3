/**
 * How much of a server its clients may use: requests at once, requests of one principal within ten seconds, and failed
 * attempts to authenticate of one address within ten seconds. One instance for all routes of a server. With `RequestCounts`
 * the requests of a principal are counted over all servers that share it.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { RequestCounts } from "./RequestCounts.ts"
import { SharedRequests } from "./SharedRequests.ts"

/** Bounds of a server. Every member has a default. */
export interface LimitOptions {
  /** Requests that are served at once, their streams and WebSockets included. Default 4,096. */
  readonly maxRequests?: number
  /** Requests of one principal within ten seconds, at all servers that share `RequestCounts`. Default 10,000. */
  readonly maxPrincipalRequests?: number
  /** Requests of one address within ten seconds that had no valid credentials. Default 100. */
  readonly maxFailedRequests?: number
}

/** A request above a limit. */
export interface LimitFault {
  /** 429: the client has sent too many requests; 503: all clients together have. */
  readonly status: 429 | 503
  readonly message: string
  /** When the client may try again. */
  readonly retryAfterSeconds: number
}

/** Counts the requests of a server. */
export class Limits extends Context.Service<
  Limits,
  {
    /**
     * Counts a request of the address that had no valid credentials; fails if there are too many. A valid request of the same
     * address is served all the same: behind one address are a proxy's clients, or all programs of a machine.
     */
    readonly countFailed: (address: string) => Effect.Effect<void, LimitFault>
    /** Counts a request of the principal, until its response has been sent: the scope is that of the request. */
    readonly admit: (principal: string) => Effect.Effect<void, LimitFault, Scope.Scope>
  }
>()("@colloquy/transport-http/Limits") {
  /** Counts anew. */
  static readonly layer = (options: LimitOptions = {}): Layer.Layer<Limits> =>
    Layer.effect(
      this,
      Effect.map(RequestCounts, (counts) => make(options, counts)),
    )
}

const windowMs = 10_000

/** Keys of one window; all others of it share one count, so that addresses without number cost bounded memory. */
const maxKeys = 10_000

/** Counts per key in the present window, which begins with the first count after the one before. */
class Windowed {
  private readonly counts = new Map<string, number>()
  private start = 0

  /** Seconds until the end of the present window. */
  secondsLeft(now: number): number {
    return Math.max(1, Math.ceil((this.start + windowMs - now) / 1000))
  }

  /** Raises the count of the key in the present window by one, and returns it. */
  raise(key: string, now: number): number {
    if (now - this.start >= windowMs) {
      this.counts.clear()
      this.start = now
    }
    const counted = this.counts.has(key) || this.counts.size < maxKeys ? key : ""
    const count = (this.counts.get(counted) ?? 0) + 1
    this.counts.set(counted, count)
    return count
  }
}

const slowDown = (message: string, retryAfterSeconds: number) =>
  Effect.fail<LimitFault>({ status: 429, message, retryAfterSeconds })

/** Counts a request; resolves with the seconds until the next window where it is above the limit, else with undefined. */
type AdmitPrincipal = (principal: string) => Effect.Effect<number | undefined>

/** The requests of this server alone. */
const ownRequests = (limit: number): AdmitPrincipal => {
  const principals = new Windowed()
  return (principal) =>
    Effect.map(Clock.currentTimeMillis, (now) =>
      principals.raise(principal, now) > limit ? principals.secondsLeft(now) : undefined,
    )
}

const requestsOf = (limit: number, counts: RequestCounts | undefined): AdmitPrincipal => {
  if (counts === undefined) return ownRequests(limit)
  const window = Duration.millis(windowMs)
  const shared = new SharedRequests({ counts, limit, window, maxPrincipals: maxKeys })
  return (principal) => shared.admit(principal)
}

const make = (
  { maxFailedRequests = 100, maxPrincipalRequests = 10_000, maxRequests = 4096 }: LimitOptions,
  counts: RequestCounts | undefined,
): Limits["Service"] => {
  const admitPrincipal = requestsOf(maxPrincipalRequests, counts)
  const failed = new Windowed()
  let served = 0
  const release = Effect.sync(() => {
    served--
  })
  const busy: LimitFault = {
    status: 503,
    message: `the server already serves ${maxRequests} requests`,
    retryAfterSeconds: 1,
  }
  return {
    countFailed: (address) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        failed.raise(address, now) > maxFailedRequests
          ? slowDown("too many requests without valid credentials", failed.secondsLeft(now))
          : Effect.void,
      ),
    admit: (principal) =>
      Effect.flatMap(admitPrincipal(principal), (secondsLeft) => {
        if (secondsLeft !== undefined) {
          const message = `more than ${maxPrincipalRequests} requests within ${windowMs / 1000} s`
          return slowDown(message, secondsLeft)
        }
        if (served >= maxRequests) return Effect.fail(busy)
        served++
        return Effect.addFinalizer(() => release)
      }),
  }
}
