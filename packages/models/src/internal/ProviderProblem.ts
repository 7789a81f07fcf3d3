/**
 * What is wrong with the settings of a provider that the platform would tell only by throwing, in the middle of a
 * request and with the value in its text. Pure; names the key and never quotes its value, which may be a secret.
 */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Redacted from "effect/Redacted"

/** RFC 9110 §5.1 and §5.5: a name is a token, a value has no control characters. */
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** A token is printable ASCII, as a key from the environment. */
const bearer = /^[\x20-\x7e]+$/

const headersProblem = (
  key: string,
  headers: Readonly<Record<string, string>>,
): string | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) return `\`${key}\` names what is no header`
    if (!headerValue.test(value)) {
      return `\`${key}.${name}\` holds characters that a header cannot carry`
    }
  }
  return undefined
}

/** The first fault, or `undefined`. That `base_url` is a URL at all is left to the client. */
export const providerProblem = (provider: ModelProvider): string | undefined => {
  const { baseUrl, bearerToken, envHttpHeaders, httpHeaders } = provider
  if (URL.canParse(baseUrl) && !/^https?:/i.test(baseUrl)) {
    return "`base_url` is neither an http nor an https URL"
  }
  if (bearerToken !== undefined && !bearer.test(Redacted.value(bearerToken))) {
    return "`experimental_bearer_token` is empty or holds characters that a header cannot carry"
  }
  // The values of these are names of variables; what the variables hold is checked when it is read.
  return (
    headersProblem("http_headers", httpHeaders) ??
    headersProblem("env_http_headers", envHttpHeaders)
  )
}
