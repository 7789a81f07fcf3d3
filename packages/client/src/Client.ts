/**
 * The typed client of any dialect over any connection: requests with their responses,
 * notifications, and handlers for the server's requests and notifications.
 *
 * Owns the ids, the table of requests in flight and the reading of the connection. Knows no method
 * by name and never closes the connection. A message that cannot be read is logged and affects
 * nothing else (L13); every request of the server gets exactly one response unless it is cancelled
 * (L1).
 */
import { type Connection, ConnectionClosed, type Frame } from "@colloquy/protocol/Connection"
import {
  ErrorCode,
  failureText,
  JsonRpcError,
  type Message,
  notificationText,
  overlong,
  parse,
  type RequestId,
  requestIdText,
  requestText,
} from "@colloquy/protocol/JsonRpc"
import {
  codecOf,
  type Dialect,
  type Handlers,
  type Method,
  type Params,
  type ResultOf,
} from "@colloquy/protocol/Method"
import * as PendingRequests from "@colloquy/protocol/PendingRequests"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Rpc from "effect/rpc/Rpc"
import * as Scope from "effect/Scope"
import type { Cancel } from "./Cancel.ts"
import * as ServerCalls from "./internal/ServerCalls.ts"

/** The methods of a dialect that have a response. */
export type RequestOf<M extends Rpc.Any> = M extends Rpc.Any
  ? [Rpc.Error<M>] extends [never]
    ? never
    : M
  : never

/** The methods of a dialect that have none: notifications. */
export type NotificationOf<M extends Rpc.Any> = Exclude<M, RequestOf<M>>

/** What a handler gets besides the params. */
export interface ServerCall {
  /** Id of the request; absent for a notification. */
  readonly id?: RequestId
}

/**
 * Performs one call with one or more requests on the wire. Params and results are encoded values.
 * Each `send` uses an id of its own.
 */
export type Exchange = (
  params: unknown,
  send: (params: unknown) => Effect.Effect<unknown, JsonRpcError | ConnectionClosed>,
) => Effect.Effect<unknown, JsonRpcError | ConnectionClosed>

/** Options of a client. */
export interface ClientOptions<S extends Rpc.Any> {
  /**
   * Notification handlers run in order of arrival, one at a time, and nothing more is read
   * meanwhile: a slow handler slows the server down (L6), and when a request returns, the handlers
   * of all notifications before its response have completed. Such a handler must therefore not wait
   * for a request of the same client. Request handlers run concurrently, each in its own fiber.
   */
  readonly handlers?: Partial<Handlers<S, ServerCall>>
  /** How the dialect cancels a request. Without it an interrupted request is only forgotten. */
  readonly cancel?: Cancel
  /**
   * Largest number of the server's requests that are handled at the same time; further ones get an
   * error. Default 64, because each waits for a person or a tool.
   */
  readonly maxServerRequests?: number
  /** How a call is performed. Default: one request and its response. */
  readonly exchange?: Exchange
}

/** Options of one request. */
export interface RequestOptions {
  /** The id to use instead of the next number. Must not be in flight. */
  readonly id?: RequestId
  /** False: interruption sends no cancellation, for methods that forbid it. */
  readonly cancellable?: boolean
  /** Called with the encoded result when it is read, before any later message is handled. */
  readonly onResult?: (result: unknown) => void
}

/** A client of a dialect with the methods `C`. */
export interface Client<C extends Rpc.Any> {
  /**
   * Sends the request and waits for its response. Fails with the server's `JsonRpcError`, or with
   * one of code -32602 when the params do not fit their schema, -32600 when the id is in use,
   * -32603 when the result does not fit its schema. Interruption cancels the request at the server.
   */
  readonly request: <M extends RequestOf<C>>(
    method: M,
    params: Params<M>,
    options?: RequestOptions,
  ) => Effect.Effect<ResultOf<M>, JsonRpcError | ConnectionClosed>
  /**
   * Resolves when the connection has accepted the notification. Fails like `request` when the
   * params do not fit.
   */
  readonly notify: <M extends NotificationOf<C>>(
    method: M,
    params: Params<M>,
  ) => Effect.Effect<void, JsonRpcError | ConnectionClosed>
  /** Resolves at the end of the input. */
  readonly closed: Effect.Effect<void>
}

interface Answer {
  readonly done: Deferred.Deferred<unknown, JsonRpcError | ConnectionClosed>
  readonly onResult: RequestOptions["onResult"]
}

const misfit = (code: number, what: string, method: Method, problem: string) =>
  new JsonRpcError({ code, message: `invalid ${what} of \`${method._tag}\`: ${problem}` })

const encodeParams = (method: Method, params: unknown) =>
  Result.mapError(codecOf(method).encodeParams(params), (error) =>
    misfit(ErrorCode.invalidParams, "params", method, error.message),
  )

const decodeResult = (method: Method, result: unknown) =>
  Result.mapError(codecOf(method).decodeResult(result), (error) =>
    misfit(ErrorCode.internalError, "result", method, error.message),
  )

/** Log message for a frame without a text. */
const unreadable = (frame: Exclude<Frame, { readonly _tag: "Text" }>): string =>
  frame._tag === "TooLong"
    ? `skipped a line of ${frame.bytes} bytes from the server, at most ${frame.maxBytes} are read`
    : `skipped a line of ${frame.bytes} bytes from the server that is not UTF-8`

/** Creates a client, which reads the connection until the input or the scope ends. */
export const make = <C extends Method, S extends Method>(
  dialect: Dialect<C, S>,
  connection: Connection,
  options: ClientOptions<S> = {},
): Effect.Effect<Client<C>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const pending = PendingRequests.make<Answer>()
    const closed = Deferred.makeUnsafe<void>()
    const calls = ServerCalls.make({
      group: dialect.serverToClient,
      handlers: options.handlers ?? {},
      maxRequests: options.maxServerRequests ?? 64,
      send: (text) => connection.send([text]),
      scope,
    })
    let nextId = 0
    let ended: ConnectionClosed | undefined

    const register = (answer: Answer, wanted: RequestId | undefined): RequestId | undefined => {
      if (wanted !== undefined) return pending.add(wanted, answer) ? wanted : undefined
      while (!pending.add(nextId, answer)) nextId++
      return nextId++
    }

    // A response removes the id. If it is still there, the request was interrupted or could not be
    // sent.
    const forget = (id: RequestId, answer: Answer, cancellable: boolean) =>
      Effect.suspend(() => {
        if (pending.get(id) !== answer) return Effect.void
        pending.take(id)
        if (!cancellable || options.cancel === undefined) return Effect.void
        // Runs in its own fiber, because an interruption must not wait for a server that does not
        // read.
        // A failure means that the connection is gone, and the request with it.
        return connection
          .send([options.cancel.text(id)])
          .pipe(Effect.ignore, Effect.forkIn(scope, { startImmediately: true }), Effect.asVoid)
      })

    const exchange: Exchange = options.exchange ?? ((params, send) => send(params))

    const sendOne = (method: Method, params: unknown, how: RequestOptions) =>
      Effect.suspend((): Effect.Effect<unknown, JsonRpcError | ConnectionClosed> => {
        if (ended !== undefined) return Effect.fail(ended)
        const answer: Answer = { done: Deferred.makeUnsafe(), onResult: how.onResult }
        const id = register(answer, how.id)
        if (id === undefined) {
          const message = `request id ${JSON.stringify(how.id)} is already in flight`
          return Effect.fail(new JsonRpcError({ code: ErrorCode.invalidRequest, message }))
        }
        return connection
          .send([requestText(id, method._tag, params)])
          .pipe(
            Effect.andThen(Deferred.await(answer.done)),
            Effect.ensuring(forget(id, answer, how.cancellable !== false)),
          )
      })

    const request = (method: Method, params: unknown, how: RequestOptions = {}) =>
      Effect.suspend((): Effect.Effect<unknown, JsonRpcError | ConnectionClosed> => {
        if (ended !== undefined) return Effect.fail(ended)
        const encoded = encodeParams(method, params)
        if (Result.isFailure(encoded)) return Effect.fail(encoded.failure)
        const { id: _, ...later } = how
        let next: RequestOptions = how
        const send = (given: unknown) =>
          Effect.suspend(() => {
            const mine = next
            next = later
            return sendOne(method, given, mine)
          })
        return Effect.flatMap(exchange(encoded.success, send), (result) =>
          Effect.fromResult(decodeResult(method, result)),
        )
      })

    const settle = (id: RequestId | null, exit: Exit.Exit<unknown, JsonRpcError>) => {
      const answer = id === null ? undefined : pending.take(id)
      if (answer !== undefined) {
        if (Exit.isSuccess(exit)) answer.onResult?.(exit.value)
        Deferred.doneUnsafe(answer.done, exit)
        return Effect.void
      }
      const name = id === null ? "no id" : `the unknown id ${requestIdText(id)}`
      return Effect.logDebug(`ignored a response with ${name}`)
    }

    const onMessage = (message: Message): Effect.Effect<void, ConnectionClosed> => {
      switch (message._tag) {
        case "Success":
          return settle(message.id, Exit.succeed(message.result))
        case "Failure":
          return settle(message.id, Exit.fail(message.error))
        case "Notification":
          if (message.method === options.cancel?.method) {
            const id = options.cancel.idOf(message.params)
            return id === undefined ? Effect.void : calls.cancel(id)
          }
          return calls.notification(message)
        case "Request":
          return calls.request(message)
        case "Invalid":
          return message.answerable && message.id !== null
            ? connection.send([failureText(message.id, message.error)])
            : Effect.logDebug(`ignored a message from the server: ${message.error.message}`)
      }
    }

    const onFrame = (frame: Frame): Effect.Effect<void, ConnectionClosed> => {
      if (frame._tag === "Text") return onMessage(parse(frame.text))
      const logged = Effect.logWarning(unreadable(frame))
      // A response that was discarded fails its request, which would otherwise wait forever.
      return frame._tag === "TooLong" ? Effect.andThen(logged, onMessage(overlong(frame))) : logged
    }

    const end = Effect.sync(() => {
      ended = new ConnectionClosed({ reason: "the connection to the server has ended" })
      const exit = Exit.fail(ended)
      for (const { done } of pending.drain()) Deferred.doneUnsafe(done, exit)
      calls.end()
      Deferred.doneUnsafe(closed, Exit.void)
    })

    yield* connection.receive.pipe(
      Effect.flatMap((frames) => Effect.forEach(frames, onFrame, { discard: true })),
      Effect.forever,
      // The end of the input, or the failure to send a response to a server that no longer reads.
      Effect.ignore,
      Effect.ensuring(end),
      Effect.forkIn(scope, { startImmediately: true }),
    )

    return {
      request,
      notify: (method: Method, params: unknown) =>
        Effect.flatMap(Effect.fromResult(encodeParams(method, params)), (encoded) =>
          connection.send([notificationText(method._tag, encoded)]),
        ),
      closed: Deferred.await(closed),
    } as Client<C>
  })
