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

/** What the calls of one connection need. */
export interface ServerCallsOptions<S extends Method> {
  /** The methods that the server may call. */
  readonly group: RpcGroup.RpcGroup<S>
  readonly handlers: Partial<Handlers<S, { readonly id?: RequestId }>>
  /** Largest number of requests that are handled at the same time. */
  readonly maxRequests: number
  readonly send: (text: string) => Effect.Effect<void, ConnectionClosed>
  /** Scope of the fibers that run request handlers. */
  readonly scope: Scope.Scope
}

class RunningCalls<S extends Method> implements ServerCalls {
  private readonly options: ServerCallsOptions<S>
  private readonly methods: ReturnType<typeof methodsOf>
  private readonly handlers: ReadonlyMap<string, Handler | undefined>
  private readonly running = PendingRequests.make<Fiber.Fiber<void>>()

  constructor(options: ServerCallsOptions<S>) {
    this.options = options
    this.methods = methodsOf(options.group)
    this.handlers = new Map(
      Object.entries(options.handlers as unknown as Readonly<Record<string, Handler | undefined>>),
    )
  }

  notification({ method: name, params }: Notification): Effect.Effect<void> {
    const method = this.methods.get(name)
    const handler = this.handlers.get(name)
    if (method === undefined || handler === undefined) return Effect.void
    const decoded = codecOf(method).decodeParams(params)
    if (Result.isFailure(decoded)) {
      return Effect.logDebug(`ignored \`${name}\` with bad params: ${decoded.failure.message}`)
    }
    return Effect.suspend(() => handler(decoded.success, {})).pipe(
      Effect.asVoid,
      Effect.catchCause((cause) => Effect.logError(`the handler of \`${name}\` failed`, cause)),
    )
  }

  request(message: Request): Effect.Effect<void, ConnectionClosed> {
    return Effect.suspend(() => {
      if (this.running.get(message.id) !== undefined) {
        // With the id, the error could be taken for the response of the request that is still running.
        return this.options.send(failureText(null, idInUse(message.id)))
      }
      if (this.running.size >= this.options.maxRequests) {
        const refusal = error(ErrorCode.serverError, "too many requests in flight at the client")
        return this.options.send(failureText(message.id, refusal))
      }
      return Effect.map(Effect.forkIn(this.run(message), this.options.scope), (fiber) => {
        this.running.add(message.id, fiber)
      })
    })
  }

  cancel(id: RequestId): Effect.Effect<void> {
    return Effect.sync(() => this.running.take(id)?.interruptUnsafe())
  }

  end(): void {
    for (const fiber of this.running.drain()) fiber.interruptUnsafe()
  }

  /** Runs the handler of a request and sends its response, unless the request was cancelled. */
  private run(message: Request): Effect.Effect<void> {
    return Effect.suspend(() => this.resultOf(message)).pipe(
      Effect.map((result) => successText(message.id, result)),
      Effect.catch((failure) => Effect.succeed(failureText(message.id, failure))),
      // Defects, and a handler that interrupted itself. An interruption of this fiber is not caught.
      Effect.catchCause((cause) =>
        Effect.as(
          Effect.logError(`the handler of \`${message.method}\` failed`, cause),
          failureText(message.id, error(ErrorCode.internalError, "internal error of the client")),
        ),
      ),
      Effect.flatMap((text) =>
        this.running.take(message.id) === undefined ? Effect.void : this.options.send(text),
      ),
      // The end of the connection is handled by the reader.
      Effect.catchTag("ConnectionClosed", () => Effect.void),
    )
  }

  private resultOf({ id, method: name, params }: Request): Effect.Effect<unknown, JsonRpcError> {
    const method = this.methods.get(name)
    const handler = this.handlers.get(name)
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
}

/** Creates the table of running handlers of a connection. */
export const make = <S extends Method>(options: ServerCallsOptions<S>): ServerCalls =>
  new RunningCalls(options)
