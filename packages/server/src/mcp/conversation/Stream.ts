/** `conversationStream`: watches a conversation, and puts its questions to the client. */
import type { ConversationsView } from "../../ConversationsView.ts"
import { eventsExtension } from "@colloquy/protocol/mcp/CodexMcp"
import type { ConversationStream } from "@colloquy/protocol/mcp/ConversationTools"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { InputRequired } from "../RequestContext.ts"
import { bringAll } from "../elicitation/stateless/AskedConversation.ts"
import { type Call, find } from "./Call.ts"
import { raceQuestions } from "./RaceQuestions.ts"
import { Refused, type Value } from "./Results.ts"

const unheard = Effect.suspend(
  () => new Refused({ message: `A stream needs a client that declares ${eventsExtension}` }),
)

export const stream = Effect.fnUntraced(function* (
  args: (typeof ConversationStream)["arguments"]["Type"],
  call: Call,
): Effect.fn.Return<Value, Refused | InputRequired | JsonRpcError, ConversationsView> {
  const conversation = yield* find(args.conversation_id)
  const { connection, requestId } = call
  const run = connection.streams.run({ conversation, caller: call, connection })
  if (call.stateless === true) {
    if (call.events === "off") return yield* unheard
    yield* bringAll(conversation, call)
    return yield* raceQuestions(conversation, call, Effect.as(run, {}))
  }
  if (args.hold === true) {
    yield* run
    return {}
  }
  const begin = Effect.map(
    Effect.forkIn(run, connection.scope, { startImmediately: true }),
    (fiber) =>
      connection.onCancel(
        requestId,
        Effect.sync(() => fiber.interruptUnsafe()),
      ),
  )
  call.afterAnswer(begin)
  return {}
})
