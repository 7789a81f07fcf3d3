/** `conversationCreate`, `conversationFork`, `conversationRemove`: how conversations come and go. */
import { ConversationsView } from "../../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type {
  ConversationCreate,
  ConversationFork,
  ConversationRemove,
} from "@colloquy/protocol/mcp/ConversationTools"
import * as Effect from "effect/Effect"
import { type Call, find } from "./Call.ts"
import { resolve } from "./Overrides.ts"
import { notFound, notStarted, Refused, type Value } from "./Results.ts"

/** Starts no turn (§2.2). */
export const create = Effect.fnUntraced(function* (
  args: (typeof ConversationCreate)["arguments"]["Type"],
  { connection, latest, requestId }: Call,
): Effect.fn.Return<Value, Refused, ConversationsView | SettingsResolver> {
  const manager = yield* ConversationsView
  const { prompt: _, ...overrides } = args
  const settings = yield* resolve(overrides, { requiresProvider: true })
  const conversation = yield* Effect.mapError(manager.create(settings), ({ message }) =>
    notStarted(message),
  )
  connection.made(conversation.id, requestId)
  if (latest !== undefined) latest.id = conversation.id
  return { conversation_id: conversation.id, model: settings.model }
})

type ForkRule = Parameters<ConversationsView["Service"]["fork"]>[1]

type ForkArgs = (typeof ConversationFork)["arguments"]["Type"]

const ruleOf = ({ before_message: nth, drop_last_messages: n }: ForkArgs): ForkRule | Refused => {
  if (nth !== undefined && n !== undefined) {
    return new Refused({
      message: "expected `drop_last_messages` or `before_message`, not both",
    })
  }
  return nth === undefined
    ? { _tag: "DropLastUserMessages", n: n ?? 0 }
    : { _tag: "BeforeUserMessage", nth }
}

export const fork = Effect.fnUntraced(function* (
  args: ForkArgs,
  { connection, latest, requestId }: Call,
): Effect.fn.Return<Value, Refused, ConversationsView> {
  const manager = yield* ConversationsView
  const rule = ruleOf(args)
  if (rule._tag === "Refused") return yield* rule
  const { id } = yield* find(args.conversation_id)
  const made = yield* Effect.mapError(
    manager.fork(id, rule),
    ({ message }) => new Refused({ message }),
  )
  connection.made(made.id, requestId)
  if (latest !== undefined) latest.id = made.id
  const { settings } = yield* Effect.mapError(made.state, ({ message }) => new Refused({ message }))
  return { conversation_id: made.id, model: settings.model }
})

export const remove = Effect.fnUntraced(function* (
  args: (typeof ConversationRemove)["arguments"]["Type"],
): Effect.fn.Return<Value, Refused, ConversationsView> {
  const manager = yield* ConversationsView
  const { id } = yield* find(args.conversation_id)
  yield* Effect.mapError(manager.remove(id), (error) =>
    error._tag === "NoSuchConversation" ? notFound(id) : new Refused({ message: error.message }),
  )
  return { conversation_id: id }
})
