/**
 * What one connection of the revisions with `initialize` is notified of without a pending request: lists that it has
 * read, and resources that it subscribes to, when they change. Bounded; ends with the connection.
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
import type { ListName, CatalogChange } from "../../features/CatalogChanges.ts"
import { ResourceNotFound } from "../../features/Resource.ts"
import type { PeerControl } from "../../jsonrpc/Caller.ts"
import type { InputRequired, RequestContext } from "../RequestContext.ts"
import { resourceNotFound } from "../methods/ResourcesRead.ts"

/** Most subscribed resources of one connection. */
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

const send = (peer: PeerControl, change: CatalogChange): Effect.Effect<void, ConnectionClosed> =>
  change._tag === "ListChanged"
    ? peer.notify(changed[change.list], [{}])
    : peer.notify(ResourceUpdated, [{ uri: change.uri }])

/** The lists and resources of which one connection is notified. */
export class Subscriptions {
  private readonly read = new Set<ListName>()
  /** By URI, the scope of its watch. */
  private readonly subscribed = new Map<string, Scope.Closeable>()
  private readonly catalog: Catalog
  /** Of the connection. */
  private readonly scope: Scope.Scope
  private isListening = false

  private constructor(catalog: Catalog, scope: Scope.Scope) {
    this.catalog = catalog
    this.scope = scope
  }

  /** The subscriptions of the connection whose scope this is; they end when it closes. */
  static readonly make = (catalog: Catalog): Effect.Effect<Subscriptions, never, Scope.Scope> =>
    Effect.map(Effect.scope, (scope) => new Subscriptions(catalog, scope))

  /**
   * From now on the client is notified when that list changes. A client that has not read a list needs no notification.
   * Does nothing in the stateless era, which has `subscriptions/listen`.
   */
  watchList(list: ListName, context: RequestContext): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (context.era !== "handshake" || this.read.has(list)) return Effect.void
      this.read.add(list)
      return this.listen(context)
    })
  }

  /** From now on the client is notified when the resource changes. A second subscription changes nothing. */
  subscribe(
    uri: string,
    context: RequestContext,
  ): Effect.Effect<void, JsonRpcError | InputRequired> {
    return Effect.uninterruptible(
      Effect.gen({ self: this }, function* () {
        if (this.subscribed.has(uri)) return
        if (this.subscribed.size >= maxSubscriptions) return yield* tooMany()
        const watch = yield* Scope.fork(this.scope)
        this.subscribed.set(uri, watch)
        yield* this.catalog.watch(uri, context.principal).pipe(
          Scope.provide(watch),
          Effect.onError(() => this.unsubscribe(uri)),
          Effect.catch((failure): Effect.Effect<never, JsonRpcError | InputRequired> =>
            failure instanceof ResourceNotFound
              ? Effect.fail(resourceNotFound(uri, context))
              : toClientError(`subscription to ${uri}`)(failure),
          ),
        )
        yield* this.listen(context)
      }),
    )
  }

  /** Ends the notifications of the resource; does nothing without a subscription. */
  unsubscribe(uri: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const watch = this.subscribed.get(uri)
      this.subscribed.delete(uri)
      return watch === undefined ? Effect.void : Scope.close(watch, Exit.void)
    })
  }

  /** Starts the fiber that sends notifications, unless it runs already. */
  private listen({ peer, principal }: RequestContext): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.isListening) return Effect.void
      this.isListening = true
      const interest = {
        principal,
        list: (list: ListName) => this.read.has(list),
        uri: (uri: string) => this.subscribed.has(uri),
      }
      return this.catalog.changes.listen(interest).pipe(
        Effect.flatMap(({ take }) => this.sendAll(peer, take)),
        Scope.provide(this.scope),
      )
    })
  }

  private sendAll(peer: PeerControl, take: Effect.Effect<ReadonlyArray<CatalogChange>>) {
    const once = Effect.flatMap(take, (changes) =>
      Effect.forEach(changes, (change) => send(peer, change), { discard: true }),
    )
    return Effect.forever(once).pipe(
      // The connection has closed, which ends its subscriptions too.
      Effect.catch(({ reason }) => Effect.logDebug(`notifications ended: ${reason}`)),
      Effect.forkScoped({ startImmediately: true }),
    )
  }
}
