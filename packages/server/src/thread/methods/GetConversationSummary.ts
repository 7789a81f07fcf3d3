/** `getConversationSummary`: what the store records of a thread, in the form before `thread/read`. */
import type { ConversationSummary } from "@colloquy/core/ConversationStore"
import type { GetConversationSummary } from "@colloquy/protocol/thread/Threads"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { ConversationsView } from "../../ConversationsView.ts"
import { threadId, type ThreadHandler } from "../ThreadCall.ts"
import { noConversation, storeFailed } from "../ThreadErrors.ts"

const isoOf = (ms: number): string => DateTime.formatIso(DateTime.makeUnsafe(ms))

const summaryOf = ({ meta, path = "", preview = "", updatedAtMs }: ConversationSummary) => ({
  conversationId: meta.id,
  path,
  preview,
  timestamp: isoOf(meta.createdAtMs),
  updatedAt: isoOf(updatedAtMs),
  modelProvider: meta.provider ?? "",
  cwd: meta.cwd,
  cliVersion: meta.version,
  source: meta.source ?? "vscode",
  gitInfo:
    meta.git === undefined
      ? null
      : {
          sha: meta.git.commitHash ?? null,
          branch: meta.git.branch ?? null,
          origin_url: meta.git.repositoryUrl ?? null,
        },
})

/** Handler of the method. */
export const getConversationSummary: ThreadHandler<typeof GetConversationSummary> =
  Effect.fnUntraced(function* (params) {
    const conversations = yield* ConversationsView
    const where =
      "rolloutPath" in params
        ? { path: params.rolloutPath }
        : { id: yield* threadId(params.conversationId) }
    const name = "rolloutPath" in params ? params.rolloutPath : params.conversationId
    const summary = yield* Effect.mapError(conversations.metadata(where), (error) =>
      error._tag === "NoSuchConversation" ? noConversation(name) : storeFailed(error),
    )
    return { summary: summaryOf(summary) }
  })
