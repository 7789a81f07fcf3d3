/** Maps between conversations and the paths of their rollout files, and describes errors about such paths. */
import type { ConversationSummary } from "@colloquy/core/ConversationStore"
import type { NoSuchConversation } from "@colloquy/core/ConversationErrors"
import type { GetError } from "@colloquy/core/ConversationManager"
import type { StoreError } from "@colloquy/core/StoreErrors"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { shortened } from "@colloquy/protocol/text/Shortened"
import * as Effect from "effect/Effect"
import { ConversationsView } from "../ConversationsView.ts"

/**
 * The member `rolloutPath` of a conversation. Absent if the store keeps no files, or cannot be read now. Never fails.
 */
export const rolloutPathOf = (
  id: ConversationId,
): Effect.Effect<{ readonly rolloutPath?: string }, never, ConversationsView> =>
  Effect.gen(function* () {
    const conversations = yield* ConversationsView
    const { path } = yield* conversations.metadata({ id })
    return path === undefined ? {} : { rolloutPath: path }
  }).pipe(
    Effect.catch(({ message }) =>
      Effect.as(Effect.logDebug(`the path of a stored conversation is unknown: ${message}`), {}),
    ),
  )

/** The stored conversation whose rollout file is at this path, archived or not. */
export const storedAtPath = (
  path: string,
): Effect.Effect<ConversationSummary, StoreError | NoSuchConversation, ConversationsView> =>
  Effect.flatMap(ConversationsView, (conversations) => conversations.metadata({ path }))

/** The fault of the member of a request that contains the path of a rollout file. */
export interface PathFault {
  readonly path: readonly [field: string]
  readonly message: string
}

/** A path that a client sent, as a text of an error repeats it. */
const quoted = (path: string): string => JSON.stringify(shortened(path, 256))

/**
 * The fault of a path that a client sent: the member of the request, and what was expected. Undefined for an error that
 * is not about the path. Never reveals what exists at a path outside the directory of rollout files.
 */
export const pathFaultOf = (
  field: string,
  path: string,
  error: GetError | StoreError,
): PathFault | undefined => {
  if (error._tag === "NoSuchConversation") {
    return { path: [field], message: `there is no rollout file at ${quoted(path)}` }
  }
  const cause = error._tag === "ConversationUnavailable" ? error.because : error
  if (cause?._tag !== "StoreError") return undefined
  if (cause.reason !== "Outside" && cause.reason !== "Foreign") return undefined
  return { path: [field], message: `${cause.message}; got ${quoted(path)}` }
}

/** The fault as one line: the member and the message. */
export const pathFaultText = ({ message, path: [field] }: PathFault): string =>
  `${field}: ${message}`
