/** What a provider must have sent for an error of a turn to say what it says. */
import * as Script from "@colloquy/testing/ProviderScript"
import { at } from "./ThreadNames.ts"

const failed = (code: string, message: string): Script.ProviderStep =>
  Script.event({ type: "response.failed", response: { error: { code, message } } })

/** The code of a failed response, by the kind of the error. */
const codes: Readonly<Record<string, string>> = {
  rateLimitExceeded: "rate_limit_exceeded",
  serverOverloaded: "server_is_overloaded",
  contextWindowExceeded: "context_length_exceeded",
}

/** The reply of the provider; `steps` is what it had sent before. */
export const failureOf = (
  error: unknown,
  steps: ReadonlyArray<Script.ProviderStep>,
): Script.ProviderReply => {
  const message = String(at(error, "additionalDetails") ?? at(error, "message"))
  const info = String(at(error, "codexErrorInfo"))
  const [, status, body] = /^unexpected status (\d+) [^:]*: (.*), url: /s.exec(message) ?? []
  if (status !== undefined) return Script.status(Number(status), { body: body ?? "" })
  if (info === "internalServerError") return Script.status(500, { body: "boom" })
  if (message.startsWith("{")) return Script.status(400, { body: message })
  const code = codes[info]
  if (code !== undefined) return Script.reply(...steps, failed(code, message))
  if (message.startsWith("Quota exceeded")) {
    return Script.reply(...steps, failed("insufficient_quota", message))
  }
  if (info === "usageLimitExceeded") {
    const reached = { type: "usage_limit_reached", plan_type: "plus", resets_at: 2_000_000_000 }
    return Script.status(429, { body: JSON.stringify({ error: reached }) })
  }
  const [, cause] = /^stream disconnected before completion: (.*)$/s.exec(message) ?? []
  return cause === undefined || cause.startsWith("stream closed")
    ? Script.reply(...steps, Script.end)
    : Script.reply(...steps, failed("whatever", cause))
}
