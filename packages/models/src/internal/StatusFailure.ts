/** The verdict on an HTTP status that is not a success: its error, and whether the request is repeated. Pure. */
import { ModelError, type ModelProvider } from "@colloquy/core/ModelClient"
import { parseJson } from "@colloquy/protocol/Json"
import * as Duration from "effect/Duration"
import * as Headers from "effect/http/Headers"
import * as Result from "effect/Result"
import { delayMember, maxRetryAfterMs } from "./Failures.ts"
import { isObject } from "./JsonObject.ts"
import { isOverflow } from "./Overflow.ts"
import { type ProviderFault, readFault, usageLimit } from "./ProviderFault.ts"
import { statusText } from "./StatusText.ts"

/** A try that failed: the error to give in the end, and how often the HTTP layer may try again before that. */
export interface FailedTry {
  readonly error: ModelError
  /** `Infinity`: as often as the provider's settings allow. */
  readonly repeats: number
  /** The delay the server named, instead of the backoff. */
  readonly delayMs?: number
}

/** Characters of an error's body that are quoted. */
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

/** With these a provider says that a request is too long; with others the same words mean something else. */
const sizeStatuses: ReadonlySet<number> = new Set([400, 413, 422])

export interface StatusReply {
  readonly status: number
  /** The `Retry-After` header: seconds or an HTTP date. */
  readonly retryAfter: string | undefined
  /** Already cut to `maxBodyChars` and without the key. */
  readonly body: string
}

/** 429 and 5xx: repeated, unless the provider asks to wait for too long. */
const repeatable = (
  wire: ModelProvider["wire"],
  status: number,
  delayMs: number | undefined,
): FailedTry => {
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
 * What a status that is not a success means (§6.4; recordings 0.29 `model_500`, `model_429`).
 *
 * 429 and 5xx repeat. 401 repeats once and on the Responses wire only: there is no token to refresh here, but the
 * key is read again for each try, so that a key that was just rotated is used; its last error quotes the body, which
 * says what is wrong with the key. 408 is left to the turn loop, as the original does. A usage limit and
 * an exhausted quota are stated as a sentence and never repeat.
 */
export const statusFailure = (
  wire: ModelProvider["wire"],
  { status, retryAfter, body }: StatusReply,
  nowMs: number,
): FailedTry => {
  const fault = faultOf(body)
  const delayMs = retryAfterMs(retryAfter, nowMs)
  const refused = (message: string, retryable = false): FailedTry => ({
    error: new ModelError({ reason: "Status", message, retryable, status }),
    repeats: 0,
  })
  const waiting = delayMs === undefined ? {} : { resetsInSeconds: delayMs / 1000 }
  const limited = usageLimit({ ...waiting, ...fault }, nowMs)
  if (limited !== undefined) return refused(limited)
  const message = `unexpected status ${statusText(status)}: ${body}`
  if (status === 401) return { ...refused(message), repeats: wire === "responses" ? 1 : 0 }
  if (sizeStatuses.has(status) && isOverflow(undefined, body)) {
    const error = new ModelError({ reason: "ContextWindow", message, retryable: false, status })
    return { error, repeats: 0 }
  }
  if (status !== 429 && status < 500) return refused(message, status === 408)
  return repeatable(wire, status, delayMs)
}
