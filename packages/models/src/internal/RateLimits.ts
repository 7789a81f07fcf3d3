/** Reads from the headers of a response how much of the provider's limits is used. Pure. */
import type { RateLimits } from "@colloquy/core/ModelClient"
import type { ResponseHead } from "../ProviderHttp.ts"

type Headers = ResponseHead["headers"]

const prefix = "x-codex-"

const numberAt = (headers: Headers, name: string): number | undefined => {
  const header = headers[`${prefix}${name}`]
  const text = typeof header === "string" ? header.trim() : ""
  const value = Number(text)
  return text !== "" && Number.isFinite(value) ? value : undefined
}

/** Null when the provider does not state it. */
const windowAt = (headers: Headers, name: "primary" | "secondary") => {
  const used = numberAt(headers, `${name}-used-percent`)
  if (used === undefined) return null
  const minutes = numberAt(headers, `${name}-window-minutes`)
  return { used_percent: used, ...(minutes === undefined ? {} : { window_minutes: minutes }) }
}

/**
 * Undefined when the headers state nothing. The members are those of `token_count`: the windows of
 * version 0.45 and later, and the five flat members of September 2025 if all five are known.
 */
export const rateLimitsOf = (headers: Headers): RateLimits | undefined => {
  const [primary, secondary] = [windowAt(headers, "primary"), windowAt(headers, "secondary")]
  if (primary === null && secondary === null) return undefined
  const ratio = numberAt(headers, "primary-over-secondary-limit-percent")
  const whole =
    ratio !== undefined &&
    primary?.window_minutes !== undefined &&
    secondary?.window_minutes !== undefined
  return {
    primary,
    secondary,
    ...(whole
      ? {
          primary_used_percent: primary.used_percent,
          secondary_used_percent: secondary.used_percent,
          primary_to_secondary_ratio_percent: ratio,
          primary_window_minutes: primary.window_minutes,
          secondary_window_minutes: secondary.window_minutes,
        }
      : {}),
  }
}
