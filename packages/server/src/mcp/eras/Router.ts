/**
 * Chooses the revision of each request and the route that serves it. `initialize` chooses the revision for the whole
 * connection, `_meta` of a request for that request only. A request of one era never changes the state that the other
 * era keeps for the connection.
 */
import { ErrorCode, JsonRpcError, type Request, type RequestId } from "@colloquy/protocol/JsonRpc"
import { Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import { MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { type Codec, codecOf, type Method } from "@colloquy/protocol/Method"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { methodNotFound, type Route } from "../../jsonrpc/Route.ts"
import { withCaller } from "../../jsonrpc/TraceContext.ts"
import { type CoreHandler, type Members, OtherResult } from "../RequestContext.ts"
import type { Session } from "../Session.ts"
import { isMembers } from "./Capabilities.ts"
import { handshake } from "./Handshake.ts"
import { metaOf, readMeta, type RequestMeta } from "./RequestMeta.ts"
import type { Call, RequestStates } from "./RequestState.ts"
import { knows, rulesOf } from "./Revision.ts"
import { withoutRequests, stateless, type StatelessRequest } from "./Stateless.ts"

type AnyHandler = CoreHandler<unknown, unknown>

/** What routing the requests of one connection needs. */
export interface RouterOptions {
  readonly session: Session
  readonly methods: ReadonlyMap<string, Method>
  /** The handler of a request; undefined for a method that has none. */
  readonly handlerOf: (method: string) => AnyHandler | undefined
  readonly states: RequestStates
  /**
   * Cancels the work that a handler's own state refers to. Runs when the client cancels the call of that state, or when
   * the state could not be sent to the client.
   */
  readonly cancelWork: StatelessRequest["cancelWork"]
  /**
   * Called when a request begins: forgets what an earlier request with that id registered. `onCancel` runs if the
   * client cancels the request, until the returned function is called.
   */
  readonly onRequest: (id: RequestId, onCancel?: Effect.Effect<void>) => (() => void) | undefined
  /**
   * Why a stateless request contradicts the headers that it came with; undefined if it does not, or came with none. Checked
   * here because only the server knows which arguments of a tool its headers repeat.
   */
  readonly headerFault: (request: Request) => JsonRpcError | undefined
  readonly serverInfo: Members
  /** On whose behalf the client of the connection acts. */
  readonly principal: string
}

/** Routes the requests of one connection. */
export interface Router {
  readonly route: (request: Request, batched: boolean) => Route | JsonRpcError
  readonly batches: () => boolean
}

const newest = statelessVersions[0]

/** The codec of a method whose handler may return an `OtherResult`. */
const handshakeCodec = (codec: Codec): Route["codec"] => ({
  ...codec,
  encodeResult: (value) =>
    value instanceof OtherResult ? Result.succeed(value.members) : codec.encodeResult(value),
})

/** Adds to every result its type, the server's information and how long it may be cached (2026-07-28). */
const statelessCodec = (codec: Codec, serverInfo: Members): Route["codec"] => {
  const { cache } = codec.info
  const hint = cache === undefined ? {} : { ttlMs: cache.ttlMs, cacheScope: cache.scope }
  const serverMeta = { [MetaKey.serverInfo]: serverInfo }
  const metaWith = (meta: unknown) => (isMembers(meta) ? { ...meta, ...serverMeta } : serverMeta)
  return {
    ...codec,
    encodeResult: (value) => {
      if (value instanceof OtherResult) {
        const { members, resultType } = value
        return Result.succeed({ resultType, ...members, _meta: metaWith(members["_meta"]) })
      }
      const encoded = codec.encodeResult(value)
      if (encoded._tag === "Failure") return encoded
      const members = encoded.success as Members
      return Result.succeed({
        resultType: "complete",
        ...hint,
        ...members,
        _meta: metaWith(members["_meta"]),
      })
    },
  }
}

const alone = (method: string) =>
  new JsonRpcError({
    code: ErrorCode.invalidRequest,
    message: `Invalid Request: \`${method}\` must not stand in a batch`,
  })

/** The handler, within the span of the client if `_meta` names it. */
const traced = (handler: AnyHandler, meta: Members | undefined): AnyHandler => {
  const traceparent = memberOf(meta, "traceparent")
  return traceparent === undefined
    ? handler
    : (params, context) => withCaller(traceparent)(handler(params, context))
}

/** Creates the codec of each method when it is first used, and keeps it. */
const remembered = (make: (codec: Codec) => Route["codec"]) => {
  let known: Map<Method, Route["codec"]> | undefined
  return (method: Method) => {
    known ??= new Map()
    const codec = known.get(method) ?? make(codecOf(method))
    known.set(method, codec)
    return codec
  }
}

/**
 * Routes the requests of one connection.
 *
 *     request ── names a revision, or only the stateless era has its method ──► stateless route
 *        └────── otherwise ──► route of the revision that `initialize` chose
 */
class ConnectionRouter implements Router {
  private readonly options: RouterOptions
  private readonly handshakeCodecOf: (method: Method) => Route["codec"]
  private readonly statelessCodecOf: (method: Method) => Route["codec"]

  constructor(options: RouterOptions) {
    this.options = options
    this.handshakeCodecOf = remembered(handshakeCodec)
    this.statelessCodecOf = remembered((codec) => statelessCodec(codec, options.serverInfo))
  }

  readonly route: Router["route"] = (request, batched) => {
    const { methods, session } = this.options
    const method = methods.get(request.method)
    const meta = metaOf(request.params)
    const isNew = this.isStateless(method, meta)
    if (batched && (isNew || request.method === Initialize._tag)) return alone(request.method)
    if (isNew) return this.statelessRoute(method, meta, request)
    const handler = this.options.handlerOf(request.method)
    return method === undefined || handler === undefined || !knows(session.revision(), method)
      ? methodNotFound(request.method)
      : this.handshakeRoute(method, traced(handler, meta))
  }

  readonly batches: Router["batches"] = () => {
    const { session } = this.options
    return session.initialized() && rulesOf[session.revision()].batches
  }

  /**
   * True if the request belongs to the stateless era. A request that names a revision does, unless it is the revision
   * that `initialize` negotiated. A request that names none does only before `initialize`, if only the newest revision
   * has its method.
   */
  private isStateless(method: Method | undefined, meta: Members | undefined): boolean {
    const { session } = this.options
    const version = memberOf(meta, MetaKey.protocolVersion)
    if (version !== undefined) return !(session.initialized() && version === session.revision())
    return (
      !session.initialized() &&
      method !== undefined &&
      knows(newest, method) &&
      !knows(session.revision(), method)
    )
  }

  private handshakeRoute(method: Method, handler: AnyHandler): Route {
    const { onRequest, principal, session } = this.options
    return {
      begins: (id) => onRequest(id),
      codec: this.handshakeCodecOf(method),
      handler: (params, caller) => handshake(handler, params, { principal, session }, caller),
    }
  }

  private statelessRoute(
    method: Method | undefined,
    meta: Members | undefined,
    request: Request,
  ): Route | JsonRpcError {
    const read = readMeta(meta ?? {})
    if (read._tag === "Failure") return read.failure
    const fault = this.options.headerFault(request)
    if (fault !== undefined) return fault
    const handler = this.options.handlerOf(request.method)
    return method === undefined || handler === undefined || !knows(read.success.revision, method)
      ? methodNotFound(request.method)
      : this.callRoute(method, traced(handler, meta), read.success, request)
  }

  private callRoute(
    method: Method,
    handler: AnyHandler,
    declared: RequestMeta,
    request: Request,
  ): Route {
    const { onRequest, principal, states, cancelWork } = this.options
    const codec = this.statelessCodecOf(method)
    const call: Call | undefined =
      codec.info.mayAsk === true
        ? { method: method._tag, params: request.params, principal }
        : undefined
    return {
      // Registered before the handler runs, because the cancellation may be read first.
      begins: (id) =>
        call !== undefined && states.isResumed(call)
          ? onRequest(id, this.cancelResumed(call))
          : onRequest(id),
      codec,
      handler: (params, caller) =>
        stateless(handler, params, {
          declared,
          principal,
          caller,
          peer: withoutRequests(caller.peer),
          states,
          cancelWork,
          ...(call === undefined ? {} : { call }),
        }),
    }
  }

  /**
   * Cancels what the state of a call refers to; an unusable state is ignored here, because the call itself reports it.
   */
  private cancelResumed(call: Call): Effect.Effect<void> {
    const { states, cancelWork } = this.options
    return Effect.matchEffect(states.open(call), {
      onFailure: () => Effect.void,
      onSuccess: ({ state: { own } }) => (own === undefined ? Effect.void : cancelWork(own)),
    })
  }
}

/** Creates the router of one connection. */
export const make = (options: RouterOptions): Router => new ConnectionRouter(options)
