/** `archiveConversation`. Without a path, which the original requires, the id alone names the conversation. */
import { ConversationsView } from "../../ConversationsView.ts"
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ArchiveConversation } from "@colloquy/protocol/app/Conversations"
import * as Effect from "effect/Effect"
import type { AppHandler } from "../AppCall.ts"
import { cannotGet, failed, invalid, invalidRequest } from "../AppErrors.ts"
import { type PathFault, pathFaultOf, pathFaultText, storedAtPath } from "../StoredPaths.ts"

/** The texts of the original, each followed by what is wrong with the path. */
const notInSessions = (path: string, fault: PathFault): JsonRpcError =>
  invalid(`rollout path \`${path}\` must be in sessions directory: ${pathFaultText(fault)}`, {
    issues: [fault],
  })

/** Fails unless the path is that of the conversation's own file, which is not archived. */
const check = Effect.fnUntraced(function* (
  id: string,
  path: string,
): Effect.fn.Return<void, JsonRpcError, ConversationsView> {
  const stored = yield* Effect.mapError(storedAtPath(path), (error) => {
    const fault = pathFaultOf("rolloutPath", path, error)
    return fault === undefined ? cannotArchive(error) : notInSessions(path, fault)
  })
  if (stored.archived) {
    const message = "the conversation is archived already"
    return yield* notInSessions(path, { path: ["rolloutPath"], message })
  }
  if (stored.meta.id !== id) {
    return yield* invalid(`rollout path \`${path}\` does not match conversation id ${id}`)
  }
})

const cannotArchive = (error: Parameters<typeof failed>[0]): JsonRpcError =>
  failed(error, "failed to archive conversation")

/** Handler of the method. */
export const archiveConversation: AppHandler<typeof ArchiveConversation> = Effect.fnUntraced(
  function* ({ conversationId, rolloutPath }) {
    const parsed = parseConversationId(conversationId)
    if ("problem" in parsed) return yield* invalidRequest(parsed.problem)
    const { id } = parsed
    if (typeof rolloutPath === "string") yield* check(id, rolloutPath)
    const manager = yield* ConversationsView
    yield* Effect.mapError(manager.archive(id), (error) =>
      error._tag === "NoSuchConversation" ? cannotGet(id, error) : cannotArchive(error),
    )
    return {}
  },
)
