/**
 * `review/start`: starts a turn that reviews changes, after a running one. Subscribes the caller if it is not. The turn can
 * be interrupted from the response on; the message in the response is the one that the turn begins with.
 */
import { reviewOp } from "@colloquy/core/review/ReviewTarget"
import type { Params } from "@colloquy/protocol/Method"
import type { ReviewStart } from "@colloquy/protocol/thread/Turns"
import * as Effect from "effect/Effect"
import { invalid } from "../../app/AppErrors.ts"
import { subscriptionId } from "../../app/subscriptions/SubscriptionId.ts"
import { reviewedMessage } from "../items/CoreItems.ts"
import { find, follow, type ThreadHandler } from "../ThreadCall.ts"
import { cannotSubmit } from "../ThreadErrors.ts"
import { runningTurn } from "../ThreadFold.ts"

/** The member of the target that says what is reviewed, if it is empty. */
const emptyMember = (target: Params<typeof ReviewStart>["target"]): string | undefined => {
  if (target.type === "uncommittedChanges") return undefined
  const [name, text] =
    target.type === "baseBranch"
      ? ["branch", target.branch]
      : target.type === "commit"
        ? ["sha", target.sha]
        : ["instructions", target.instructions]
  return text.trim() === "" ? name : undefined
}

/** Handler of the method. */
export const reviewStart: ThreadHandler<typeof ReviewStart> = Effect.fnUntraced(
  function* (params, call) {
    const conversation = yield* find(params.threadId)
    const { id: threadId } = conversation
    const empty = emptyMember(params.target)
    if (empty !== undefined) return yield* invalid(`${empty} must not be empty`)
    call.hold(threadId)
    yield* follow(conversation, call)
    const op = reviewOp(params.target)
    const { id } = yield* Effect.mapError(
      conversation.submit(op, { id: yield* subscriptionId, whileRunning: "wait" }),
      (error) => cannotSubmit(threadId, error),
    )
    const items = [reviewedMessage(id, op.review_request.user_facing_hint)]
    return { turn: { ...runningTurn(id, null), items }, reviewThreadId: threadId }
  },
)
