/**
 * The meaning of an HTTP status other than success: its error, and whether the request is repeated.
 * Pure.
 */
import { ModelError, type ModelProvider } from "@colloquy/core/ModelClient"
import { parseJson } from "@colloquy/protocol/Json"
import * as Duration from "effect/Duration"
import * as Headers from "effect/http/Headers"
import * as Result from "effect/Result"
import { delayMember, maxRetryAfterMs } from "./Failures.ts"
import { isObject } from "../JsonObject.ts"
import { isOverflow } from "./Overflow.ts"
import { type ProviderFault, readFault, usageLimit } from "./ProviderFault.ts"
import { statusRefusesImage } from "../../RefusedImage.ts"
import { statusText } from "./StatusText.ts"

/**
 * A failed attempt: its error, and how often the request may be repeated before the error is
 * returned.
 */
export interface FailedAttempt {
  readonly error: ModelError
  /** `Infinity`: as often as the provider's settings permit. */
  readonly repeats: number
  /** The delay that the server requested, instead of the backoff. */
  readonly delayMs?: number
}

/** Number of characters of an error's body that are quoted. */
export const maxBodyChars = 2048

const faultOf = (body: string): ProviderFault => {
  const json = Result.getOrUndefined(parseJson(body))
  return readFault(isObject(json) ? json["error"] : undefined)
}

const retryAfterMs = (header: string | undefined, nowMs: number): number | undefined => {
  if (header === undefined) return undefined
  const parsed = Headers.parseRetryAfter(header)
  return Result.isSuccess(parsed)
    ? Duration.toMillis(Headers.retryAfterDelay(parsed.success, nowMs))
    : undefined
}

/**
 * Statuses with which a provider reports that a request is too long; with others the same words
 * mean something else.
 */
const sizeStatuses: ReadonlySet<number> = new Set([400, 413, 422])

/** What is known of a response that is not a success. */
export interface StatusReply {
  readonly status: number
  /** The `Retry-After` header: seconds or an HTTP date. */
  readonly retryAfter: string | undefined
  /** Already cut to `maxBodyChars` and without the API key. */
  readonly body: string
}

/** 429 and 5xx: repeated, unless the provider asks for too long a delay. */
const repeatable = (
  wire: ModelProvider["wire"],
  status: number,
  delayMs: number | undefined,
): FailedAttempt => {
  const limit = (message: string, retryable: boolean) =>
    new ModelError({ reason: "RetryLimit", message, retryable, status, ...delayMember(delayMs) })
  const text = `exceeded retry limit, last status: ${statusText(status)}`
  if (delayMs !== undefined && delayMs > maxRetryAfterMs) {
    const seconds = Math.ceil(delayMs / 1000)
    const message = `${text} (the provider asks to wait ${seconds} s)`
    return { error: limit(message, false), repeats: 0 }
  }
  const message =
    status === 500 && wire === "responses"
      ? "We're currently experiencing high demand, which may cause temporary errors."
      : text
  return {
    error: limit(message, true),
    repeats: Number.POSITIVE_INFINITY,
    ...(delayMs === undefined ? {} : { delayMs }),
  }
}

/**
 * The meaning of a status. The texts are those of the original.
 *
 * 429 and 5xx are repeated. 401 is repeated once and on the Responses wire only: there is no token
 * to refresh here, but the API key is read again for each attempt, so that a changed key is used;
 * its last error quotes the body, which says what is wrong with the key. 408 is left to the turn
 * loop, as in the original. A usage limit and an exhausted quota are reported as a sentence and
 * never repeated.
 */
export const statusFailure = (
  wire: ModelProvider["wire"],
  { status, retryAfter, body }: StatusReply,
  nowMs: number,
): FailedAttempt => {
  const fault = faultOf(body)
  const delayMs = retryAfterMs(retryAfter, nowMs)
  const refused = (message: string, retryable = false): FailedAttempt => ({
    error: new ModelError({ reason: "Status", message, retryable, status }),
    repeats: 0,
  })
  const waiting = delayMs === undefined ? {} : { resetsInSeconds: delayMs / 1000 }
  const limited = usageLimit({ ...waiting, ...fault }, nowMs)
  if (limited !== undefined) return refused(limited)
  const message = `unexpected status ${statusText(status)}: ${body}`
  if (status === 401) return { ...refused(message), repeats: wire === "responses" ? 1 : 0 }
  const final = (reason: ModelError["reason"]): FailedAttempt => ({
    error: new ModelError({ reason, message, retryable: false, status }),
    repeats: 0,
  })
  if (sizeStatuses.has(status) && isOverflow(undefined, body)) return final("ContextWindow")
  if (statusRefusesImage(status, fault.codes, body)) return final("Image")
  if (status !== 429 && status < 500) return refused(message, status === 408)
  return repeatable(wire, status, delayMs)
}
