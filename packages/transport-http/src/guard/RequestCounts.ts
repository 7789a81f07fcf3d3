/**
 * Port: the requests of each principal, counted over all servers that share it, in windows of one clock. Without it each
 * server counts by itself.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/** The servers cannot be counted together now. */
export class CountsUnavailable extends Data.TaggedError("CountsUnavailable")<{
  readonly message: string
}> {}

/** The requests of one principal at all servers. */
export interface RequestCount {
  /** Requests in the window, those just added included. */
  readonly requests: number
  /** Number of the window: the time of the clock that all servers share, divided by the length of a window. */
  readonly window: number
  /** Time of that clock, in milliseconds since the epoch. */
  readonly atMs: number
}

/** See the header. */
export interface RequestCounts {
  /**
   * Adds requests of the principal to the window in which it is carried out. May be carried out although it failed: then the
   * principal has that many fewer requests in that window.
   */
  readonly add: (
    principal: string,
    requests: number,
    window: Duration.Duration,
  ) => Effect.Effect<RequestCount, CountsUnavailable>
}

/** The counts. Read once by each server, when it starts. */
export const RequestCounts = Context.Reference<RequestCounts | undefined>(
  "@colloquy/transport-http/RequestCounts",
  { defaultValue: () => undefined },
)
