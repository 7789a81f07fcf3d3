/**
 * The error about an unknown method that belongs to another dialect: it names the dialect in use and the command that
 * serves the other. The definitions of the other dialects are loaded with the first unknown method, not at the start.
 */
import type { Belonging } from "@colloquy/protocol/Dialects"
import { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Route } from "./Route.ts"

/** The other dialect that a method belongs to; undefined when it belongs to none. */
export type FindDialect = (method: string) => Effect.Effect<Belonging | undefined>

const explanation = (
  method: string,
  spoken: string,
  { command, dialect, reason }: Belonging,
): string => {
  if (reason !== undefined) return `\`${method}\` of ${dialect} is not supported: ${reason}`
  const served =
    command === undefined ? "which this program does not serve" : `which \`${command}\` serves`
  return `this connection speaks ${spoken}, and \`${method}\` belongs to ${dialect}, ${served}`
}

/** A request with a method that the dialect of the connection does not have. */
export interface UnknownMethod {
  readonly method: string
  /** The dialect of the connection. */
  readonly spoken: string
  readonly find: FindDialect | undefined
  /** The error if the method belongs to no dialect. */
  readonly error: JsonRpcError
  /** Beginning of the message if the method belongs to another dialect. Default: the message of `error`. */
  readonly fault?: string
}

/** Fails with the error of an unknown method. */
export const unknownMethod = ({
  error,
  fault = error.message,
  find,
  method,
  spoken,
}: UnknownMethod): Effect.Effect<never, JsonRpcError> =>
  Effect.flatMap(find?.(method) ?? Effect.undefined, (other) => {
    if (other === undefined) return Effect.fail(error)
    const { command, dialect: belongsTo, reason } = other
    return Effect.fail(
      new JsonRpcError({
        code: error.code,
        message: `${fault}; ${explanation(method, spoken, other)}`,
        data: {
          method,
          dialect: spoken,
          belongsTo,
          ...(command === undefined ? {} : { command }),
          ...(reason === undefined ? {} : { reason }),
        },
      }),
    )
  })

/** The route of a request with an unknown method, or its error if no other dialect has to be loaded for it. */
export const unknownMethodRoute = (unknown: UnknownMethod): Route | JsonRpcError =>
  unknown.find === undefined
    ? unknown.error
    : {
        codec: {
          info: { kind: "request", doc: "", since: "" },
          decodeParams: Result.succeed,
          encodeResult: Result.succeed,
        },
        handler: () => unknownMethod(unknown),
      }
