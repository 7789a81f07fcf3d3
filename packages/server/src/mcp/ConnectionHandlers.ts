/**
 * The handlers of one connection before and after its first use of them. `initialize` and `ping` are there from the start;
 * all others, with the tools and the state that they keep, are created by the first request for one of them. A server over
 * HTTP has many sessions whose clients have initialized and do nothing.
 *
 *     initialize, ping ──▶ served at once
 *     any other ────────▶ the handlers are created, once ──▶ served
 */
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import {
  Cancelled,
  Initialize,
  Initialized,
  Ping,
  ToolsCall,
} from "@colloquy/protocol/mcp/CodexMcp"
import type { Params, ResultOf } from "@colloquy/protocol/Method"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { type AnsweredCalls, make as makeAnsweredCalls } from "./AnsweredCalls.ts"
import { cancellation } from "./elicitation/stateless/Cancellation.ts"
import { headerFault, type Headers } from "./eras/Headers.ts"
import type { RouterOptions } from "./eras/Router.ts"
import * as McpHandlers from "./McpHandlers.ts"
import { initialize } from "./methods/Initialize.ts"
import { handshakeCapabilities } from "./methods/InitializeResult.ts"
import { notificationsCancelled } from "./methods/NotificationsCancelled.ts"
import { notificationsInitialized } from "./methods/NotificationsInitialized.ts"
import { ping } from "./methods/Ping.ts"
import type { CoreHandler } from "./RequestContext.ts"
import { inputSchemaOf } from "./catalog/OfferedTools.ts"
import type { NotificationCaller } from "../jsonrpc/Caller.ts"

type AnyHandler = CoreHandler<unknown, unknown>
type Handlers = Readonly<Record<string, AnyHandler | undefined>>

/** What the handlers of one connection need. */
interface ConnectionHandlersOptions extends Omit<McpHandlers.HandlersOptions, "answered"> {
  readonly serverInfo: ResultOf<typeof Initialize>["serverInfo"]
  /** The headers that each stateless request of the connection came with; undefined over a transport without headers. */
  readonly headers: Headers | undefined
}

/** The handlers of one connection. */
export class ConnectionHandlers implements Pick<
  RouterOptions,
  "handlerOf" | "onRequest" | "cancelWork" | "headerFault"
> {
  private readonly options: ConnectionHandlersOptions
  private readonly context: Context.Context<Scope.Scope>
  private calls: AnsweredCalls | undefined
  private made: Handlers | undefined

  /** @param context of the connection: what the handlers do in its scope ends with it */
  constructor(options: ConnectionHandlersOptions, context: Context.Context<Scope.Scope>) {
    this.options = options
    this.context = context
  }

  /** The handler of a request; undefined for a method that is none. */
  handlerOf(method: string): AnyHandler | undefined {
    const made = this.made
    if (made !== undefined) return made[method] ?? this.ready(method)
    return (
      this.ready(method) ??
      (method === Initialized._tag || method === Cancelled._tag
        ? undefined
        : (params, context) =>
            Effect.flatMap(
              this.create,
              (all) =>
                all[method]?.(params, context) ?? Effect.die(new Error(`no handler of ${method}`)),
            ))
    )
  }

  readonly notifications: McpHandlers.NotificationHandlers = {
    [Initialized._tag]: notificationsInitialized,
    [Cancelled._tag]: (params: Params<typeof Cancelled>, caller: NotificationCaller) =>
      notificationsCancelled(this)(params, caller),
  }

  readonly onRequest: RouterOptions["onRequest"] = (id, onCancel) => {
    if (onCancel === undefined) {
      this.calls?.forget(id)
      return undefined
    }
    return this.cancelledBy(id, onCancel)
  }

  readonly cancelWork: RouterOptions["cancelWork"] = (own) => {
    const { principal, server } = this.options
    return cancellation(server.conversations(principal))(own)
  }

  readonly headerFault: RouterOptions["headerFault"] = (request) => {
    const { headers, server, tools } = this.options
    // The transport has compared the headers of all methods; only the server knows the arguments of a tool.
    if (headers === undefined || request.method !== ToolsCall._tag) return undefined
    const name = memberOf(request.params, "name")
    const schema =
      typeof name === "string"
        ? inputSchemaOf(tools, server.features?.catalog.tools, name)
        : undefined
    return headerFault(headers, request, schema)
  }

  private cancelledBy(id: RequestId, onCancel: Effect.Effect<void>): () => void {
    const { answered } = this
    answered.onCancel(id, onCancel)
    return () => answered.forget(id, onCancel)
  }

  /** The calls of the connection that have their response already. */
  get answered(): AnsweredCalls {
    return (this.calls ??= makeAnsweredCalls(Context.get(this.context, Scope.Scope)))
  }

  /** The handlers that keep nothing. */
  private ready(method: string): AnyHandler | undefined {
    const { serverInfo, session } = this.options
    switch (method) {
      case Initialize._tag:
        return initialize(session, serverInfo, () =>
          handshakeCapabilities(session.revision(), session.events()),
        ) as AnyHandler
      case Ping._tag:
        return ping
      default:
        return undefined
    }
  }

  /** In the context of the connection, not in that of the request which happens to be the first. */
  private readonly create: Effect.Effect<Handlers> = Effect.suspend(() =>
    this.made === undefined
      ? Effect.map(
          Effect.updateContext(
            McpHandlers.make({ ...this.options, answered: this.answered }),
            () => this.context,
          ),
          // Two first requests may both have come here; all use the handlers of one.
          (handlers) => (this.made ??= handlers as Handlers),
        )
      : Effect.succeed(this.made),
  )
}
