/**
 * The errors of a model request with their texts, which are those of the original. No text contains
 * a secret.
 */
import { ModelError, type ModelProvider } from "@colloquy/core/ModelClient"
import { isOverflow } from "./Overflow.ts"
import { type ProviderFault, usageLimit } from "./ProviderFault.ts"
import { refusesImage, statusRefusesImage } from "../../RefusedImage.ts"

/** Start of the message when a stream ends too early. */
export const disconnected = "stream disconnected before completion: "

/**
 * Longest delay requested by a provider that is waited for; a longer one is reported immediately.
 */
export const maxRetryAfterMs = 60_000

/**
 * A larger number of milliseconds is not plausible: the digits of a header or a text can exceed the
 * range of a number.
 */
const maxNamedDelayMs = 2 ** 53 - 1

/** The delay that a provider requested, as a member of an error. */
export const delayMember = (delayMs: number | undefined): { readonly retryAfterMs?: number } =>
  delayMs === undefined ? {} : { retryAfterMs: Math.min(delayMs, maxNamedDelayMs) }

/** The stream broke, or its contents make no sense. */
export const streamFailure = (
  detail: string,
  options?: {
    readonly retryable?: boolean
    readonly retryAfterMs?: number
    /** Why the same request would fail again. */
    readonly reason?: "ContextWindow" | "Image"
  },
): ModelError =>
  new ModelError({
    reason: options?.reason ?? "Stream",
    message: `${disconnected}${detail}`,
    retryable: options?.retryable ?? options?.reason === undefined,
    ...delayMember(options?.retryAfterMs),
  })

/** An event that cannot be read. */
export const malformed = (detail: string): ModelError => streamFailure(`malformed event: ${detail}`)

/**
 * Codes after which the same request would fail the same way. The last two are reasons of an
 * incomplete response.
 */
const final: ReadonlySet<string> = new Set([
  "invalid_prompt",
  "max_output_tokens",
  "content_filter",
])

/** Codes that say that the request cannot be served as it is. */
const badRequest: ReadonlySet<string> = new Set(["invalid_prompt", "invalid_request_error"])

/** Milliseconds in a text like "Please try again in 11.054s" or "28ms". */
const namedDelayMs = (message: string): number | undefined => {
  const found = /try again in (\d+(?:\.\d+)?)\s*(ms|s)/i.exec(message)
  return found === null
    ? undefined
    : Number(found[1]) * (found[2]?.toLowerCase() === "s" ? 1000 : 1)
}

/** Codes by which clients distinguish failures, with the words that a message of the same meaning contains. */
const meanings: ReadonlyMap<string, RegExp> = new Map([
  ["context_length_exceeded", /context (?:window|length)/i],
  ["context_window_exceeded", /context (?:window|length)/i],
  ["rate_limit_exceeded", /rate limit/i],
  ["server_is_overloaded", /overloaded|at capacity/i],
])

/** The message, with the words of a code whose meaning it does not contain. */
const withMeaning = (codes: ReadonlyArray<string>, message: string): string =>
  codes.reduce((text, code) => {
    const words = meanings.get(code)
    return words === undefined || words.test(text) ? text : `${text} (${code.replaceAll("_", " ")})`
  }, message)

/** An error that the provider reports within a stream. `otherwise` replaces a missing message. */
export const reportedFailure = (
  fault: ProviderFault,
  otherwise = "the provider reported an error without a message",
): ModelError => {
  const limit = usageLimit(fault)
  if (limit !== undefined) {
    return new ModelError({ reason: "Stream", message: limit, retryable: false })
  }
  const { codes } = fault
  const message = withMeaning(codes, fault.message ?? otherwise)
  if (codes.concat("").some((code) => isOverflow(code, message))) {
    return streamFailure(message, { reason: "ContextWindow" })
  }
  // As with the status 400 where the provider says that the request is bad.
  const isImage = codes.some((code) => badRequest.has(code))
    ? statusRefusesImage(400, codes, message)
    : refusesImage(codes, message)
  if (isImage) return streamFailure(message, { reason: "Image" })
  const delay = codes.includes("rate_limit_exceeded") ? namedDelayMs(message) : undefined
  return streamFailure(message, {
    // A provider that asks for a delay of more than a minute is not waited for, as with HTTP
    // requests.
    retryable: !codes.some((code) => final.has(code)) && (delay ?? 0) <= maxRetryAfterMs,
    ...(delay === undefined ? {} : { retryAfterMs: delay }),
  })
}

/** No event arrived within the provider's idle timeout. */
export const idle: ModelError = new ModelError({
  reason: "Idle",
  message: `${disconnected}idle timeout waiting for SSE`,
  retryable: true,
})

/** The connection was lost. The text is that of the original. */
export const dropped: ModelError = new ModelError({
  reason: "Transport",
  message: `${disconnected}Transport error: error decoding response body`,
  retryable: true,
})

const tooLarge = (what: string, maxBytes: number): ModelError =>
  // A retry would yield the same.
  streamFailure(`${what} is longer than the limit of ${maxBytes} bytes`, { retryable: false })

/** A server-sent event exceeds its limit. */
export const eventTooLarge = (maxBytes: number): ModelError => tooLarge("an event", maxBytes)
/** The response exceeds its limit. */
export const responseTooLarge = (maxBytes: number): ModelError => tooLarge("the response", maxBytes)

/** A provider needs an API key that is not set. The text is that of the original. */
export const missingKey = (name: string, instructions: string | undefined): ModelError =>
  new ModelError({
    reason: "Key",
    message: `Missing environment variable: \`${name}\`.${instructions === undefined ? "" : ` ${instructions}`}`,
    retryable: false,
  })

/** The value of an environment variable cannot be sent in a header. */
export const unusableKey = (name: string, problem: string): ModelError =>
  new ModelError({
    reason: "Key",
    message: `Environment variable \`${name}\` ${problem}.`,
    retryable: false,
  })

/** A stored API key cannot be sent in a header. */
export const unusableStored = (provider: ModelProvider): ModelError =>
  new ModelError({
    reason: "Key",
    message: `the key that is kept for provider \`${provider.id}\` holds characters that a header cannot carry`,
    retryable: false,
  })

/** The provider's settings do not form a request; the same settings never will. */
export const badProvider = (provider: ModelProvider, problem: string): ModelError =>
  new ModelError({
    reason: "Request",
    message: `model provider \`${provider.id}\`: ${problem}`,
    retryable: false,
  })

/** The provider's address is not a URL. */
export const badUrl = (provider: ModelProvider): ModelError =>
  badProvider(provider, "`base_url` is not a valid URL")
