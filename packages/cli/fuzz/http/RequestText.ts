/**
 * HTTP requests as the text of an input: a line with method and target, header lines, an empty line and the body; requests
 * are separated by a line with U+001E. What Node's parser refuses before the program sees it is refused here as well. Pure.
 */
import { encode, oneOf, mutateBytes } from "@colloquy/simulation/fuzz/Bytes"
import { mutateJson } from "@colloquy/simulation/fuzz/JsonMutators"
import type { SeededRandom } from "@colloquy/simulation/SeededRandom"
import { METHODS } from "node:http"

/** One request as a client writes it. */
export interface RequestText {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string
}

const separator = "\n\u001e\n"

/** The text of the requests. */
export const requestsText = (requests: ReadonlyArray<RequestText>): string =>
  requests
    .map(({ body, headers, method, target }) =>
      [
        `${method} ${target}`,
        ...headers.map(([name, value]) => `${name}: ${value}`),
        "",
        body,
      ].join("\n"),
    )
    .join(separator)

const headOf = (text: string): RequestText => {
  const end = text.indexOf("\n\n")
  const [first = "", ...lines] = text.slice(0, end === -1 ? undefined : end).split("\n")
  const space = first.indexOf(" ")
  return {
    method: space === -1 ? first : first.slice(0, space),
    target: space === -1 ? "" : first.slice(space + 1),
    headers: lines.map((line) => {
      const colon = line.indexOf(":")
      return colon === -1 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
    body: end === -1 ? "" : text.slice(end + 2),
  }
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** The requests of an input, whatever its bytes. */
export const requestsOf = (input: Uint8Array): ReadonlyArray<RequestText> =>
  utf8.decode(input).split(separator).map(headOf)

const token = /^[\w!#$%&'*+.^`|~-]+$/
const target = /^[!-~\u0080-\u00ff]+$/
const value = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** True if Node hands the request to the program. */
export const isWellFormed = (request: RequestText): boolean =>
  METHODS.includes(request.method) &&
  target.test(request.target) &&
  request.headers.every(([name, text]) => token.test(name) && value.test(text))

/** The headers as Node joins them with `joinDuplicateHeaders`: names in lower case, repeated ones as one value. */
export const joinedHeaders = ({ headers }: RequestText): Readonly<Record<string, string>> => {
  const joined: Record<string, string> = {}
  for (const [given, text] of headers) {
    const name = given.toLowerCase()
    joined[name] = joined[name] === undefined ? text : `${joined[name]}, ${text}`
  }
  return joined
}

const charactersOf = (text: string, draws: SeededRandom): string =>
  utf8.decode(mutateBytes(encode(text), draws, encode(text)))

type Change = (
  request: RequestText,
  draws: SeededRandom,
  donors: ReadonlyArray<RequestText>,
) => RequestText

const headerAt = ({ headers }: RequestText, draws: SeededRandom) =>
  draws.below(Math.max(1, headers.length))

const changes: ReadonlyArray<Change> = [
  (request, draws, donors) => ({
    ...request,
    body: mutateJson(request.body, draws, oneOf(draws, donors).body) ?? oneOf(draws, donors).body,
  }),
  (request, draws, donors) => ({
    ...request,
    body: mutateJson(request.body, draws, oneOf(draws, donors).body) ?? request.body,
  }),
  (request, draws) => ({ ...request, body: charactersOf(request.body, draws) }),
  (request, draws, donors) => ({ ...request, target: oneOf(draws, donors).target }),
  (request, draws) => ({ ...request, target: charactersOf(request.target, draws) }),
  (request, draws, donors) => ({ ...request, method: oneOf(draws, donors).method }),
  (request, draws) => ({
    ...request,
    headers: request.headers.toSpliced(headerAt(request, draws), 1),
  }),
  (request, draws, donors) => ({
    ...request,
    headers: request.headers.toSpliced(
      headerAt(request, draws),
      draws.below(2),
      ...oneOf(draws, donors).headers.slice(-1 - draws.below(3)),
    ),
  }),
  (request, draws) => ({
    ...request,
    headers: request.headers.map(([name, text], at, all) =>
      at === draws.below(all.length) ? [name, charactersOf(text, draws)] : [name, text],
    ),
  }),
  (request, draws) => ({
    ...request,
    headers: [...request.headers, oneOf(draws, [["x", "y"] as const, ...request.headers])],
  }),
]

/**
 * Returns a mutation of whole requests, their headers and their bodies.
 *
 * @param corpus inputs whose parts may be inserted
 */
export const mutateRequests = (corpus: ReadonlyArray<Uint8Array>) => {
  const donors = corpus.flatMap(requestsOf)
  return (input: Uint8Array, draws: SeededRandom): Uint8Array => {
    const requests = requestsOf(input)
    const at = draws.below(requests.length)
    const request = requests[at] ?? oneOf(draws, donors)
    const roll = draws.below(100)
    const changed =
      roll < 80
        ? requests.with(at, oneOf(draws, changes)(request, draws, donors))
        : roll < 88
          ? requests.toSpliced(at, 0, oneOf(draws, donors))
          : roll < 94
            ? requests.toSpliced(at, 0, request)
            : requests.toSpliced(at, requests.length > 1 ? 1 : 0)
    return encode(requestsText(changed))
  }
}
