/** `forkConversation`: a new conversation of the beginning of another one. The first version of the original has no such method. */
import { ConversationsView } from "../../ConversationsView.ts"
import type { ForkConversation } from "@colloquy/protocol/app/Conversations"
import { present } from "@colloquy/protocol/app/Fields"
import * as Effect from "effect/Effect"
import { type AppHandler, find, stateOf } from "../AppCall.ts"
import { cannotFork, invalidRequest } from "../AppErrors.ts"
import { conversationResult } from "../ConversationResult.ts"
import { rolloutPathOf } from "../StoredPaths.ts"

/** Handler of the method. */
export const forkConversation: AppHandler<typeof ForkConversation> = Effect.fnUntraced(function* (
  params,
  { connection },
) {
  const { beforeMessage, dropLastMessages } = present(params)
  if (beforeMessage !== undefined && dropLastMessages !== undefined) {
    return yield* invalidRequest(
      "params: `dropLastMessages` and `beforeMessage` exclude each other",
    )
  }
  const { id } = yield* find(params.conversationId)
  const manager = yield* ConversationsView
  const fork = yield* Effect.mapError(
    manager.fork(
      id,
      beforeMessage === undefined
        ? { _tag: "DropLastUserMessages", n: dropLastMessages ?? 0 }
        : { _tag: "BeforeUserMessage", nth: beforeMessage },
    ),
    (error) => cannotFork(id, error),
  )
  const { seq, settings } = yield* stateOf(fork)
  connection.cursor.start(fork.id, seq)
  return { ...conversationResult(fork, settings), ...(yield* rolloutPathOf(fork.id)) }
})
