/** `parent_message_id`: where a message goes that follows an earlier one than the last. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationsView } from "../../ConversationsView.ts"
import * as Effect from "effect/Effect"
import { Refused } from "./Results.ts"
import { eventsUntil, isUserMessage } from "./Snapshot.ts"

const refuse = (problem: string) => new Refused({ message: `parent_message_id: ${problem}` })

/** The conversation itself where nothing came after the parent, else a fork that ends with the parent's turn. */
export const branch = Effect.fnUntraced(function* (
  conversation: Conversation,
  parent: string,
): Effect.fn.Return<Conversation, Refused, ConversationsView> {
  const manager = yield* ConversationsView
  const events = yield* eventsUntil(conversation)
  const { turn, waiting } = yield* Effect.mapError(
    conversation.state,
    ({ message }) => new Refused({ message }),
  )
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
  return yield* manager.fork(conversation.id, { _tag: "BeforeUserMessage", nth: last + 1 }).pipe(
    // What came after it belongs to the turn that runs, which is left out anyway.
    Effect.catchTag("BadForkRule", () =>
      manager.fork(conversation.id, { _tag: "DropLastUserMessages", n: 0 }),
    ),
    Effect.mapError(({ message }) => refuse(message)),
  )
})
