/** Requests of an `HttpClient` as a recording has them. */
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { Cleaning } from "./Cleaning.ts"
import type { Exchange } from "./Recording.ts"

type Request = Exchange["request"]

/** Headers that hold a secret; no header of a request is recorded. */
const secretHeaders = ["authorization", "x-api-key", "api-key", "cookie", "chatgpt-account-id"]

/** Headers of a response that change what a client does. All others are left out. */
const kept = new Set(["content-type", "retry-after"])

/** The headers of a response that are recorded. */
export const keptHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => kept.has(name.toLowerCase())))

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest, cleaning: Cleaning): unknown => {
  if (body._tag === "Empty") return null
  if (body._tag !== "Uint8Array") return `<${body._tag}>`
  const text = new TextDecoder().decode(body.body)
  try {
    return cleaning.value(JSON.parse(text))
  } catch {
    return cleaning.text(text)
  }
}

/** The request without secrets and with stable ids. */
export const requestOf = (
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  cleaning: Cleaning,
): Request => {
  for (const name of secretHeaders) {
    const value = request.headers[name]
    if (value !== undefined) cleaning.addSecret(value.replace(/^(?:Bearer|Basic)\s+/i, ""))
  }
  return {
    method: request.method,
    url: cleaning.text(`${url.origin}${url.pathname}`),
    body: bodyOf(request, cleaning),
  }
}

const shown = (value: unknown): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** The first place at which two values differ, as a sentence; undefined: they are equal. */
export const differenceOf = (
  expected: unknown,
  actual: unknown,
  path: string,
): string | undefined => {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const inside = Array.isArray(expected) ? `${path}[${name}]` : `${path}.${name}`
      const found = differenceOf(expected[name], actual[name], inside)
      if (found !== undefined) return found
    }
    return undefined
  }
  return Object.is(expected, actual)
    ? undefined
    : `\`${path}\` is ${shown(actual)}, and was ${shown(expected)} in the recording`
}
