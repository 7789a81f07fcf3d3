/**
 * Checks the settings of a provider for values that the platform would reject only by throwing in
 * the middle of a request, with the value in the message. Pure. Names the key and never quotes its
 * value, which may be a secret.
 */
import type { ModelProvider } from "@colloquy/core/ModelClient"
import * as Redacted from "effect/Redacted"

/**
 * RFC 9110 section 5.1 and 5.5: a header name is a token, a header value has no control characters.
 */
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** A bearer token is printable ASCII, like a key from the environment. */
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

/** The first fault, or undefined. Whether `base_url` is a URL is checked by the HTTP client. */
export const providerProblem = (provider: ModelProvider): string | undefined => {
  const { baseUrl, bearerToken, envHttpHeaders, httpHeaders } = provider
  if (URL.canParse(baseUrl) && !/^https?:/i.test(baseUrl)) {
    return "`base_url` is neither an http nor an https URL"
  }
  if (bearerToken !== undefined && !bearer.test(Redacted.value(bearerToken))) {
    return "`experimental_bearer_token` is empty or holds characters that a header cannot carry"
  }
  // These values are names of environment variables; the values of the variables are checked when
  // they are read.
  return (
    headersProblem("http_headers", httpHeaders) ??
    headersProblem("env_http_headers", envHttpHeaders)
  )
}
