/**
 * Handles the server's requests and notifications: decodes the params with the method's schema,
 * runs the handler, and sends the response.
 *
 * Keeps L1 on the client's side: a request gets exactly one response, and none after it was
 * cancelled.
 */
import type { ConnectionClosed } from "@colloquy/protocol/Connection"
import {
  ErrorCode,
  failureText,
  idInUse,
  JsonRpcError,
  type Notification,
  type Request,
  type RequestId,
  successText,
} from "@colloquy/protocol/JsonRpc"
import { codecOf, type Handlers, type Method, methodsOf } from "@colloquy/protocol/Method"
import * as PendingRequests from "@colloquy/protocol/PendingRequests"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import type * as Scope from "effect/Scope"

type Send = (text: string) => Effect.Effect<void, ConnectionClosed>

/** A handler whose types were checked where it was passed in. */
type Handler = (
  params: unknown,
  call: { readonly id?: RequestId },
) => Effect.Effect<unknown, JsonRpcError>

/** The server's calls of one connection. */
export interface ServerCalls {
  /** Resolves when the handler has completed; immediately when there is none. */
  readonly notification: (message: Notification) => Effect.Effect<void>
  /** Resolves immediately; the handler runs in its own fiber. */
  readonly request: (message: Request) => Effect.Effect<void, ConnectionClosed>
  /** Interrupts the handler of that request, which then gets no response. */
  readonly cancel: (id: RequestId) => Effect.Effect<void>
  /** Interrupts the handlers of all requests. */
  readonly end: () => void
}

const error = (code: number, message: string) => new JsonRpcError({ code, message })

/** Creates the table of running handlers for a connection. */
export const make = <S extends Method>(options: {
  readonly group: RpcGroup.RpcGroup<S>
  readonly handlers: Partial<Handlers<S, { readonly id?: RequestId }>>
  readonly maxRequests: number
  readonly send: Send
  readonly scope: Scope.Scope
}): ServerCalls => {
  const methods = methodsOf(options.group)
  const handlers = new Map(
    Object.entries(options.handlers as unknown as Readonly<Record<string, Handler | undefined>>),
  )
  const running = PendingRequests.make<Fiber.Fiber<void>>()

  const answerTo = ({
    id,
    method: name,
    params,
  }: Request): Effect.Effect<unknown, JsonRpcError> => {
    const method = methods.get(name)
    const handler = handlers.get(name)
    if (method === undefined || handler === undefined) {
      return Effect.fail(error(ErrorCode.methodNotFound, `method not found: ${name}`))
    }
    const codec = codecOf(method)
    return Effect.fromResult(codec.decodeParams(params)).pipe(
      Effect.mapError((issue) =>
        error(ErrorCode.invalidParams, `invalid params of \`${name}\`: ${issue.message}`),
      ),
      Effect.flatMap((decoded) => handler(decoded, { id })),
      Effect.flatMap((result) => Effect.orDie(Effect.fromResult(codec.encodeResult(result)))),
    )
  }

  const run = (message: Request): Effect.Effect<void> =>
    Effect.suspend(() => answerTo(message)).pipe(
      Effect.map((result) => successText(message.id, result)),
      Effect.catch((failure) => Effect.succeed(failureText(message.id, failure))),
      // Defects, and a handler that interrupted itself. An interruption of this fiber is not
      // caught.
      Effect.catchCause((cause) =>
        Effect.as(
          Effect.logError(`the handler of \`${message.method}\` failed`, cause),
          failureText(message.id, error(ErrorCode.internalError, "internal error of the client")),
        ),
      ),
      Effect.flatMap((text) =>
        running.take(message.id) === undefined ? Effect.void : options.send(text),
      ),
      // The end of the connection is handled by the reader.
      Effect.catchTag("ConnectionClosed", () => Effect.void),
    )

  return {
    notification: ({ method: name, params }) => {
      const method = methods.get(name)
      const handler = handlers.get(name)
      if (method === undefined || handler === undefined) return Effect.void
      const decoded = codecOf(method).decodeParams(params)
      if (Result.isFailure(decoded)) {
        return Effect.logDebug(`ignored \`${name}\` with bad params: ${decoded.failure.message}`)
      }
      return Effect.suspend(() => handler(decoded.success, {})).pipe(
        Effect.asVoid,
        Effect.catchCause((cause) => Effect.logError(`the handler of \`${name}\` failed`, cause)),
      )
    },
    request: (message) =>
      Effect.suspend(() => {
        const refuse = (code: number, why: string) =>
          options.send(failureText(message.id, error(code, why)))
        if (running.get(message.id) !== undefined) {
          // With the id, the error could be taken for the response of the request that is still
          // running.
          return options.send(failureText(null, idInUse(message.id)))
        }
        if (running.size >= options.maxRequests) {
          return refuse(ErrorCode.serverError, "too many requests in flight at the client")
        }
        return Effect.map(Effect.forkIn(run(message), options.scope), (fiber) => {
          running.add(message.id, fiber)
        })
      }),
    cancel: (id) => Effect.sync(() => running.take(id)?.interruptUnsafe()),
    end: () => {
      for (const fiber of running.drain()) fiber.interruptUnsafe()
    },
  }
}
