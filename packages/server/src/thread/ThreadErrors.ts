/** Maps errors to the codes and texts of this dialect, and is the only file of it that decides them. Pure. */
import type { BadClientTool } from "@colloquy/core/ClientTool"
import type {
  AttachError,
  CannotResume,
  ConversationUnavailable,
  SubmitError,
} from "@colloquy/core/ConversationErrors"
import type { CreateError, GetError, UnarchiveError } from "@colloquy/core/ConversationManager"
import type { ConversationsView } from "../ConversationsView.ts"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ReadState } from "@colloquy/protocol/thread/Thread"
import type { StoreError } from "@colloquy/core/StoreErrors"
import type * as Effect from "effect/Effect"
import { failed, invalid } from "../app/AppErrors.ts"

/** A method, or a part of it, that this program does not serve. */
export const notServed = (what: string): JsonRpcError =>
  new JsonRpcError({ code: ErrorCode.methodNotFound, message: `${what} is not supported yet` })

/** A value that the method does not accept. */
export const badValue = (message: string, data?: unknown): JsonRpcError =>
  new JsonRpcError({
    code: ErrorCode.invalidParams,
    message,
    ...(data === undefined ? {} : { data }),
  })

/** The client has to declare `experimentalApi` to use this. */
export const experimental = (what: string): JsonRpcError =>
  invalid(`${what} requires experimentalApi capability`)

/** The text is no id. */
export const badThreadId = (problem: string): JsonRpcError =>
  invalid(`invalid thread id: ${problem}`)

/** The text is no id, in the words of the method that resumes a thread. */
export const badSessionId = (problem: string): JsonRpcError =>
  invalid(`invalid session id: ${problem}`)

/** No thread with this id can be used. */
export const threadNotFound = (id: string): JsonRpcError => invalid(`thread not found: ${id}`)

/** No thread with this id is stored. */
export const noRollout = (id: string): JsonRpcError =>
  invalid(`no rollout found for thread id ${id}`)

/** No thread is stored, in the words of the method that has another name for it. */
export const noConversation = (id: string): JsonRpcError =>
  invalid(`no rollout found for conversation id ${id}`)

/** The thread cannot be read. */
export const threadNotLoaded = (id: string): JsonRpcError => invalid(`thread not loaded: ${id}`)

/** No archived thread has this id. */
export const notArchived = (id: string): JsonRpcError =>
  invalid(`no archived rollout found for thread id ${id}`)

/** The thread is not stored, so that no facts about it can be changed. */
export const isEphemeral = (id: string): JsonRpcError =>
  invalid(`ephemeral thread does not support metadata updates: ${id}`)

/** Another client has changed the read state. */
export const readStateConflict = (state: ReadState): JsonRpcError =>
  invalid("read state changed", { reason: "readStateConflict", readState: state })

/** The thread is archived. */
const isArchived = (id: string): JsonRpcError =>
  invalid(`session ${id} is archived. Run \`codex unarchive ${id}\` to unarchive it first.`)

/** The thread has no turn with this id. */
const turnNotFound = (id: string): JsonRpcError => invalid(`turn not found: ${id}`)

/** The settings are not valid. */
export const badSettings = ({ message }: { readonly message: string }): JsonRpcError =>
  invalid(`failed to load configuration: ${message}`)

/** The thread cannot be used; `missing` is the error for one that does not exist. */
export const cannotGet = (
  id: string,
  error: GetError,
  missing: (id: string) => JsonRpcError,
): JsonRpcError => {
  if (error._tag === "NoSuchConversation") return missing(id)
  if (error._tag !== "ConversationUnavailable") return failed(error)
  switch (error.because?._tag) {
    case "ConversationArchived":
      return isArchived(id)
    case "NoSuchConversation":
      return missing(id)
    default:
      return failed(error)
  }
}

type ForkError = Effect.Error<ReturnType<ConversationsView["Service"]["fork"]>>

/** The thread could not be created. */
export const cannotCreate = (
  error: Exclude<CreateError | CannotResume | BadClientTool | ForkError, GetError>,
): JsonRpcError =>
  error._tag === "BadClientTool"
    ? invalid(
        `Invalid request: params.dynamicTools.${error.index}.${error.field}: ${error.problem}`,
      )
    : failed(error, "error creating thread")

/** The thread could not be forked. */
export const cannotFork = (id: string, turnId: string, error: ForkError): JsonRpcError => {
  switch (error._tag) {
    case "BadForkRule":
      return turnNotFound(turnId)
    case "NoSuchConversation":
    case "ConversationUnavailable":
    case "ManagerClosed":
      return cannotGet(id, error, noRollout)
    default:
      return cannotCreate(error)
  }
}

/** The input was not accepted. */
export const cannotSubmit = (id: string, error: SubmitError): JsonRpcError => {
  switch (error._tag) {
    case "ConversationClosed":
      return threadNotFound(id)
    case "SubmissionRefused":
      return invalid(error.message)
    default:
      return failed(error)
  }
}

/** The thread is not available now. */
export const unavailable = (error: ConversationUnavailable): JsonRpcError => failed(error)

/** The thread has too many subscribers, or is not available. */
export const cannotAttach = (error: AttachError): JsonRpcError =>
  error._tag === "ConversationUnavailable" ? unavailable(error) : invalid(error.message)

/** The store failed. */
export const storeFailed = (error: StoreError): JsonRpcError => failed(error)

/** The stored thread could not be archived, unarchived or deleted; `missing` is the error for one that does not exist. */
export const cannotRemove = (
  id: string,
  error: UnarchiveError,
  missing: (id: string) => JsonRpcError,
): JsonRpcError => (error._tag === "NoSuchConversation" ? missing(id) : failed(error))
