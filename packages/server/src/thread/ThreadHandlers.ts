/**
 * The handlers of the dialect `app-server` v2, one per method: the only table of it from methods to code. Serves the
 * requests of one connection beside v1. Never depends on the transport. A method that is defined and has no handler here is
 * answered with an error that says so.
 */
import type { JsonRpcError, Request } from "@colloquy/protocol/JsonRpc"
import { codecOf, type Dialect, infoOf, type Method, methodsOf } from "@colloquy/protocol/Method"
import { AppServerV2 } from "@colloquy/protocol/thread/AppServerV2"
import * as Changes from "@colloquy/protocol/thread/ThreadChanges"
import * as Threads from "@colloquy/protocol/thread/Threads"
import * as Turns from "@colloquy/protocol/thread/Turns"
import * as Effect from "effect/Effect"
import type * as Context from "effect/Context"
import type { AppServices } from "../app/AppCall.ts"
import { badParams, notInitialized } from "../app/AppErrors.ts"
import type { RequestCaller } from "../jsonrpc/Caller.ts"
import type { Route } from "../jsonrpc/Route.ts"
import { getConversationSummary } from "./methods/GetConversationSummary.ts"
import { reviewStart } from "./methods/ReviewStart.ts"
import { threadArchive } from "./methods/ThreadArchive.ts"
import { threadCompactStart } from "./methods/ThreadCompactStart.ts"
import { threadDelete } from "./methods/ThreadDelete.ts"
import { threadFork } from "./methods/ThreadFork.ts"
import { threadItemsList } from "./methods/ThreadItemsList.ts"
import { threadList } from "./methods/ThreadList.ts"
import { threadLoadedList } from "./methods/ThreadLoadedList.ts"
import { threadNameSet } from "./methods/ThreadNameSet.ts"
import { threadQueueAdd } from "./methods/ThreadQueueAdd.ts"
import { threadQueueDelete } from "./methods/ThreadQueueDelete.ts"
import { threadQueueList } from "./methods/ThreadQueueList.ts"
import { threadQueueReorder } from "./methods/ThreadQueueReorder.ts"
import { threadQueueStart } from "./methods/ThreadQueueStart.ts"
import { threadQueueUpdate } from "./methods/ThreadQueueUpdate.ts"
import { threadRead } from "./methods/ThreadRead.ts"
import { threadReadStateUpdate } from "./methods/ThreadReadStateUpdate.ts"
import { threadResume } from "./methods/ThreadResume.ts"
import { threadRevert } from "./methods/ThreadRevert.ts"
import { threadSettingsUpdate } from "./methods/ThreadSettingsUpdate.ts"
import { threadShellCommand } from "./methods/ThreadShellCommand.ts"
import { threadStart } from "./methods/ThreadStart.ts"
import { threadTurnsList } from "./methods/ThreadTurnsList.ts"
import { threadUnarchive } from "./methods/ThreadUnarchive.ts"
import { threadUnsubscribe } from "./methods/ThreadUnsubscribe.ts"
import { turnInterrupt } from "./methods/TurnInterrupt.ts"
import { turnStart } from "./methods/TurnStart.ts"
import { turnSteer } from "./methods/TurnSteer.ts"
import type { ThreadCall, ThreadHandler } from "./ThreadCall.ts"
import type { ThreadConnection } from "./ThreadConnection.ts"
import { experimental, notServed } from "./ThreadErrors.ts"

type ClientMethods = typeof AppServerV2 extends Dialect<infer C, infer _> ? C : never

/** A handler of another method does not compile. */
type HandlerTable = { readonly [M in ClientMethods as M["_tag"]]?: ThreadHandler<M> }

type AnyHandler = (
  params: never,
  call: ThreadCall,
) => Effect.Effect<unknown, JsonRpcError, AppServices>

const handlers: HandlerTable = {
  [Threads.ThreadStart._tag]: threadStart,
  [Threads.ThreadResume._tag]: threadResume,
  [Threads.ThreadFork._tag]: threadFork,
  [Threads.ThreadRead._tag]: threadRead,
  [Threads.ThreadList._tag]: threadList,
  [Threads.ThreadTurnsList._tag]: threadTurnsList,
  [Threads.ThreadItemsList._tag]: threadItemsList,
  [Threads.ThreadLoadedList._tag]: threadLoadedList,
  [Threads.GetConversationSummary._tag]: getConversationSummary,
  [Changes.ThreadNameSet._tag]: threadNameSet,
  [Changes.ThreadRevert._tag]: threadRevert,
  [Changes.ThreadArchive._tag]: threadArchive,
  [Changes.ThreadUnarchive._tag]: threadUnarchive,
  [Changes.ThreadDelete._tag]: threadDelete,
  [Changes.ThreadUnsubscribe._tag]: threadUnsubscribe,
  [Changes.ThreadCompactStart._tag]: threadCompactStart,
  [Changes.ThreadShellCommand._tag]: threadShellCommand,
  [Changes.ThreadReadStateUpdate._tag]: threadReadStateUpdate,
  [Changes.ThreadSettingsUpdate._tag]: threadSettingsUpdate,
  [Changes.ThreadQueueAdd._tag]: threadQueueAdd,
  [Changes.ThreadQueueList._tag]: threadQueueList,
  [Changes.ThreadQueueUpdate._tag]: threadQueueUpdate,
  [Changes.ThreadQueueDelete._tag]: threadQueueDelete,
  [Changes.ThreadQueueReorder._tag]: threadQueueReorder,
  [Changes.ThreadQueueStart._tag]: threadQueueStart,
  [Turns.TurnStart._tag]: turnStart,
  [Turns.TurnSteer._tag]: turnSteer,
  [Turns.TurnInterrupt._tag]: turnInterrupt,
  [Turns.ReviewStart._tag]: reviewStart,
}

/** The same table, for the lookup by the method name of a message. */
const byName: Readonly<Record<string, AnyHandler | undefined>> = handlers

type Members = Readonly<Record<string, unknown>>

const membersOf = (params: unknown): Members =>
  typeof params === "object" && params !== null ? (params as Members) : {}

/** What the request uses that only an experimental client may use; undefined if nothing. */
const experimentalUse = (method: Method, params: unknown): string | undefined => {
  const { experimental: gated } = infoOf(method)
  const members = membersOf(params)
  if (gated === true) return method._tag
  const member = gated?.find((name) => members[name] !== undefined && members[name] !== null)
  if (member !== undefined) return `${method._tag}.${member}`
  return typeof members["approvalPolicy"] === "object" && members["approvalPolicy"] !== null
    ? "askForApproval.granular"
    : undefined
}

/** What the routes of one connection need. */
export interface ThreadRoutesOptions {
  readonly connection: ThreadConnection
  readonly context: Context.Context<AppServices>
  /** Further handlers, for the methods that are bound to no thread. */
  readonly others?: Readonly<Record<string, AnyHandler | undefined>>
}

/** The routes of the requests of one connection; undefined for a method that this dialect does not have. */
export const routesOf = ({
  connection,
  context,
  others = {},
}: ThreadRoutesOptions): ((request: Request) => Route | undefined) => {
  const serve = (method: Method, params: unknown, caller: RequestCaller) => {
    if (!connection.app.initialized()) return Effect.fail(notInitialized())
    const used = connection.isExperimental ? undefined : experimentalUse(method, params)
    if (used !== undefined) return Effect.fail(experimental(used))
    const handler = byName[method._tag] ?? others[method._tag]
    if (handler === undefined) return Effect.fail(notServed(method._tag))
    const { afterAnswer, atEnd, hold, peer, requestId } = caller
    const call: ThreadCall = { afterAnswer, atEnd, connection, hold, peer, requestId }
    return Effect.andThen(
      connection.join,
      Effect.provideContext(handler(params as never, call), context),
    )
  }
  const routes = new Map<string, Route>()
  for (const [name, method] of methodsOf(AppServerV2.clientToServer)) {
    if (infoOf(method).kind !== "request") continue
    routes.set(name, {
      codec: codecOf(method),
      handler: (params, caller) => serve(method, params, caller),
      badParams,
    })
  }
  return ({ method }) => routes.get(method)
}
