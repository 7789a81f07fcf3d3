/** The call object and the services of an app-server handler, and the functions that find a conversation for it. */
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

/** One request, with the connection that it arrived on. */
export interface AppCall extends Omit<RequestCaller, "separate"> {
  readonly connection: AppConnection
}

/** The services that handlers may use. */
export type AppServices = ConversationsView | SettingsResolver | Auth | HostPort | UserConfig

/** Handler of one method. It gets decoded params, calls the core once, and fails with the error that is sent. */
export type AppHandler<M extends Rpc.Any> = (
  params: Params<M>,
  call: AppCall,
) => Effect.Effect<ResultOf<M>, JsonRpcError, AppServices>

/** Finds a conversation by its id, in any spelling of a UUID, and loads it if necessary. */
export const find = Effect.fnUntraced(function* (
  given: string,
): Effect.fn.Return<Conversation, JsonRpcError, ConversationsView> {
  const manager = yield* ConversationsView
  const parsed = parseConversationId(given)
  if ("problem" in parsed) return yield* invalidRequest(`params.conversationId: ${parsed.problem}`)
  return yield* Effect.mapError(manager.get(parsed.id), (error) => cannotGet(parsed.id, error))
})

/** The current state of a conversation. */
export const stateOf = (conversation: Conversation): Effect.Effect<State, JsonRpcError> =>
  Effect.mapError(conversation.state, unavailable)
