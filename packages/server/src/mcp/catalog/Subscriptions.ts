/**
 * What one connection of the revisions with `initialize` is told unasked: that a list it has read is another now, and
 * that a resource it subscribes to has changed. Bounded; ends with the connection.
 */
import { ErrorCode, JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import {
  PromptsListChanged,
  ResourcesListChanged,
  ResourceUpdated,
  ToolsListChanged,
} from "@colloquy/protocol/mcp/Resources"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Catalog } from "../../features/Catalog.ts"
import { toClientError } from "../../features/Outcome.ts"
import type { ListName, Notice } from "../../features/Notices.ts"
import { ResourceNotFound } from "../../features/Resource.ts"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import { resourceNotFound } from "../methods/ResourcesRead.ts"

export interface Subscriptions {
  /** From now on the client is told when that list changes: what it never read it does not know to be another. */
  readonly watchList: (list: ListName, context: RequestContext) => Effect.Effect<void>
  readonly subscribe: (
    uri: string,
    context: RequestContext,
  ) => Effect.Effect<void, JsonRpcError | InputRequired>
  /** Nothing happens when it is not subscribed to. */
  readonly unsubscribe: (uri: string) => Effect.Effect<void>
}

/** Of one connection. */
const maxSubscriptions = 1024

const tooMany = () =>
  new JsonRpcError({
    code: ErrorCode.serverError,
    message: `more than ${maxSubscriptions} subscriptions on one connection`,
  })

const changed = {
  tools: ToolsListChanged,
  prompts: PromptsListChanged,
  resources: ResourcesListChanged,
}

const tell = (peer: PeerControl, notice: Notice): Effect.Effect<void, ConnectionClosed> =>
  notice._tag === "ListChanged"
    ? peer.notify(changed[notice.list], [{}])
    : peer.notify(ResourceUpdated, [{ uri: notice.uri }])

/** Of the connection whose scope is at hand. */
export const make = (catalog: Catalog): Effect.Effect<Subscriptions, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    const read = new Set<ListName>()
    const subscribed = new Map<string, Scope.Closeable>()
    let telling = false

    /** Begins with the first that there may be to tell. */
    const begin = ({ peer }: RequestContext) =>
      Effect.suspend(() => {
        if (telling) return Effect.void
        telling = true
        return Effect.gen(function* () {
          const interest = {
            list: (list: ListName) => read.has(list),
            uri: (uri: string) => subscribed.has(uri),
          }
          const { take } = yield* catalog.notices.listen(interest)
          const once = Effect.flatMap(take, (notices) =>
            Effect.forEach(notices, (notice) => tell(peer, notice), { discard: true }),
          )
          yield* Effect.forever(once).pipe(
            // Nobody reads any more: the connection finds out by itself.
            Effect.catch(({ reason }) => Effect.logDebug(`nobody is told: ${reason}`)),
            Effect.forkScoped({ startImmediately: true }),
          )
        }).pipe(Scope.provide(scope))
      })

    const subscribe: Subscriptions["subscribe"] = (uri, context) =>
      Effect.uninterruptible(
        Effect.gen(function* () {
          if (subscribed.has(uri)) return
          if (subscribed.size >= maxSubscriptions) return yield* tooMany()
          const mine = yield* Scope.fork(scope)
          subscribed.set(uri, mine)
          yield* catalog.watch(uri, context.principal).pipe(
            Scope.provide(mine),
            Effect.onError(() => unsubscribe(uri)),
            Effect.catch((failure): Effect.Effect<never, JsonRpcError | InputRequired> =>
              failure instanceof ResourceNotFound
                ? Effect.fail(resourceNotFound(uri, context))
                : toClientError(`subscription to ${uri}`)(failure),
            ),
          )
          yield* begin(context)
        }),
      )

    const unsubscribe: Subscriptions["unsubscribe"] = (uri) =>
      Effect.suspend(() => {
        const mine = subscribed.get(uri)
        subscribed.delete(uri)
        return mine === undefined ? Effect.void : Scope.close(mine, Exit.void)
      })

    return {
      watchList: (list, context) =>
        Effect.suspend(() => {
          if (context.era !== "handshake" || read.has(list)) return Effect.void
          read.add(list)
          return begin(context)
        }),
      subscribe,
      unsubscribe,
    }
  })
