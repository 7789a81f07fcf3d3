/** What a handler of a conversation tool gets with its arguments. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationsView } from "../../ConversationsView.ts"
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import type { ToolCaller } from "../codex/TurnCall.ts"
import type { ConnectionState } from "./ConnectionState.ts"
import { badId, cannotGet, type Refused } from "./Results.ts"

export interface Call extends ToolCaller {
  readonly connection: ConnectionState
  /** Runs when the answer of this call has been accepted, before anything else of this call is sent (L2). */
  readonly afterAnswer: (effect: Effect.Effect<void>) => void
}

/** Any spelling of the id; of a conversation of this process, whoever made it. */
export const find = Effect.fnUntraced(function* (
  given: string,
): Effect.fn.Return<Conversation, Refused, ConversationsView> {
  const manager = yield* ConversationsView
  const parsed = parseConversationId(given)
  if ("problem" in parsed) return yield* badId(parsed.problem)
  return yield* Effect.mapError(manager.get(parsed.id), (error) => cannotGet(parsed.id, error))
})
