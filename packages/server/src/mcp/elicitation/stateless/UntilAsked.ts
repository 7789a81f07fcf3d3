/**
 * Ends a stateless call that watches a conversation or waits for it as soon as the conversation asks something: the result
 * carries the questions, and the next call brings the answers. Leaves questions of turns that other calls run to those.
 */
import type { Conversation } from "@colloquy/core/Conversation"
import type { AttachError } from "@colloquy/core/ConversationErrors"
import type { ListenerEnd } from "@colloquy/core/listeners/Listener"
import { dispatch, takeSoon } from "@colloquy/core/listeners/Listening"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ConnectionState } from "../../ConnectionState.ts"
import { Refused, refusedBy } from "../../conversation/Results.ts"
import type { InputRequired, RequestContext } from "../../RequestContext.ts"

/** Never resolves. Fails with `InputRequired` once there are questions; never for a client that cannot answer any. */
const untilAsked = Effect.fnUntraced(function* (
  conversation: Conversation,
  context: RequestContext,
  connection: ConnectionState,
): Effect.fn.Return<never, InputRequired | AttachError | ListenerEnd, Scope.Scope> {
  const elicitations = connection.elicitations(context)
  if (elicitations === undefined) return yield* Effect.never
  const { peer, requestId } = context
  const listener = yield* conversation.attach({ answers: true })
  const questions = yield* elicitations.of({ conversation, requestId, peer })
  while (true) {
    const due = questions.inResult?.isDue() === true
    const deliveries = yield* due ? takeSoon(listener) : listener.take
    // Such a call forwards no events, so the next one has none to continue from.
    if (deliveries.length === 0 && questions.inResult !== undefined) {
      return yield* questions.inResult.end(0)
    }
    yield* dispatch(deliveries, {
      ask: (event) => questions.put(event),
      event: ({ msg }) =>
        msg.type === "approval_resolved" ? questions.withdraw(msg.call_id) : undefined,
    })
  }
})

/** Resolves as `work` does, unless the conversation asks something first: then it fails with `InputRequired`. */
export const unlessAsked = <A, E, R>(
  conversation: Conversation,
  context: RequestContext,
  connection: ConnectionState,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | InputRequired | Refused, R> =>
  Effect.raceFirst(
    work,
    Effect.scoped(untilAsked(conversation, context, connection)).pipe(
      // The conversation has ended: `work` finds that out as well, and its result says so.
      Effect.catchTag("Done", () => Effect.never),
      Effect.catchTags({
        ConversationUnavailable: (error) => refusedBy(error),
        EventsFromFuture: (error) => refusedBy(error),
        TooManyListeners: (error) => refusedBy(error),
      }),
    ),
  )
