/**
 * Which revision a request is of, and what serves it: `initialize` chooses for the connection, `_meta` of a request for
 * that request alone. A request of one era never changes what the other era knows of the connection.
 */
import { ErrorCode, JsonRpcError, type Request, type RequestId } from "@colloquy/protocol/JsonRpc"
import { Initialize } from "@colloquy/protocol/mcp/CodexMcp"
import { MetaKey, statelessVersions } from "@colloquy/protocol/mcp/Revisions"
import { type Codec, codecOf, type Method } from "@colloquy/protocol/Method"
import { memberOf } from "@colloquy/protocol/NullAsAbsent"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { methodNotFound, type Route } from "../../jsonrpc/Route.ts"
import { type CoreHandler, type Members, OtherResult } from "../RequestContext.ts"
import type { Session } from "../Session.ts"
import { isMembers } from "./Capabilities.ts"
import { handshake } from "./Handshake.ts"
import { metaOf, readMeta, type RequestMeta } from "./RequestMeta.ts"
import type { Call, RequestStates } from "./RequestState.ts"
import { knows, rulesOf } from "./Revision.ts"
import { silent, stateless, type StatelessRequest } from "./Stateless.ts"

type AnyHandler = CoreHandler<unknown, unknown>

export interface RouterOptions {
  readonly session: Session
  readonly methods: ReadonlyMap<string, Method>
  readonly handlers: Readonly<Record<string, AnyHandler | undefined>>
  readonly states: RequestStates
  /** What becomes of what a handler left in a state, when the call that it is of is taken back. */
  readonly takenBack: StatelessRequest["takenBack"]
  /**
   * A request of that id begins; what an earlier one left is not its own. `takenBack`: what its cancellation does, until
   * what this gives is called.
   */
  readonly onRequest: (id: RequestId, takenBack?: Effect.Effect<void>) => (() => void) | undefined
  readonly serverInfo: Members
  /** On whose behalf the client of the connection acts. */
  readonly principal: string
}

export interface Router {
  readonly route: (request: Request, batched: boolean) => Route | JsonRpcError
  readonly batches: () => boolean
}

const newest = statelessVersions[0]

/** The codec of a method whose handler may give a result of another kind. */
const handshakeCodec = (codec: Codec): Route["codec"] => ({
  ...codec,
  encodeResult: (value) =>
    value instanceof OtherResult ? Result.succeed(value.members) : codec.encodeResult(value),
})

/** Says of every result what it is, who made it, and how long it is good (2026-07-28). */
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

/** One codec per method and era, made when it is first used. */
const remembered = (make: (codec: Codec) => Route["codec"]) => {
  const known = new Map<Method, Route["codec"]>()
  return (method: Method) => {
    const codec = known.get(method) ?? make(codecOf(method))
    known.set(method, codec)
    return codec
  }
}

export const make = ({
  handlers,
  methods,
  onRequest,
  principal,
  serverInfo,
  session,
  states,
  takenBack,
}: RouterOptions): Router => {
  const oldCodec = remembered(handshakeCodec)
  const newCodec = remembered((codec) => statelessCodec(codec, serverInfo))

  const old = (method: Method, handler: AnyHandler): Route => ({
    begins: (id) => onRequest(id),
    codec: oldCodec(method),
    handler: (params, caller) => handshake(handler, params, { principal, session }, caller),
  })

  /** A state that is none leads to nothing; the call itself is told. */
  const takeBack = (call: Call): Effect.Effect<void> =>
    Effect.matchEffect(states.open(call), {
      onFailure: () => Effect.void,
      onSuccess: ({ state: { own } }) => (own === undefined ? Effect.void : takenBack(own)),
    })

  const ofRequest = (
    method: Method,
    handler: AnyHandler,
    said: RequestMeta,
    request: Request,
  ): Route => {
    const codec = newCodec(method)
    const call: Call | undefined =
      codec.info.mayAsk === true
        ? { method: method._tag, params: request.params, principal }
        : undefined
    return {
      // The cancellation may be read before the handler has done anything.
      begins: (id) =>
        call !== undefined && states.isResumed(call)
          ? onRequest(id, takeBack(call))
          : onRequest(id),
      codec,
      handler: (params, caller) =>
        stateless(handler, params, {
          said,
          principal,
          caller,
          peer: silent(caller.peer),
          states,
          takenBack,
          ...(call === undefined ? {} : { call }),
        }),
    }
  }

  /** What the request asks for is a revision of its own; the one that was agreed on is no other. */
  const isStateless = (method: Method | undefined, meta: Members | undefined): boolean => {
    const version = memberOf(meta, MetaKey.protocolVersion)
    if (version !== undefined) return !(session.initialized() && version === session.revision())
    // Who agreed on a revision speaks it where nothing else is said.
    return (
      !session.initialized() &&
      method !== undefined &&
      knows(newest, method) &&
      !knows(session.revision(), method)
    )
  }

  const statelessRoute = (
    method: Method | undefined,
    meta: Members | undefined,
    request: Request,
  ): Route | JsonRpcError => {
    const said = readMeta(meta ?? {})
    if (said._tag === "Failure") return said.failure
    const handler = handlers[request.method]
    return method === undefined || handler === undefined || !knows(said.success.revision, method)
      ? methodNotFound(request.method)
      : ofRequest(method, handler, said.success, request)
  }

  const route: Router["route"] = (request, batched) => {
    const method = methods.get(request.method)
    const meta = metaOf(request.params)
    const isNew = isStateless(method, meta)
    if (batched && (isNew || request.method === Initialize._tag)) return alone(request.method)
    if (isNew) return statelessRoute(method, meta, request)
    const handler = handlers[request.method]
    return method === undefined || handler === undefined || !knows(session.revision(), method)
      ? methodNotFound(request.method)
      : old(method, handler)
  }

  return {
    route,
    batches: () => session.initialized() && rulesOf[session.revision()].batches,
  }
}
