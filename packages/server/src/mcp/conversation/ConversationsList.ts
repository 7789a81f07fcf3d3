/** The tool `conversationsList`: pages of conversations with their titles. Loads none: the store's index is enough. */
import { ConversationsView } from "../../ConversationsView.ts"
import type { ConversationsList } from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import { titleOf } from "./ConversationTitle.ts"
import { type Refused, refusedBy, type Value } from "./Results.ts"

/** Conversations per page unless the call says otherwise, and at most. */
const defaultLimit = 25
const maxLimit = 100

/** Resolves with one page, and the cursor of the next one if there is more. */
export const conversationsList = Effect.fn("ConversationsList.conversationsList")(function* (
  args: (typeof ConversationsList)["arguments"]["Type"],
): Effect.fn.Return<Value, Refused, ConversationsView> {
  const conversations = yield* ConversationsView
  const { cursor, limit = defaultLimit } = args
  const page = yield* Effect.mapError(
    conversations.list({
      limit: Math.min(limit, maxLimit),
      ...(cursor === undefined ? {} : { cursor }),
    }),
    refusedBy,
  )
  return {
    conversations: page.items.map(({ id, name, preview = "" }) => ({
      conversation_id: id,
      title: titleOf(name ?? preview),
    })),
    ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }),
  }
})
