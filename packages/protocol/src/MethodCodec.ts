/**
 * The codec of one method: its schemas as functions. Apart from `Method.ts`, so that a method can be served before the
 * definitions of all others are loaded.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { tolerant } from "./NullAsAbsent.ts"

/** What a definition says about a method besides its name and its schemas. */
export interface MethodInfo {
  readonly kind: "request" | "notification"
  /** One or two sentences for the generated reference: what it does, and when its response is sent. */
  readonly doc: string
  /** First protocol revision, or version of the original, that has the method; `colloquy 0.1` for one of Colloquy only. */
  readonly since: string
  /** First protocol revision or version that no longer has it. */
  readonly until?: string
  /** The capability the receiver must have declared. */
  readonly capability?: string
  /** False: the request cannot be cancelled; a cancellation by its sender is ignored. */
  readonly cancellable?: false
  /** How long and by which clients its result may be cached, unless the result says so (MCP revision 2026-07-28). */
  readonly cache?: CacheHint
  /**
   * What only a client may use that declared `experimentalApi` (app-server v2): the method, or these members of its params.
   */
  readonly experimental?: true | ReadonlyArray<string>
  /** True: its result may ask for input, and the client repeats the request with that input (MCP revision 2026-07-28). */
  readonly mayAsk?: true
}

/** How long, in milliseconds, and by which clients a result may be cached. */
export interface CacheHint {
  readonly ttlMs: number
  /** `private`: only by the client that sent the request. */
  readonly scope: "public" | "private"
}

/** A schema whose codec needs no services, as all schemas of the wire. */
// oxlint-disable-next-line typescript/no-explicit-any -- the bound of a type parameter: with `unknown` no schema would satisfy it
export type Pure = Schema.Codec<any, any>

/** Untyped: the value has the type of the method's schema, and a caller that names the method restores that type. */
type Coder = (u: unknown) => Result.Result<unknown, Schema.SchemaError>

/** The codec of one method. Every function is pure and reports all faults with their paths. */
export interface Codec {
  readonly info: MethodInfo
  readonly decodeParams: Coder
  readonly encodeParams: Coder
  /** Like `encodeParams`, and fails for a member that the schema does not have instead of leaving it out. */
  readonly encodeParamsExactly: Coder
  readonly decodeResult: Coder
  readonly encodeResult: Coder
}

/** True for a method that declares no params, or no result. */
export const isVoid = (schema: Schema.Top): boolean => schema === Schema.Void

/** Stops at the first fault, which is much cheaper, and runs again for all of them when there is one. */
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
    encodeExactly: Schema.encodeUnknownResult(pure, { ...all, onExcessProperty: "error" }),
  }
}

/**
 * Makes a codec with its first use and gives the same one afterwards: a process uses few methods of many.
 *
 * @param unchecked true: params are sent as they are, without a check by their schema
 */
export const lazyCodec = (
  info: MethodInfo,
  params: Schema.Top = Schema.Void,
  result: Schema.Top = Schema.Void,
  unchecked = false,
): (() => Codec) => {
  let codec: Codec | undefined
  return () => {
    if (codec !== undefined) return codec
    const ofParams = coders(params, {})
    const ofResult = coders(result, {})
    codec = {
      info,
      decodeParams: ofParams.decode,
      encodeParams: unchecked ? Result.succeed : ofParams.encode,
      encodeParamsExactly: ofParams.encodeExactly,
      decodeResult: ofResult.decode,
      encodeResult: ofResult.encode,
    }
    return codec
  }
}
