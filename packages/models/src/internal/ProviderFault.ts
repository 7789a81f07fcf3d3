/**
 * An error as a provider reports it: in the body of a status, in an event of the Responses wire, in a chunk of the chat
 * wire. Members of an unexpected type count as absent. Pure.
 */
import { isObject } from "./JsonObject.ts"

export interface ProviderFault {
  /** What the provider calls the error: its `type` and its `code`. */
  readonly codes: ReadonlyArray<string>
  readonly message?: string
  /** Name of the account's plan. */
  readonly plan?: string
  /** Time until the provider accepts requests again. */
  readonly resetsInSeconds?: number
  /** The same as a Unix time in seconds. */
  readonly resetsAtSeconds?: number
}

const textAt = (value: unknown): value is string => typeof value === "string" && value !== ""

/** A number, or a text that is one; undefined for anything else. */
const secondsAt = (value: unknown): number | undefined => {
  const isNumeric = typeof value === "string" && /^\d{1,15}(\.\d+)?$/.test(value.trim())
  const seconds = isNumeric ? Number(value) : value
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0
    ? seconds
    : undefined
}

/** A plan's name is quoted only where it is a plain word. */
const planName = /^[\w .-]{1,40}$/

/** A string is a message without a code. */
export const readFault = (error: unknown): ProviderFault => {
  if (textAt(error)) return { codes: [], message: error }
  if (!isObject(error)) return { codes: [] }
  const { code, message, plan_type: plan, type } = error
  const resetsInSeconds = secondsAt(error["resets_in_seconds"])
  const resetsAtSeconds = secondsAt(error["resets_at"])
  return {
    codes: [type, code].filter(textAt),
    ...(textAt(message) ? { message } : {}),
    ...(textAt(plan) && planName.test(plan) ? { plan } : {}),
    ...(resetsInSeconds === undefined ? {} : { resetsInSeconds }),
    ...(resetsAtSeconds === undefined ? {} : { resetsAtSeconds }),
  }
}

const counted = (count: number, unit: string): ReadonlyArray<string> =>
  count === 0 ? [] : [`${count} ${unit}${count === 1 ? "" : "s"}`]

/** Longest waiting time that is stated in words, in seconds; beyond it the provider's number is not plausible. */
const maxWaitSeconds = 366 * 24 * 3600

/** `2 days 3 hours 20 minutes`, rounded up to whole minutes. */
const waitText = (seconds: number): string => {
  if (seconds < 60) return "in less than a minute"
  if (seconds > maxWaitSeconds) return "later"
  const minutes = Math.ceil(seconds / 60)
  const parts = [
    ...counted(Math.floor(minutes / 1440), "day"),
    ...counted(Math.floor(minutes / 60) % 24, "hour"),
    ...counted(minutes % 60, "minute"),
  ]
  return `in ${parts.join(" ")}`
}

const waitOf = (fault: ProviderFault, nowMs: number | undefined): string => {
  const { resetsAtSeconds, resetsInSeconds } = fault
  if (resetsInSeconds !== undefined) return waitText(resetsInSeconds)
  if (resetsAtSeconds === undefined || nowMs === undefined) return "later"
  return waitText(Math.max(0, resetsAtSeconds - nowMs / 1000))
}

/**
 * The sentence for an account that must not make more requests now; undefined for every other error. It begins as the
 * original's does.
 *
 * @param nowMs undefined where no clock is at hand; then only a relative waiting time is stated
 */
export const usageLimit = (fault: ProviderFault, nowMs?: number): string | undefined => {
  const plan = fault.plan === undefined ? "" : ` (plan: ${fault.plan})`
  if (fault.codes.includes("usage_limit_reached")) {
    return `You've hit your usage limit${plan}. Try again ${waitOf(fault, nowMs)}.`
  }
  if (fault.codes.includes("usage_not_included")) {
    return `Your plan does not include this usage${plan}. Upgrade the plan, or configure an API key or another provider.`
  }
  if (fault.codes.includes("insufficient_quota")) {
    return `Quota exceeded${plan}. Check the plan and the billing details of the account with the model provider.`
  }
  return undefined
}
