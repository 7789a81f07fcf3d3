/**
 * One definition per method. A method is an `Rpc` value annotated with what the wire needs to know of it. Codec, handler
 * type, client type and JSON Schema are derived from the definition here and nowhere else. Calls no handler and keeps no
 * state.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as Schema from "effect/Schema"
import { JsonRpcError } from "./JsonRpc.ts"
import * as MethodCodec from "./MethodCodec.ts"

/** What a definition says about a method besides its name and its schemas. */
export type MethodInfo = MethodCodec.MethodInfo
/** A schema whose codec needs no services, as all schemas of the wire. */
export type Pure = MethodCodec.Pure
/** The codec of one method. */
export type Codec = MethodCodec.Codec

/** The annotation that makes an `Rpc` a method of the wire. */
export const MethodInfo = Context.Reference<MethodInfo>("@colloquy/protocol/MethodInfo", {
  defaultValue: () => ({ kind: "request", doc: "", since: "" }),
})

type Definition<P, R> = Omit<MethodInfo, "kind"> & { readonly params?: P; readonly result?: R }

/** Defines a request. Without `params`, parameters that a client sends are ignored, as the original does. */
export const request = <
  const M extends string,
  P extends Pure = typeof Schema.Void,
  R extends Pure = typeof Schema.Void,
>(
  method: M,
  { params, result, ...info }: Definition<P, R>,
) =>
  Rpc.make(method, {
    payload: (params ?? Schema.Void) as P,
    success: (result ?? Schema.Void) as R,
    error: JsonRpcError,
  })
    .annotate(MethodInfo, { kind: "request", ...info })
    .annotate(LazyCodec, MethodCodec.lazyCodec({ kind: "request", ...info }, params, result))

interface NotificationDefinition<P> extends Definition<P, never> {
  /**
   * True: params are sent as they are, without a check by their schema, which takes longer than everything else about a
   * delta. For params that this program makes from events, whose types say the same as the schema, which must not transform.
   */
  readonly unchecked?: boolean
}

/** Defines a notification, which has no response. */
export const notification = <const M extends string, P extends Pure = typeof Schema.Void>(
  method: M,
  { params, unchecked = false, ...info }: NotificationDefinition<P>,
) =>
  Rpc.make(method, { payload: (params ?? Schema.Void) as P })
    .annotate(MethodInfo, { kind: "notification", ...info })
    .annotate(
      LazyCodec,
      MethodCodec.lazyCodec({ kind: "notification", ...info }, params, undefined, unchecked),
    )

/** Any method, whatever its name and its schemas. */
export type Method = Rpc.AnyWithProps

/** What the definition of the method says about it. */
export const infoOf = (method: Method): MethodInfo => Context.get(method.annotations, MethodInfo)

/** A dialect: one vocabulary of methods, in a group per direction. */
export interface Dialect<C extends Rpc.Any, S extends Rpc.Any> {
  readonly name: string
  /** The command line of the server that speaks it, for the generated reference. */
  readonly command?: string
  readonly clientToServer: RpcGroup.RpcGroup<C>
  readonly serverToClient: RpcGroup.RpcGroup<S>
}

/** Gathers the methods of a dialect. Throws when two methods of one direction have the same name. */
export const dialect = <
  const C extends ReadonlyArray<Rpc.Any>,
  const S extends ReadonlyArray<Rpc.Any>,
>(options: {
  readonly name: string
  readonly command?: string
  readonly clientToServer: C
  readonly serverToClient: S
}): Dialect<C[number], S[number]> => ({
  name: options.name,
  ...(options.command === undefined ? {} : { command: options.command }),
  clientToServer: RpcGroup.make(...options.clientToServer),
  serverToClient: RpcGroup.make(...options.serverToClient),
})

/** A handler per method: it gets the decoded params and the caller's context, and gives a result or a `JsonRpcError`. */
export type Handlers<M extends Rpc.Any, Caller> = {
  readonly [R in M as R["_tag"]]: (
    params: Rpc.Payload<R>,
    caller: Caller,
  ) => Effect.Effect<Rpc.Success<R>, Rpc.Error<R>>
}

/** The type of a method's decoded params. */
export type Params<M extends Rpc.Any> = Rpc.Payload<M>
/** The type of a method's decoded result. */
export type ResultOf<M extends Rpc.Any> = Rpc.Success<M>

/** The annotation that holds a method's codec. Without it, what is sent is ignored. */
const LazyCodec = Context.Reference<() => Codec>("@colloquy/protocol/LazyCodec", {
  defaultValue: () => MethodCodec.lazyCodec({ kind: "request", doc: "", since: "" }),
})

/** The codec of a method that `request` or `notification` defined. */
export const codecOf = (method: Method): Codec => Context.get(method.annotations, LazyCodec)()

/** The methods of a group by their wire names, with their codecs. */
export const methodsOf = <M extends Rpc.Any>(
  group: RpcGroup.RpcGroup<M>,
): ReadonlyMap<string, Method> => group.requests as unknown as ReadonlyMap<string, Method>
