/** The tool `conversationCreate`: a new conversation, without a turn. */
import { ConversationsView } from "../../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { ConversationCreate } from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import type { RequestContext } from "../RequestContext.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import { resolve } from "./Overrides.ts"
import { notStarted, type Refusal, type Value } from "./Results.ts"

/**
 * Resolves with the id of the new conversation, which becomes the latest of the connection. The argument `prompt` is
 * ignored: the client sends it with `conversationSendMessage`.
 */
export const conversationCreate = Effect.fn("ConversationCreate.conversationCreate")(function* (
  args: (typeof ConversationCreate)["arguments"]["Type"],
  context: RequestContext,
  connection: ConnectionState,
): Effect.fn.Return<Value, Refusal, ConversationsView | SettingsResolver> {
  const conversations = yield* ConversationsView
  const { prompt: _, ...overrides } = args
  const settings = yield* resolve(overrides, { requiresProvider: true })
  const conversation = yield* Effect.mapError(conversations.create(settings), ({ message }) =>
    notStarted(message),
  )
  connection.created(conversation.id, context.requestId)
  connection.setLatest(context, conversation.id)
  return { conversation_id: conversation.id, model: settings.model }
})
