/**
 * One definition per method. A method is an `Rpc` value (design §3) annotated with what the wire needs to know;
 * codec, handler type, client type and JSON Schema are derived from it here and nowhere else.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import * as Rpc from "effect/rpc/Rpc"
import * as RpcGroup from "effect/rpc/RpcGroup"
import * as Schema from "effect/Schema"
import { JsonRpcError } from "./JsonRpc.ts"
import { tolerant } from "./NullAsAbsent.ts"

export interface MethodInfo {
  readonly kind: "request" | "notification"
  /** One sentence for the reference page. */
  readonly doc: string
  /** First protocol revision or original version that knew the method. */
  readonly since: string
  /** First that no longer knew it. */
  readonly until?: string
  /** The capability the receiver must have declared. */
  readonly capability?: string
  /** False: its sender must not take the request back, and who tries is not heard. */
  readonly cancellable?: false
  /** How long, and by whom, its result may be kept, unless the result says it (2026-07-28). */
  readonly cache?: CacheHint
  /** Its answer may be a question, and the request comes again with what was answered (2026-07-28). */
  readonly mayAsk?: true
}

export interface CacheHint {
  readonly ttlMs: number
  /** `private`: by the client that asked alone. */
  readonly scope: "public" | "private"
}

/** The annotation that turns an `Rpc` into a method of the wire. */
export const MethodInfo = Context.Reference<MethodInfo>("@colloquy/protocol/MethodInfo", {
  defaultValue: () => ({ kind: "request", doc: "", since: "" }),
})

/** A schema that needs no services: all of the wire's are pure. */
// oxlint-disable-next-line typescript/no-explicit-any -- the bound of a type parameter: `unknown` would refuse every schema
export type Pure = Schema.Codec<any, any>

type Definition<P, R> = Omit<MethodInfo, "kind"> & { readonly params?: P; readonly result?: R }

/** A method that is answered. Without `params` whatever is sent there is ignored, as the original does. */
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
  }).annotate(MethodInfo, { kind: "request", ...info })

/** A method that is not answered. */
export const notification = <const M extends string, P extends Pure = typeof Schema.Void>(
  method: M,
  { params, ...info }: Definition<P, never>,
) =>
  Rpc.make(method, { payload: (params ?? Schema.Void) as P }).annotate(MethodInfo, {
    kind: "notification",
    ...info,
  })

export type Method = Rpc.AnyWithProps

export const infoOf = (method: Method): MethodInfo => Context.get(method.annotations, MethodInfo)

/** A dialect: one wire vocabulary, a group of methods per direction. */
export interface Dialect<C extends Rpc.Any, S extends Rpc.Any> {
  readonly name: string
  /** The command that serves it. */
  readonly command?: string
  readonly clientToServer: RpcGroup.RpcGroup<C>
  readonly serverToClient: RpcGroup.RpcGroup<S>
}

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

/** A handler per method: decoded params and the caller's context in, result or `JsonRpcError` out. */
export type Handlers<M extends Rpc.Any, Caller> = {
  readonly [R in M as R["_tag"]]: (
    params: Rpc.Payload<R>,
    caller: Caller,
  ) => Effect.Effect<Rpc.Success<R>, Rpc.Error<R>>
}

export type Params<M extends Rpc.Any> = Rpc.Payload<M>
export type ResultOf<M extends Rpc.Any> = Rpc.Success<M>

/** The value's type is that of the method's schema; whoever names the method gives it back its type. */
type Coder = (u: unknown) => Result.Result<unknown, Schema.SchemaError>

/** The codec of one method; every function is pure and reports all faults with their paths. */
export interface Codec {
  readonly info: MethodInfo
  readonly decodeParams: Coder
  readonly encodeParams: Coder
  readonly decodeResult: Coder
  readonly encodeResult: Coder
}

const codecs = new WeakMap<Method, Codec>()

/** True for a method that declares no params, or no result. */
export const isVoid = (schema: Schema.Top): boolean => schema === Schema.Void

/** Looks for the first fault alone, which is much cheaper, and for all of them where there is one. */
const thorough =
  (first: Coder, all: Coder): Coder =>
  (u) => {
    const result = first(u)
    return result._tag === "Success" ? result : all(u)
  }

const coders = (schema: Schema.Top, absent: unknown) => {
  const ignored = isVoid(schema)
  const pure = schema as Pure
  const all = { errors: "all" } as const
  const decode = tolerant(
    schema,
    thorough(Schema.decodeUnknownResult(pure), Schema.decodeUnknownResult(pure, all)),
  )
  return {
    decode: (u: unknown) => decode(ignored ? undefined : (u ?? absent)),
    encode: thorough(Schema.encodeUnknownResult(pure), Schema.encodeUnknownResult(pure, all)),
  }
}

export const codecOf = (method: Method): Codec => {
  const known = codecs.get(method)
  if (known !== undefined) return known
  const params = coders(method.payloadSchema, {})
  const result = coders(method.successSchema, {})
  const codec: Codec = {
    info: infoOf(method),
    decodeParams: params.decode,
    encodeParams: params.encode,
    decodeResult: result.decode,
    encodeResult: result.encode,
  }
  codecs.set(method, codec)
  return codec
}

/** The methods of a group by their wire names, with their codecs. */
export const methodsOf = <M extends Rpc.Any>(
  group: RpcGroup.RpcGroup<M>,
): ReadonlyMap<string, Method> => group.requests as unknown as ReadonlyMap<string, Method>
