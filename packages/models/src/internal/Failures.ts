/** The errors of a model request with their texts (§6.4), and the verdict on an HTTP status. No secret enters a text. */
import { ModelError } from "@colloquy/core/ModelClient"
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Duration from "effect/Duration"
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { isOverflow } from "./Overflow.ts"
import { statusText } from "./StatusText.ts"

const disconnected = "stream disconnected before completion: "

/** Milliseconds that no provider means: the digits of a header or a text can name more than a number holds. */
const maxNamedDelayMs = 2 ** 53 - 1

/** A delay that a provider named, as a member of an error. */
const delayMember = (delayMs: number | undefined): { readonly retryAfterMs?: number } =>
  delayMs === undefined ? {} : { retryAfterMs: Math.min(delayMs, maxNamedDelayMs) }

/** The stream broke or said something that makes no sense. */
export const streamFailure = (
  detail: string,
  options?: {
    readonly retryable?: boolean
    readonly retryAfterMs?: number
    /** The request is longer than the model takes. */
    readonly overflow?: boolean
  },
): ModelError =>
  new ModelError({
    reason: options?.overflow === true ? "ContextWindow" : "Stream",
    message: `${disconnected}${detail}`,
    retryable: options?.retryable ?? options?.overflow !== true,
    ...delayMember(options?.retryAfterMs),
  })

export const malformed = (detail: string): ModelError => streamFailure(`malformed event: ${detail}`)

export const idle: ModelError = new ModelError({
  reason: "Idle",
  message: `${disconnected}idle timeout waiting for SSE`,
  retryable: true,
})

/** Recording 0.29 `model_drop`. */
export const dropped: ModelError = new ModelError({
  reason: "Transport",
  message: `${disconnected}Transport error: error decoding response body`,
  retryable: true,
})

const tooLarge = (what: string, maxBytes: number): ModelError =>
  // A retry would bring the same again.
  streamFailure(`${what} is longer than the limit of ${maxBytes} bytes`, { retryable: false })

export const eventTooLarge = (maxBytes: number): ModelError => tooLarge("an event", maxBytes)
export const responseTooLarge = (maxBytes: number): ModelError => tooLarge("the response", maxBytes)

const code = Schema.decodeUnknownOption(Schema.Struct({ code: Schema.String }))
const cause = Schema.decodeUnknownOption(Schema.Struct({ cause: Schema.Unknown }))

// Only the code: messages of the platform may quote a header, and with it the key.
const errorCode = (u: unknown, depth = 0): string | undefined =>
  Option.match(code(u), {
    onSome: (found) => found.code,
    onNone: () =>
      depth > 4
        ? undefined
        : Option.match(cause(u), {
            onNone: () => undefined,
            onSome: (inner) => errorCode(inner.cause, depth + 1),
          }),
  })

/** No response came: refused, reset, no such host, bad certificate. The URL goes without its query, which may hold a key. */
export const unreachable = (url: string, error: unknown): ModelError => {
  const found = errorCode(error)
  return new ModelError({
    reason: "Transport",
    message: `${disconnected}error sending request for url (${url})${found === undefined ? "" : `: ${found}`}`,
    retryable: true,
  })
}

/** §6.4. */
export const missingKey = (name: string, instructions: string | undefined): ModelError =>
  new ModelError({
    reason: "Key",
    message: `Missing environment variable: \`${name}\`.${instructions === undefined ? "" : ` ${instructions}`}`,
    retryable: false,
  })

export const unusableKey = (name: string, problem: string): ModelError =>
  new ModelError({
    reason: "Key",
    message: `Environment variable \`${name}\` ${problem}.`,
    retryable: false,
  })

export const unusableStored = (provider: ModelProvider): ModelError =>
  new ModelError({
    reason: "Key",
    message: `the key that is kept for provider \`${provider.id}\` holds characters that a header cannot carry`,
    retryable: false,
  })

/** The provider's settings make no request; the same settings never will. */
export const badProvider = (provider: ModelProvider, problem: string): ModelError =>
  new ModelError({
    reason: "Request",
    message: `model provider \`${provider.id}\`: ${problem}`,
    retryable: false,
  })

export const badUrl = (provider: ModelProvider): ModelError =>
  badProvider(provider, "`base_url` is not a valid URL")

/** A try that failed: the error to give in the end, and how often the HTTP layer may try again before that. */
export interface FailedTry {
  readonly error: ModelError
  /** `Infinity`: as often as the provider's settings allow. */
  readonly repeats: number
  /** The delay the server named, instead of the backoff. */
  readonly delayMs?: number
}

/** Beyond this we do not sit and wait: a person should know. */
export const maxRetryAfterMs = 60_000

/** Characters of an error's body that are quoted. */
export const maxBodyChars = 2048

/** A 429 that no waiting cures within a turn (§6.4, last row), and the same of the public API. */
const exhausted = new Set(["usage_limit_reached", "usage_not_included", "insufficient_quota"])
const ErrorBody = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({
      type: Schema.optional(Schema.NullOr(Schema.String)),
      code: Schema.optional(Schema.Unknown),
    }),
  }),
)
const decodeErrorBody = Schema.decodeUnknownOption(ErrorBody)

const isExhausted = (body: string): boolean =>
  Option.match(decodeErrorBody(body), {
    onNone: () => false,
    onSome: ({ error }) =>
      exhausted.has(error.type ?? "") ||
      (typeof error.code === "string" && exhausted.has(error.code)),
  })

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

/**
 * What a status that is not a success means (§6.4; recordings 0.29 `model_500`, `model_429`).
 *
 * 429 and 5xx repeat. 401 repeats once and on the Responses wire only: there is no token to refresh here, but the
 * key is read again for each try, so one that was just rotated gets its chance; its last error quotes the body, which
 * says what is wrong with the key. 408 is left to the turn loop, as the original does.
 */
export const statusFailure = (
  wire: ModelProvider["wire"],
  { status, retryAfter, body }: StatusReply,
  nowMs: number,
): FailedTry => {
  const line = statusText(status)
  const unexpected = (retryable: boolean) =>
    new ModelError({
      reason: "Status",
      message: `unexpected status ${line}: ${body}`,
      retryable,
      status,
    })
  if (status === 401) return { error: unexpected(false), repeats: wire === "responses" ? 1 : 0 }
  if (sizeStatuses.has(status) && isOverflow(undefined, body)) {
    const { message } = unexpected(false)
    const error = new ModelError({ reason: "ContextWindow", message, retryable: false, status })
    return { error, repeats: 0 }
  }
  if (status !== 429 && status < 500) return { error: unexpected(status === 408), repeats: 0 }
  if (status === 429 && isExhausted(body)) return { error: unexpected(false), repeats: 0 }
  const delayMs = retryAfterMs(retryAfter, nowMs)
  const limit = (message: string, retryable: boolean) =>
    new ModelError({
      reason: "RetryLimit",
      message,
      retryable,
      status,
      ...delayMember(delayMs),
    })
  const text = `exceeded retry limit, last status: ${line}`
  if (delayMs !== undefined && delayMs > maxRetryAfterMs) {
    const seconds = Math.ceil(delayMs / 1000)
    return {
      error: limit(`${text} (the provider asks to wait ${seconds} s)`, false),
      repeats: 0,
    }
  }
  return {
    error: limit(
      status === 500 && wire === "responses"
        ? "We're currently experiencing high demand, which may cause temporary errors."
        : text,
      true,
    ),
    repeats: Number.POSITIVE_INFINITY,
    ...(delayMs === undefined ? {} : { delayMs }),
  }
}
