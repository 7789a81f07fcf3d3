/** The call object of a handler of this dialect, and the functions that find and describe a thread for it. */
import type { Conversation } from "@colloquy/core/Conversation"
import type { State } from "@colloquy/core/decider/State"
import { type ConversationId, parseConversationId } from "@colloquy/protocol/Ids"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import type { Thread, Turn } from "@colloquy/protocol/thread/Thread"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { AppServices } from "../app/AppCall.ts"
import { invalid } from "../app/AppErrors.ts"
import { pathFaultOf, pathFaultText } from "../app/StoredPaths.ts"
import { ConversationsView } from "../ConversationsView.ts"
import type { RequestCaller } from "../jsonrpc/Caller.ts"
import type { ThreadConnection } from "./ThreadConnection.ts"
import * as Errors from "./ThreadErrors.ts"
import { readHistory, type ThreadHistory } from "./ThreadHistory.ts"
import { threadOf } from "./ThreadObjects.ts"

/** One request, with the connection that it arrived on. */
export interface ThreadCall extends Omit<RequestCaller, "separate"> {
  readonly connection: ThreadConnection
}

/** Handler of one method. It gets decoded params and fails with the error that is sent. */
export type ThreadHandler<M extends Rpc.Any> = (
  params: Params<M>,
  call: ThreadCall,
) => Effect.Effect<ResultOf<M>, JsonRpcError, AppServices>

/** The id, in the spelling of this program. */
export const threadId = (
  given: string,
  badId: typeof Errors.badThreadId = Errors.badThreadId,
): Effect.Effect<ConversationId, JsonRpcError> => {
  const parsed = parseConversationId(given)
  return "problem" in parsed ? Effect.fail(badId(parsed.problem)) : Effect.succeed(parsed.id)
}

/** Finds a thread and loads it if necessary; `missing` is the error for one that does not exist. */
export const find = Effect.fnUntraced(function* (
  given: string,
  missing: (id: string) => JsonRpcError = Errors.threadNotFound,
  badId: typeof Errors.badThreadId = Errors.badThreadId,
): Effect.fn.Return<Conversation, JsonRpcError, ConversationsView> {
  const id = yield* threadId(given, badId)
  const conversations = yield* ConversationsView
  return yield* Effect.mapError(conversations.get(id), (error) =>
    Errors.cannotGet(id, error, missing),
  )
})

/** Finds the thread whose rollout file is at `path`, archived or not; without one, the thread of this id. */
export const findAt = Effect.fnUntraced(function* (
  {
    path,
    threadId: given,
  }: {
    readonly path?: string | null
    readonly threadId: string
  },
  badId?: typeof Errors.badThreadId,
): Effect.fn.Return<Conversation, JsonRpcError, ConversationsView> {
  if (path == null) return yield* find(given, Errors.noRollout, badId)
  const conversations = yield* ConversationsView
  return yield* Effect.mapError(conversations.open(path), (error) => {
    const fault = pathFaultOf("path", path, error)
    return fault === undefined
      ? Errors.cannotGet(given, error, Errors.noRollout)
      : invalid(pathFaultText(fault), { issues: [fault] })
  })
})

/** The current state of a thread. */
export const stateOf = (conversation: Conversation): Effect.Effect<State, JsonRpcError> =>
  Effect.mapError(conversation.state, Errors.unavailable)

/** Reads the log of a thread, once for all who ask for it at the same time. Loads nothing. */
export const historyOf = Effect.fnUntraced(function* (
  id: ConversationId,
  { connection }: Pick<ThreadCall, "connection">,
  missing: (id: string) => JsonRpcError = Errors.threadNotLoaded,
): Effect.fn.Return<ThreadHistory, JsonRpcError, ConversationsView> {
  const conversations = yield* ConversationsView
  const { registry } = connection
  const reading = Effect.map(conversations.history(id), readHistory)
  return yield* Effect.mapError(registry.reads.read(id, reading), (error) =>
    error._tag === "NoSuchConversation" ? missing(id) : Errors.storeFailed(error),
  )
})

/** Subscribes the caller to a thread that it uses, if it is not subscribed; it gets the beginnings of what runs. */
export const follow = Effect.fnUntraced(function* (
  conversation: Conversation,
  call: ThreadCall,
): Effect.fn.Return<void, JsonRpcError, ConversationsView> {
  const { connection } = call
  const { id } = conversation
  if (connection.isSubscribed(id)) return
  connection.registry.loaded(id)
  const history = yield* historyOf(id, call)
  const subscribing = connection.subscribe({ conversation, hasTurn: false, history }, call)
  yield* Effect.mapError(subscribing, Errors.cannotAttach)
})

/** What a thread is described with besides what the store knows. */
export interface Described {
  readonly history: ThreadHistory
  /** Default: none. */
  readonly turns?: ReadonlyArray<Turn>
  /** The thread that the caller has started or resumed. Default: what is in memory, if anything. */
  readonly state?: State
}

/** The state of a thread that was started or resumed here. Loads nothing. */
const loadedState = (
  id: ConversationId,
  { connection }: Pick<ThreadCall, "connection">,
): Effect.Effect<State | undefined, never, ConversationsView> =>
  connection.registry.isLoaded(id)
    ? Effect.flatMap(ConversationsView, (conversations) =>
        Effect.orElseSucceed(conversations.stateOf(id), () => undefined),
      )
    : Effect.undefined

/** The object that describes a thread. */
export const describe = Effect.fnUntraced(function* (
  id: ConversationId,
  { history, state: given, turns = [] }: Described,
  call: Pick<ThreadCall, "connection">,
): Effect.fn.Return<Thread, JsonRpcError, ConversationsView> {
  const conversations = yield* ConversationsView
  const summary = yield* Effect.mapError(conversations.metadata({ id }), (error) =>
    error._tag === "NoSuchConversation" ? Errors.threadNotLoaded(id) : Errors.storeFailed(error),
  )
  const isLoaded = call.connection.registry.isLoaded(id)
  const state = given ?? (yield* loadedState(id, call))
  return threadOf(summary, {
    ...(state === undefined ? {} : { settings: state.settings }),
    status: isLoaded ? history.fold.status : { type: "notLoaded" },
    ephemeral: summary.meta.ephemeral === true,
    turns,
    acceptsInput: state !== undefined,
  })
})
