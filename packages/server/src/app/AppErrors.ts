/** From what can go wrong to the codes and texts of this dialect (§3): the only place that decides them. Pure. */
import type {
  AttachError,
  CannotResume,
  ConversationUnavailable,
  SubmitError,
} from "@colloquy/core/ConversationErrors"
import type { CreateError, GetError } from "@colloquy/core/ConversationManager"
import type { ConversationsView } from "../ConversationsView.ts"
import type * as Effect from "effect/Effect"
import type { AuthFailed } from "./ports/AuthPort.ts"
import type { UserConfigFailed } from "./ports/UserConfigPort.ts"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"

/** A mistake of the caller. */
export const invalid = (message: string, data?: unknown): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.invalidRequest,
    message,
    ...(data === undefined ? {} : { data }),
  })

/** Not a mistake of the caller. */
export const internal = (message: string, data?: unknown): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.internalError,
    message,
    ...(data === undefined ? {} : { data }),
  })

export const invalidRequest = (fault: string, data?: unknown): JsonRpcError =>
  invalid(`Invalid request: ${fault}`, data)

export const notInitialized = (): JsonRpcError => invalid("Not initialized")
export const alreadyInitialized = (): JsonRpcError => invalid("Already initialized")

export const requestCancelled = (): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.requestCancelled, message: "request cancelled" })

const conversationNotFound = (id: string): JsonRpcError => invalid(`conversation not found: ${id}`)
export const subscriptionNotFound = (id: string): JsonRpcError =>
  invalid(`subscription not found: ${id}`)
export const loginNotFound = (id: string): JsonRpcError => invalid(`login id not found: ${id}`)

export const cannotGet = (id: string, error: GetError): JsonRpcError => {
  if (error._tag === "NoSuchConversation") return conversationNotFound(id)
  // Without a deeper reason it is where the client wanted it: archived.
  const asked = error._tag === "ConversationUnavailable" && error.because === undefined
  return asked ? invalid(error.message) : internal(error.message)
}

export const badSettings = ({ message }: { readonly message: string }): JsonRpcError =>
  invalid(`error deriving config: ${message}`)

/** Whether there is a login could not be read. */
export const cannotReadLogin = ({ message }: AuthFailed): JsonRpcError =>
  internal(`error reading the login: ${message}`)

export const cannotCreate = ({ message }: CreateError | CannotResume): JsonRpcError =>
  internal(`error creating conversation: ${message}`)

type ForkError = Effect.Error<ReturnType<ConversationsView["Service"]["fork"]>>

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

/** Refused input is the caller's to put right; a conversation that has just ended is not found any more. */
export const cannotSubmit = (id: string, error: SubmitError): JsonRpcError => {
  switch (error._tag) {
    case "ConversationClosed":
      return conversationNotFound(id)
    case "SubmissionRefused":
      return invalid(error.message)
    default:
      return internal(error.message)
  }
}

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

export const unavailable = ({ message }: ConversationUnavailable): JsonRpcError => internal(message)

export const cannotReadConfig = ({ message, step }: UserConfigFailed): JsonRpcError =>
  internal(`failed to ${step} config.toml: ${message}`)
