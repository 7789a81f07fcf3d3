/** `conversationStream`: watches a conversation, and puts its questions to the client. */
import { ConversationManager } from "@colloquy/core/ConversationManager"
import type { ConversationStream } from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import { type Call, find } from "./Call.ts"
import type { Refused, Value } from "./Results.ts"
import { streamsOf } from "./Streams.ts"

export const stream = Effect.fnUntraced(function* (
  args: (typeof ConversationStream)["arguments"]["Type"],
  call: Call,
): Effect.fn.Return<Value, Refused, ConversationManager> {
  const streams = streamsOf(yield* ConversationManager)
  const conversation = yield* find(args.conversation_id)
  const { connection, requestId } = call
  const run = streams.run({ conversation, caller: call, connection })
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
