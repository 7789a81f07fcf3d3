/** The errors of a model request with their texts (§6.4). No secret enters a text. */
import { ModelError, type ModelProvider } from "@colloquy/core/ModelClient"
import { isOverflow } from "./Overflow.ts"
import { type ProviderFault, usageLimit } from "./ProviderFault.ts"

export const disconnected = "stream disconnected before completion: "

/** Longest delay named by a provider that is waited for; a longer one is reported at once. */
export const maxRetryAfterMs = 60_000

/** Milliseconds that no provider means: the digits of a header or a text can name more than a number holds. */
const maxNamedDelayMs = 2 ** 53 - 1

/** A delay that a provider named, as a member of an error. */
export const delayMember = (delayMs: number | undefined): { readonly retryAfterMs?: number } =>
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

/** The same request would fail the same way. The last two are reasons of an incomplete response. */
const final: ReadonlySet<string> = new Set([
  "invalid_prompt",
  "max_output_tokens",
  "content_filter",
])

/** Milliseconds of "Please try again in 11.054s" or "28ms". */
const namedDelayMs = (message: string): number | undefined => {
  const found = /try again in (\d+(?:\.\d+)?)\s*(ms|s)/i.exec(message)
  return found === null
    ? undefined
    : Number(found[1]) * (found[2]?.toLowerCase() === "s" ? 1000 : 1)
}

/** An error that the provider reports within a stream. `otherwise` stands for a message that is missing. */
export const reportedFailure = (
  fault: ProviderFault,
  otherwise = "the provider reported an error without a message",
): ModelError => {
  const limit = usageLimit(fault)
  if (limit !== undefined) {
    return new ModelError({ reason: "Stream", message: limit, retryable: false })
  }
  const { codes, message = otherwise } = fault
  if (codes.concat("").some((code) => isOverflow(code, message))) {
    return streamFailure(message, { overflow: true })
  }
  const delay = codes.includes("rate_limit_exceeded") ? namedDelayMs(message) : undefined
  return streamFailure(message, {
    // A server that asks to wait for more than a minute is not waited for, as with HTTP requests.
    retryable: !codes.some((code) => final.has(code)) && (delay ?? 0) <= maxRetryAfterMs,
    ...(delay === undefined ? {} : { retryAfterMs: delay }),
  })
}

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
