/** What every response must be, whatever the request was. Does not use the decoders of the program. Pure. */
import { encode } from "@colloquy/simulation/fuzz/Bytes"
import { Violation } from "@colloquy/simulation/fuzz/Edge"
import { imbalanceOf } from "../frames/Balance.ts"
import { linesOwed } from "../frames/Expected.ts"
import { responsesIn } from "../frames/Output.ts"
import { type Received, tokens } from "./HttpApp.ts"
import { joinedHeaders, type RequestText } from "./RequestText.ts"

const l1 = (message: string) => new Violation({ law: "L1", message })
const l9 = (message: string) => new Violation({ law: "L9", message })
const l13 = (message: string) => new Violation({ law: "L13", message })

/** What everybody may read: the responses of `/healthz` and `/readyz`. */
const publicTexts = new Set(['{"status":"ok"}', '{"status":"ready"}'])

const localHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

/** True if the request has the credentials of a principal and comes from nobody's page. */
const isAllowed = (request: RequestText): boolean => {
  const { authorization = "", host = "", origin } = joinedHeaders(request)
  const [scheme, ...rest] = authorization.trim().split(/ +/)
  const isKnown =
    scheme?.toLowerCase() === "bearer" && rest.length === 1 && (rest[0] ?? "") in tokens
  const isHost = localHost.test(host)
  const isOwnPage =
    origin === undefined ||
    [`http://${host}`, `https://${host}`].some((own) => own.toLowerCase() === origin.toLowerCase())
  return isKnown && isHost && isOwnPage
}

const pathOf = ({ target }: RequestText): string => target.split(/[?#;]/)[0] ?? ""

/** True if the response is what everybody may read; one to HEAD has no text to tell by. */
const isPublic = ({ method, target }: RequestText, text: string): boolean =>
  publicTexts.has(text) || (method === "HEAD" && text === "" && /healthz|readyz/i.test(target))

const accessFault = (request: RequestText, { status, text }: Received): Violation | undefined =>
  status < 400 && !isPublic(request, text) && !isAllowed(request)
    ? new Violation({
        law: "access",
        message: `responds ${status} to a request without credentials`,
      })
    : undefined

const sseLine = /^(?:event|data|id|retry)(?:: .*)?$|^:.*$|^data: ?$/

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The data of the events of a stream; a fault for a line that is none of a stream of events. */
const dataOf = (text: string): ReadonlyArray<string> | Violation => {
  const data: Array<string> = []
  for (const block of text.split("\n\n")) {
    const lines = block.split("\n").filter((line) => line !== "")
    const wrong = lines.find((line) => !sseLine.test(line))
    if (wrong !== undefined) return l9(`writes a line that is none of an event: ${wrong}`)
    const found = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(6))
    if (found.length > 1) return l9("writes an event with two lines of data")
    if (lines.includes("event: endpoint")) continue
    for (const one of found) {
      if (one !== "" && !isJson(one)) return l9(`writes data that are not JSON: ${one}`)
      if (one !== "") data.push(one)
    }
  }
  return data
}

const typeOf = ({ headers }: Received): string => headers["content-type"]?.split(";")[0] ?? ""

const bodyFault = (received: Received): Violation | undefined => {
  const { headers, status, text } = received
  for (const [name, value] of Object.entries(headers)) {
    if (/[\r\n]/.test(value)) return l9(`writes the header ${name} on two lines`)
  }
  if (typeOf(received) === "text/event-stream") {
    const data = dataOf(text)
    return data instanceof Violation ? data : undefined
  }
  if (typeOf(received) === "application/json" && !isJson(text)) {
    return l9(`writes a body that is not JSON: ${text}`)
  }
  // The library responds 404 to a path that no route has.
  return status >= 400 && status !== 404 && text === ""
    ? l13(`responds ${status} and says nothing about it`)
    : undefined
}

/** The JSON-RPC messages of a whole response to a POST; undefined where the response is none of JSON-RPC or has not ended. */
const messagesOf = (received: Received): ReadonlyArray<string> | undefined => {
  if (received.status !== 200 || !received.isOver) return undefined
  if (typeOf(received) === "application/json") return [received.text]
  const data = dataOf(received.text)
  return data instanceof Violation ? undefined : data
}

const rpcFault = (request: RequestText, received: Received): Violation | undefined => {
  if (request.method !== "POST" || pathOf(request) !== "/mcp") return undefined
  const messages = messagesOf(received)
  if (messages === undefined) return undefined
  const responses = responsesIn(messages.map((one) => `${one}\n`).join(""), false)
  if (responses instanceof Violation) return responses
  // A body may have line breaks between its tokens, and is one message all the same.
  const lines = linesOwed(encode(request.body.replaceAll(/[\r\n]/g, " ")), Number.MAX_SAFE_INTEGER)
  const problem = imbalanceOf(lines, responses, false)
  return problem === undefined ? undefined : l1(problem)
}

/** The first fault of a response. */
export const faultOf = (request: RequestText, received: Received): Violation | undefined => {
  const { status, text } = received
  if (status < 200 || status > 599) return l9(`responds with status ${status}`)
  if (status === 500 || text.includes('"Internal error"')) {
    return l13(`responds ${status} to ${request.method} ${pathOf(request)}: ${text.slice(0, 200)}`)
  }
  return accessFault(request, received) ?? bodyFault(received) ?? rpcFault(request, received)
}
