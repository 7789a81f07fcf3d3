/** Converts the rate limits of the core's events to those of this dialect. Pure. */
import type { RateLimitSnapshot } from "@colloquy/protocol/thread/Accounts"

type Members = Readonly<Record<string, unknown>>

const membersOf = (value: unknown): Members | undefined =>
  typeof value === "object" && value !== null ? (value as Members) : undefined

const windowOf = (given: unknown): RateLimitSnapshot["primary"] => {
  const members = membersOf(given)
  const used = members?.["used_percent"]
  if (typeof used !== "number") return null
  const minutes = members?.["window_minutes"]
  // The provider does not report at which time a window is reset.
  return {
    usedPercent: used,
    windowDurationMins: typeof minutes === "number" ? Math.round(minutes) : null,
    resetsAt: null,
  }
}

/** What a client is shown; without any reported limits all members but the id are null. */
export const rateLimitsOf = (reported: Members | undefined): RateLimitSnapshot => ({
  limitId: "codex",
  limitName: null,
  normalModelSlug: null,
  primary: windowOf(reported?.["primary"]),
  secondary: windowOf(reported?.["secondary"]),
  credits: null,
  individualLimit: null,
  spendControlReached: null,
  planType: null,
  rateLimitReachedType: null,
})
