/** `forkConversation`: a new conversation of the beginning of another one. The first version of the original has no such method. */
import { ConversationsView } from "../../ConversationsView.ts"
import { removeOnFailure } from "../../RemoveOnFailure.ts"
import type { ForkConversation } from "@colloquy/protocol/app/Conversations"
import type { Params } from "@colloquy/protocol/Method"
import { present } from "@colloquy/protocol/app/Fields"
import * as Effect from "effect/Effect"
import { type AppHandler, find, stateOf } from "../AppCall.ts"
import { cannotFork, invalidRequest } from "../AppErrors.ts"
import { conversationResult } from "../ConversationResult.ts"
import { rolloutPathOf } from "../StoredPaths.ts"

/** Where the copy ends. */
const ruleOf = (params: Params<typeof ForkConversation>) => {
  const { beforeMessage, dropLastMessages } = present(params)
  if (beforeMessage === undefined) {
    return Effect.succeed({ _tag: "DropLastUserMessages" as const, n: dropLastMessages ?? 0 })
  }
  return dropLastMessages === undefined
    ? Effect.succeed({ _tag: "BeforeUserMessage" as const, nth: beforeMessage })
    : Effect.fail(
        invalidRequest("params: `dropLastMessages` and `beforeMessage` exclude each other"),
      )
}

/** Handler of the method. */
export const forkConversation: AppHandler<typeof ForkConversation> = Effect.fnUntraced(function* (
  params,
  { connection },
) {
  const rule = yield* ruleOf(params)
  const { id } = yield* find(params.conversationId)
  const manager = yield* ConversationsView
  const fork = yield* Effect.mapError(manager.fork(id, rule), (error) => cannotFork(id, error))
  const [{ seq, settings }, path] = yield* Effect.all([stateOf(fork), rolloutPathOf(fork.id)]).pipe(
    removeOnFailure(fork.id),
  )
  connection.cursor.start(fork.id, seq)
  return { ...conversationResult(fork, settings), ...path }
})
