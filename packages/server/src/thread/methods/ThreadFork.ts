/** `thread/fork`: a new thread with the turns of another one, which goes on unchanged. */
import type { ForkRule } from "@colloquy/core/ForkRule"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import type { ThreadFork } from "@colloquy/protocol/thread/Threads"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { ConversationsView } from "../../ConversationsView.ts"
import { removeOnFailure } from "../../RemoveOnFailure.ts"
import { created } from "../CreatedThread.ts"
import { overrideThread } from "../OverrideThread.ts"
import { findAt, type ThreadHandler } from "../ThreadCall.ts"
import { cannotFork } from "../ThreadErrors.ts"

/** Where the copy ends. */
const ruleOf = ({
  beforeTurnId,
  lastTurnId,
}: Params<typeof ThreadFork>): Effect.Effect<ForkRule, JsonRpcError> => {
  if (beforeTurnId != null && lastTurnId != null) {
    return Effect.fail(invalid("`beforeTurnId` cannot be combined with `lastTurnId`"))
  }
  if (beforeTurnId != null) {
    return Effect.succeed({ _tag: "BeforeSubmission", id: beforeTurnId })
  }
  return Effect.succeed(
    lastTurnId == null
      ? { _tag: "DropLastUserMessages", n: 0 }
      : { _tag: "ThroughSubmission", id: lastTurnId },
  )
}

/** Handler of the method. */
export const threadFork: ThreadHandler<typeof ThreadFork> = Effect.fnUntraced(
  function* (params, call) {
    const rule = yield* ruleOf(params)
    const { id } = yield* findAt(params)
    const conversations = yield* ConversationsView
    const ephemeral = params.ephemeral == null ? {} : { ephemeral: params.ephemeral }
    const named = params.beforeTurnId ?? params.lastTurnId ?? ""
    const fork = yield* Effect.mapError(conversations.fork(id, rule, ephemeral), (error) =>
      cannotFork(id, named, error),
    )
    return yield* Effect.andThen(
      overrideThread(fork, params),
      created(fork, call, { withTurns: params.excludeTurns !== true }),
    ).pipe(removeOnFailure(fork.id))
  },
)
