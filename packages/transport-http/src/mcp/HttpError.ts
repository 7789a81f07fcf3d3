/** Responses to requests that are refused: a status, and a JSON-RPC error without or with the id of the request. */
import {
  ErrorCode,
  failureText,
  type JsonRpcError,
  type RequestId,
} from "@colloquy/protocol/JsonRpc"
import { StatelessErrorCode } from "@colloquy/protocol/mcp/Revisions"
import type { HttpServerError } from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { NotUtf8 } from "../guard/RequestText.ts"

/** A JSON text as the body. */
export const jsonText = (
  text: string,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { status, contentType: "application/json", headers })

/** The error of a request that could not be handed to the server. */
export const refusal = (
  status: number,
  error: Pick<JsonRpcError, "code" | "message" | "data">,
  id: RequestId | null = null,
  headers: Readonly<Record<string, string>> = {},
): HttpServerResponse.HttpServerResponse => jsonText(failureText(id, error), status, headers)

/** An error of the transport itself, in one sentence. */
export const refused = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpServerResponse.HttpServerResponse =>
  refusal(status, { code: ErrorCode.invalidRequest, message, data: undefined }, null, headers)

/** The response where the body could not be read: it is larger than the limit, is not UTF-8, or the client is gone. */
export const unreadBody = ({ reason }: HttpServerError): HttpServerResponse.HttpServerResponse => {
  if (reason._tag !== "RequestParseError") return refused(400, "the body cannot be read")
  if (reason.reason === "BodyTooLarge")
    return refused(413, "the body is larger than the server allows")
  return reason.cause instanceof NotUtf8
    ? refusal(400, {
        code: ErrorCode.parseError,
        message: "Parse error: the message is not UTF-8",
        data: undefined,
      })
    : refused(400, "the body cannot be read")
}

/**
 * The status of an error of a stateless request: proxies and clients decide by it (2026-07-28).
 *
 * @param isComplete whether `_meta` of the request has what every request must have
 */
export const statusOf = (code: number | undefined, isComplete: boolean): number => {
  switch (code) {
    case ErrorCode.invalidParams:
      return isComplete ? 200 : 400
    case ErrorCode.methodNotFound:
      return 404
    case ErrorCode.parseError:
    case ErrorCode.invalidRequest:
    case StatelessErrorCode.headerMismatch:
    case StatelessErrorCode.unsupportedProtocolVersion:
    case StatelessErrorCode.missingClientCapability:
      return 400
    default:
      return 200
  }
}
