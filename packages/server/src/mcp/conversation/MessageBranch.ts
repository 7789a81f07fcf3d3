/** The argument `parent_message_id`: where a message goes that follows another one than the last. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationsView } from "../../ConversationsView.ts"
import * as Effect from "effect/Effect"
import { eventsOf } from "./ConversationEvents.ts"
import { stateOf } from "./ConversationStatus.ts"
import { isUserMessage } from "./ConversationTitle.ts"
import { Refused } from "./Results.ts"

const refuse = (problem: string) => new Refused({ message: `parent_message_id: ${problem}` })

/** Resolves with the conversation itself if nothing follows the parent, else with a fork that ends with the parent's turn. */
export const branchAt = Effect.fn("MessageBranch.branchAt")(function* (
  conversation: Conversation,
  parent: string,
): Effect.fn.Return<Conversation, Refused, ConversationsView> {
  const conversations = yield* ConversationsView
  const events = yield* eventsOf(conversation)
  const { turn, waiting } = yield* stateOf(conversation)
  if (waiting.at(-1)?.id === parent) return conversation
  const messages = events.filter(isUserMessage)
  const last = messages.findLastIndex(({ id }) => id === parent)
  if (waiting.some(({ id }) => id === parent)) {
    return yield* refuse(`the turn of \`${parent}\` has not begun, and others wait behind it`)
  }
  if (last === -1) return yield* refuse(`no message has the id \`${parent}\``)
  if (last === messages.length - 1 && waiting.length === 0) return conversation
  if (turn?.id === parent) {
    return yield* refuse(`the turn of \`${parent}\` still runs, and others wait behind it`)
  }
  return yield* conversations
    .fork(conversation.id, { _tag: "BeforeUserMessage", nth: last + 1 })
    .pipe(
      // Only the running turn follows the parent, and a fork leaves that out anyway.
      Effect.catchTag("BadForkRule", () =>
        conversations.fork(conversation.id, { _tag: "DropLastUserMessages", n: 0 }),
      ),
      Effect.mapError(({ message }) => refuse(message)),
    )
})
