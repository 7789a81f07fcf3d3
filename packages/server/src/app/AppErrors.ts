/** Maps errors to the codes and texts of the app-server dialect, and is the only file that decides them. Pure. */
import {
  type AttachError,
  type CannotResume,
  type ConversationUnavailable,
  isGone,
  type SubmitError,
} from "@colloquy/core/ConversationErrors"
import type { BadClientTool } from "@colloquy/core/ClientTool"
import type { CreateError, GetError } from "@colloquy/core/ConversationManager"
import type { ConversationsView } from "../ConversationsView.ts"
import { inUse } from "../InUse.ts"
import type { Fault } from "@colloquy/protocol/Faults"
import { isNulFault } from "@colloquy/protocol/text/SystemText"
import type * as Effect from "effect/Effect"
import type { AuthFailed } from "./ports/AuthPort.ts"
import type { UserConfigFailed } from "./ports/UserConfigPort.ts"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"

const overloadedCode = -32001

/** An error caused by the client's request. */
export const invalid = (message: string, data?: unknown): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.invalidRequest,
    message,
    ...(data === undefined ? {} : { data }),
  })

/** An error that the client's request did not cause. */
export const internal = (message: string, data?: unknown): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.internalError,
    message,
    ...(data === undefined ? {} : { data }),
  })

/**
 * A call of the core failed. `data` names the process that has the conversation, if that is the reason.
 *
 * @param context what could not be done, before the reason; by default the reason alone
 */
export const failed = (
  error: Parameters<typeof inUse>[0] & { readonly message: string },
  context?: string,
): JsonRpcError =>
  internal(context === undefined ? error.message : `${context}: ${error.message}`, inUse(error))

/** A request of the wrong form. */
export const invalidRequest = (fault: string, data?: unknown): JsonRpcError =>
  invalid(`Invalid request: ${fault}`, data)

/** Params that do not fit the method; those that the operating system would misread have a code of their own. */
export const badParams = (fault: string, issues: ReadonlyArray<Fault>): JsonRpcError =>
  issues.some(isNulFault)
    ? new JsonRpcError({
        code: ErrorCode.invalidParams,
        message: `Invalid params: ${fault}`,
        data: { issues },
      })
    : invalidRequest(fault, { issues })

/** More requests are in flight than are served at once. Code and text are those of the original's version 0.169. */
export const overloaded = (fault: string): JsonRpcError =>
  new JsonRpcError({
    code: overloadedCode,
    message: "Server overloaded; retry later.",
    data: { reason: fault },
  })

/** The client has not sent `initialize`. */
export const notInitialized = (): JsonRpcError => invalid("Not initialized")
/** The client sent `initialize` before. */
export const alreadyInitialized = (): JsonRpcError => invalid("Already initialized")

/** The client cancelled the request. */
export const requestCancelled = (): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.requestCancelled, message: "request cancelled" })

const conversationNotFound = (id: string): JsonRpcError => invalid(`conversation not found: ${id}`)
/** The connection has no subscription with this id. */
export const subscriptionNotFound = (id: string): JsonRpcError =>
  invalid(`subscription not found: ${id}`)
/** No login with this id is in progress. */
export const loginNotFound = (id: string): JsonRpcError => invalid(`login id not found: ${id}`)

/** The conversation does not exist or cannot be loaded. */
export const cannotGet = (id: string, error: GetError): JsonRpcError => {
  if (error._tag === "NoSuchConversation") return conversationNotFound(id)
  return error._tag === "ConversationUnavailable" && isGone(error)
    ? invalid(error.message)
    : failed(error)
}

/** The settings of the request contradict each other or the configuration. */
export const badSettings = ({ message }: { readonly message: string }): JsonRpcError =>
  invalid(`error deriving config: ${message}`)

/** The stored credentials could not be read. */
export const cannotReadLogin = ({ message }: AuthFailed): JsonRpcError =>
  internal(`error reading the login: ${message}`)

/** The conversation could not be created or resumed. */
export const cannotCreate = (error: CreateError | CannotResume | BadClientTool): JsonRpcError =>
  failed(error, "error creating conversation")

type ForkError = Effect.Error<ReturnType<ConversationsView["Service"]["fork"]>>

/** The conversation could not be forked; `error.field` is mapped to the name of the request's parameter. */
export const cannotFork = (id: string, error: ForkError): JsonRpcError => {
  switch (error._tag) {
    case "BadForkRule":
      return invalid(
        `${error.field === "n" ? "dropLastMessages" : "beforeMessage"}: ${error.message.replace(/^\w+: /, "")}`,
      )
    case "NoSuchConversation":
    case "ConversationUnavailable":
      return cannotGet(id, error)
    default:
      return cannotCreate(error)
  }
}

/**
 * The op was not accepted. Rejected input is the client's error; a conversation that has just closed counts as not
 * found.
 */
export const cannotSubmit = (id: string, error: SubmitError): JsonRpcError => {
  switch (error._tag) {
    case "ConversationClosed":
      return conversationNotFound(id)
    case "SubmissionRefused":
      return invalid(error.message)
    default:
      return failed(error)
  }
}

/** The listener could not be attached. */
export const cannotAttach = (error: AttachError): JsonRpcError => {
  switch (error._tag) {
    case "EventsFromFuture":
      return invalid(
        `after: expected at most ${error.next - 1}, the last event; got ${error.from - 1}`,
      )
    case "TooManyListeners":
      return invalid(error.message)
    default:
      return unavailable(error)
  }
}

/** The conversation is not available now. */
export const unavailable = (error: ConversationUnavailable): JsonRpcError => failed(error)

/** The configuration file could not be read or written. */
export const cannotReadConfig = ({ message, step }: UserConfigFailed): JsonRpcError =>
  internal(`failed to ${step} config.toml: ${message}`)
