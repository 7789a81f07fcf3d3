/** The tool `conversationStream`: sends the events of a conversation to the client, and its questions. */
import type { ConversationsView } from "../../ConversationsView.ts"
import { eventsExtension } from "@colloquy/protocol/mcp/Extensions"
import type { ConversationStream } from "@colloquy/protocol/mcp/ConversationTools"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import { submitReturned } from "../elicitation/stateless/ReturnedAnswers.ts"
import { unlessAsked } from "../elicitation/stateless/UntilAsked.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { findConversation } from "./FindConversation.ts"
import { type Refusal, Refused, type Value } from "./Results.ts"

/**
 * Resolves at once, and the stream starts after the response, until it is cancelled by the id of the call. With `hold`, and
 * in the stateless era, resolves when the stream ends, because nothing may follow the response there.
 */
export const conversationStream = Effect.fn("ConversationStream.conversationStream")(function* (
  args: (typeof ConversationStream)["arguments"]["Type"],
  context: RequestContext,
  connection: ConnectionState,
): Effect.fn.Return<Value, Refusal | InputRequired | JsonRpcError, ConversationsView> {
  const conversation = yield* findConversation(args.conversation_id)
  const questions = connection.questions(conversation, context)
  const run = connection.streams.run({ conversation, context, connection, questions })
  if (context.era === "stateless") {
    if (connection.events(context) === "off") {
      return yield* new Refused({
        message: `A stream needs a client that declares ${eventsExtension}`,
      })
    }
    yield* submitReturned(conversation, context)
    return yield* unlessAsked(conversation, context, connection, Effect.as(run, {}))
  }
  if (args.hold === true) {
    yield* run
    return {}
  }
  const start = Effect.map(
    Effect.forkIn(run, connection.scope, { startImmediately: true }),
    (fiber) =>
      connection.answered.onCancel(
        context.requestId,
        Effect.sync(() => fiber.interruptUnsafe()),
      ),
  )
  context.afterAnswer(start)
  return {}
})
