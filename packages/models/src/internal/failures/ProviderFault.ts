/**
 * An error as a provider reports it: in the body of an HTTP error, in an event of the Responses
 * wire, or in a chunk of the chat wire. Members of an unexpected type count as absent. Pure.
 */
import { isObject } from "../JsonObject.ts"

/** An error that a provider reported. */
export interface ProviderFault {
  /** The provider's `type` and `code` of the error. */
  readonly codes: ReadonlyArray<string>
  readonly message?: string
  /** Name of the account's plan. */
  readonly plan?: string
  /** Seconds until the provider accepts requests again. */
  readonly resetsInSeconds?: number
  /** The same as a Unix time in seconds. */
  readonly resetsAtSeconds?: number
}

const textAt = (value: unknown): value is string => typeof value === "string" && value !== ""

/** A number, or a text that contains one; undefined for anything else. */
const secondsAt = (value: unknown): number | undefined => {
  const isNumeric = typeof value === "string" && /^\d{1,15}(\.\d+)?$/.test(value.trim())
  const seconds = isNumeric ? Number(value) : value
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0
    ? seconds
    : undefined
}

/** The name of a plan is quoted only if it is a plain word. */
const planName = /^[\w .-]{1,40}$/

/** Reads an error. A string is a message without a code. */
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

/** Longest waiting time that is stated, in seconds; a longer one is not plausible. */
const maxWaitSeconds = 366 * 24 * 3600

/** A duration like `2 days 3 hours 20 minutes`, rounded up to whole minutes. */
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
 * The sentence for an account that must not send more requests now; undefined for every other
 * error. It starts like that of the original.
 *
 * @param nowMs undefined when no clock is available; then only a relative waiting time is stated
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
