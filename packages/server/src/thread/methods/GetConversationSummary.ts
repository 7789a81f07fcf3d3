/** `getConversationSummary`: what the store records of a thread, in the form before `thread/read`. */
import type { ConversationSummary } from "@colloquy/core/ConversationStore"
import type { GetConversationSummary } from "@colloquy/protocol/thread/Threads"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { pathFaultOf, pathFaultText, storedAtPath } from "../../app/StoredPaths.ts"
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

const atPath = (path: string) =>
  Effect.mapError(storedAtPath(path), (error) => {
    const fault = pathFaultOf("rolloutPath", path, error)
    if (fault !== undefined) return invalid(pathFaultText(fault), { issues: [fault] })
    return error._tag === "StoreError" ? storeFailed(error) : noConversation(path)
  })

const withId = Effect.fnUntraced(function* (given: string) {
  const id = yield* threadId(given)
  const conversations = yield* ConversationsView
  return yield* Effect.mapError(conversations.metadata({ id }), (error) =>
    error._tag === "NoSuchConversation" ? noConversation(given) : storeFailed(error),
  )
})

/** Handler of the method. */
export const getConversationSummary: ThreadHandler<typeof GetConversationSummary> =
  Effect.fnUntraced(function* (params) {
    const summary =
      "rolloutPath" in params
        ? yield* atPath(params.rolloutPath)
        : yield* withId(params.conversationId)
    return { summary: summaryOf(summary) }
  })
