/** Why a turn failed, in the words of this dialect: the kind of a failure is read from its text. Pure. */
import type { ErrorInfo, TurnError } from "@colloquy/protocol/thread/Values"

/** The kinds of failures that providers report, by what their texts contain. */
const kinds: ReadonlyArray<readonly [RegExp, ErrorInfo & string]> = [
  [/context (?:window|length)|above the token limit/i, "contextWindowExceeded"],
  [/usage limit|quota exceeded/i, "usageLimitExceeded"],
  [/rate limit/i, "rateLimitExceeded"],
  [/overloaded|at capacity/i, "serverOverloaded"],
  [/experiencing high demand/i, "internalServerError"],
  [/provider refused (?:an image|one of \d+ images)/, "badRequest"],
]

/** The status of the provider's response, where the text names it. */
const statusIn = (message: string): number | undefined => {
  const found = /(?:unexpected status|last status:) (\d{3})/.exec(message)?.[1]
  return found === undefined ? undefined : Number(found)
}

const infoOf = (message: string): ErrorInfo => {
  const kind = kinds.find(([words]) => words.test(message))?.[1]
  if (kind !== undefined) return kind
  const httpStatusCode = statusIn(message)
  if (httpStatusCode === undefined) return "other"
  if (httpStatusCode === 429) return { responseTooManyFailedAttempts: { httpStatusCode } }
  if (httpStatusCode === 500) return "internalServerError"
  return httpStatusCode === 400 ? "other" : { httpConnectionFailed: { httpStatusCode } }
}

/** The failure that ended a turn. */
export const turnError = (message: string): TurnError => ({
  message,
  codexErrorInfo: infoOf(message),
  additionalDetails: null,
  misalignment: null,
})

/** `stream error: CAUSE; retrying 1/5 in 200ms…`, as the core says it. */
const retryText = /^stream error: (.*); retrying (\d+\/\d+) in \S+$/s

/** A failure after which the request is sent again. */
export const retryError = (message: string): TurnError => {
  const [, cause, attempt] = retryText.exec(message) ?? []
  if (cause === undefined || attempt === undefined) return turnError(message)
  const info = infoOf(cause)
  const isCut = info === "other" && cause.startsWith("stream disconnected")
  return {
    message: `Reconnecting... ${attempt}`,
    codexErrorInfo: isCut ? { responseStreamDisconnected: { httpStatusCode: null } } : info,
    additionalDetails: cause,
    misalignment: null,
  }
}
