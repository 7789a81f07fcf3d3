/**
 * `subscriptions/listen` (2026-07-28): notifies a client of the changes that it requested and the server supports, with
 * the id of the request, until the client cancels the request, the connection ends, or its lifetime has passed. The
 * number of subscriptions, their URIs and their time are bounded here, and their pending notifications by `CatalogChanges`
 * (L6).
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import { Cancelled } from "@colloquy/protocol/mcp/CodexMcp"
import {
  PromptsListChanged,
  ResourcesListChanged,
  ResourceUpdated,
  ToolsListChanged,
} from "@colloquy/protocol/mcp/Resources"
import { MetaKey } from "@colloquy/protocol/mcp/Revisions"
import {
  type SubscriptionFilter,
  SubscriptionsAcknowledged,
  type SubscriptionsListen,
} from "@colloquy/protocol/mcp/Subscriptions"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Catalog } from "../../features/Catalog.ts"
import type { ListName, CatalogChange } from "../../features/CatalogChanges.ts"
import type { CoreHandler, Members, RequestContext } from "../RequestContext.ts"
import { isMembers } from "../eras/Capabilities.ts"
import type { Task } from "../../tasks/Task.ts"
import type { Tasks } from "../../tasks/Tasks.ts"
import { tasksOf, notifyChanges } from "../tasks/TaskChanges.ts"
import { tasksCapability } from "../tasks/TaskRequests.ts"

type Method = typeof SubscriptionsListen

/** Largest number of subscriptions of one connection; a client needs one. */
const maxListening = 16

/** Largest number of URIs of one subscription, and of its tasks. */
const maxAddresses = 1024

/** After this time a subscription ends; a client that still needs it sends the request again. */
const lifetime = "24 hours"

const changed = {
  tools: ToolsListChanged,
  prompts: PromptsListChanged,
  resources: ResourcesListChanged,
} as const

const wants = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const satisfies Record<ListName, keyof SubscriptionFilter>

const declares = (capabilities: Members, name: string, part: string): boolean => {
  const declared = capabilities[name]
  return isMembers(declared) && declared[part] === true
}

const refused = (code: number, message: string) => new JsonRpcError({ code, message })

/** Watches the URIs until the scope closes; resolves with those that name a resource. */
const watched = (
  catalog: Pick<Catalog, "watch">,
  uris: ReadonlyArray<string>,
  principal: string,
): Effect.Effect<ReadonlyArray<string>, never, Scope.Scope> =>
  Effect.filter([...new Set(uris)], (uri) =>
    catalog.watch(uri, principal).pipe(
      Effect.as(true),
      // Unknown URIs are left out of the acknowledgement, which shows the client that they are not watched.
      Effect.orElseSucceed(() => false),
    ),
  )

/**
 * The part of the client's filter that the server supports. Never includes anything that the client did not request.
 */
const honoured = Effect.fnUntraced(function* (
  catalog: Pick<Catalog, "watch">,
  filter: SubscriptionFilter,
  capabilities: Members,
  principal: string,
  tasks: ReadonlyArray<Task>,
): Effect.fn.Return<SubscriptionFilter, never, Scope.Scope> {
  const lists = Object.entries(wants).filter(
    ([list, member]) => filter[member] === true && declares(capabilities, list, "listChanged"),
  )
  const uris = filter.resourceSubscriptions
  return {
    ...Object.fromEntries(lists.map(([, member]) => [member, true])),
    ...(uris !== undefined && declares(capabilities, "resources", "subscribe")
      ? { resourceSubscriptions: yield* watched(catalog, uris, principal) }
      : {}),
    ...(filter.taskIds === undefined ? {} : { taskIds: tasks.map(({ id }) => id) }),
  }
})

const send = (
  context: RequestContext,
  change: CatalogChange,
  _meta: Members,
): Effect.Effect<void, ConnectionClosed> =>
  change._tag === "ListChanged"
    ? context.notify(changed[change.list], [{ _meta }])
    : context.notify(ResourceUpdated, [{ uri: change.uri, _meta }])

const listen = Effect.fnUntraced(function* (
  catalog: Pick<Catalog, "watch" | "changes">,
  filter: SubscriptionFilter,
  capabilities: Members,
  context: RequestContext,
  tasks: Tasks["Service"],
): Effect.fn.Return<ResultOf<Method>, ConnectionClosed, Scope.Scope> {
  const _meta = { [MetaKey.subscriptionId]: context.requestId }
  const named = yield* tasksOf(tasks, context, filter.taskIds ?? [])
  const notifications = yield* honoured(catalog, filter, capabilities, context.principal, named)
  const uris = new Set(notifications.resourceSubscriptions)
  // Listens before the acknowledgement, so that changes in between are reported too.
  const { take } = yield* catalog.changes.listen({
    principal: context.principal,
    list: (list) => notifications[wants[list]] === true,
    uri: (uri) => uris.has(uri),
  })
  yield* context.notify(SubscriptionsAcknowledged, [{ notifications, _meta }])
  for (const task of named) {
    yield* notifyChanges(tasks, context, task, _meta).pipe(
      // The connection has closed, which ends this request too.
      Effect.catch(({ reason }) => Effect.logDebug(`subscription to a task ended: ${reason}`)),
      Effect.forkScoped({ startImmediately: true }),
    )
  }
  const once = Effect.flatMap(take, (changes) =>
    Effect.forEach(changes, (change) => send(context, change, _meta), { discard: true }),
  )
  yield* Effect.raceFirst(
    Effect.timeoutOption(Effect.forever(once), lifetime),
    context.peer.ended ?? Effect.never,
  )
  yield* context.notify(Cancelled, [
    { requestId: context.requestId, reason: "the subscription has ended" },
  ])
  return { _meta }
})

/** The handler of `subscriptions/listen` of one connection. */
export const subscriptionsListen = (
  catalog: Pick<Catalog, "watch" | "changes">,
  capabilities: () => Members,
  tasks: Tasks["Service"],
): CoreHandler<Params<Method>, ResultOf<Method>> => {
  let listening = 0
  const start = (notifications: SubscriptionFilter, context: RequestContext) =>
    Effect.suspend(() => {
      if (listening >= maxListening) {
        return refused(
          ErrorCode.serverError,
          `more than ${maxListening} subscriptions on one connection`,
        )
      }
      for (const name of ["resourceSubscriptions", "taskIds"] as const) {
        if ((notifications[name]?.length ?? 0) <= maxAddresses) continue
        return refused(
          ErrorCode.invalidParams,
          `Invalid params: params.notifications.${name}: more than ${maxAddresses}`,
        )
      }
      listening++
      return Effect.scoped(listen(catalog, notifications, capabilities(), context, tasks)).pipe(
        Effect.catch(({ reason }) => refused(ErrorCode.serverError, reason)),
        Effect.ensuring(
          Effect.sync(() => {
            listening--
          }),
        ),
      )
    })
  return ({ notifications }, context) =>
    Effect.andThen(
      notifications.taskIds === undefined ? Effect.void : context.requires(tasksCapability),
      start(notifications, context),
    )
}
