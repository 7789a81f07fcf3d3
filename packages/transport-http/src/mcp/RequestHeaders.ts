/** What the headers of a request to the endpoint say: the revision, the session, and the types that the client sends and accepts. */
import type { ConnectionPeer } from "@colloquy/protocol/Connection"
import type { Batch, Message } from "@colloquy/protocol/JsonRpc"
import { handshakeVersions, MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import { refused } from "./HttpError.ts"

/** The header that names the session. */
export const sessionHeader = "mcp-session-id"
/** The header that names the revision. */
export const versionHeader = "mcp-protocol-version"

type HttpRequest = HttpServerRequest.HttpServerRequest

/** True when the client takes this type, as it does without an `accept`. */
export const accepts = (request: HttpRequest, type: string): boolean => {
  const accept = request.headers["accept"]
  if (accept === undefined) return true
  const [kind] = type.split("/")
  return accept
    .split(",")
    .map((one) => one.split(";")[0]?.trim().toLowerCase())
    .some((one) => one === type || one === `${kind}/*` || one === "*/*")
}

/** What the official clients send with each POST, so that it need not be read each time. */
const usualAccept = "application/json, text/event-stream"

/** True when the client takes both JSON and streams, as each POST must allow. */
export const acceptsBoth = (request: HttpRequest): boolean =>
  request.headers["accept"] === usualAccept ||
  (accepts(request, "application/json") && accepts(request, "text/event-stream"))

/** True when the body is declared to be JSON. */
export const isJson = (request: HttpRequest): boolean => {
  const type = request.headers["content-type"]
  return (
    type === "application/json" || type?.split(";")[0]?.trim().toLowerCase() === "application/json"
  )
}

/** The client of the request. */
export const peerOf = (request: HttpRequest, principal: string): ConnectionPeer => ({
  principal,
  headers: { ...request.headers },
})

/** True for a message of a revision without sessions, by the headers or by the message itself. */
export const isStateless = (request: HttpRequest, message: Message | Batch): boolean => {
  const version = request.headers[versionHeader]
  if (statelessVersions.some((one) => one === version)) return true
  // A revision that this server does not have is refused by the era that names it in each request.
  return (
    (message._tag === "Request" || message._tag === "Notification") &&
    memberOf(memberOf(message.params, "_meta"), MetaKey.protocolVersion) !== undefined
  )
}

/** The refusal of a revision that has no handshake; undefined when there is nothing to refuse. */
export const versionFault = (
  request: HttpRequest,
): HttpServerResponse.HttpServerResponse | undefined => {
  const version = request.headers[versionHeader]
  return version === undefined || handshakeVersions.some((one) => one === version)
    ? undefined
    : refused(400, `MCP-Protocol-Version: expected one of ${handshakeVersions.join(", ")}`)
}
