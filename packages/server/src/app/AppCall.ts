/** What a handler of this dialect gets with its params, and what it may use. */
import type { Conversation } from "@colloquy/core/Conversation"
import { ConversationsView } from "../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { State } from "@colloquy/core/decider/State"
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { RequestCaller } from "../jsonrpc/Caller.ts"
import type { AppConnection } from "./AppConnection.ts"
import { cannotGet, invalidRequest, unavailable } from "./AppErrors.ts"
import type { Auth } from "./ports/AuthPort.ts"
import type { HostPort } from "./ports/HostPort.ts"
import type { UserConfig } from "./ports/UserConfigPort.ts"

export interface AppCall extends Omit<RequestCaller, "separate"> {
  readonly connection: AppConnection
}

export type AppServices = ConversationsView | SettingsResolver | Auth | HostPort | UserConfig

export type AppHandler<M extends Rpc.Any> = (
  params: Params<M>,
  call: AppCall,
) => Effect.Effect<ResultOf<M>, JsonRpcError, AppServices>

/** Any spelling of the id. */
export const find = Effect.fnUntraced(function* (
  given: string,
): Effect.fn.Return<Conversation, JsonRpcError, ConversationsView> {
  const manager = yield* ConversationsView
  const parsed = parseConversationId(given)
  if ("problem" in parsed) return yield* invalidRequest(`params.conversationId: ${parsed.problem}`)
  return yield* Effect.mapError(manager.get(parsed.id), (error) => cannotGet(parsed.id, error))
})

export const stateOf = (conversation: Conversation): Effect.Effect<State, JsonRpcError> =>
  Effect.mapError(conversation.state, unavailable)
