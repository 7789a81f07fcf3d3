/**
 * The typed client of any dialect over any connection: requests with their answers, notifications, and the handlers of
 * what the server asks or tells.
 *
 * Owns the ids, the table of requests in flight and the reading of the connection; knows no method by name and never
 * ends the connection. What cannot be read is logged and harms nothing else (L13); every request of the server gets
 * one answer unless it is cancelled (L1).
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

/** The methods of a dialect that are answered. */
export type RequestOf<M extends Rpc.Any> = M extends Rpc.Any
  ? [Rpc.Error<M>] extends [never]
    ? never
    : M
  : never

/** The methods that are not. */
export type NotificationOf<M extends Rpc.Any> = Exclude<M, RequestOf<M>>

/** What a handler is told beside the params. */
export interface ServerCall {
  /** Absent for a notification. */
  readonly id?: RequestId
}

/**
 * What one request comes to, in as many requests on the wire as it takes: params and result are as they are there. Each
 * `send` has an id of its own.
 */
export type Exchange = (
  params: unknown,
  send: (params: unknown) => Effect.Effect<unknown, JsonRpcError | ConnectionClosed>,
) => Effect.Effect<unknown, JsonRpcError | ConnectionClosed>

export interface ClientOptions<S extends Rpc.Any> {
  /**
   * Notifications run in order of arrival, one after the other, and nothing more is read meanwhile: a slow handler
   * slows the server (L6), and when a request returns the handlers of all notifications before its answer have run.
   * Such a handler must therefore not wait for a request of the same client. Requests run each in a fiber of its own.
   */
  readonly handlers?: Partial<Handlers<S, ServerCall>>
  /** How this dialect cancels a request. Without it an interrupted request is only forgotten. */
  readonly cancel?: Cancel
  /** Requests of the server handled at the same time; more get an error. Default 64: each waits for a person or a tool. */
  readonly maxServerRequests?: number
  /** Default: one request, and its answer. */
  readonly exchange?: Exchange
}

export interface RequestOptions {
  /** Instead of the next number. Must not be in flight. */
  readonly id?: RequestId
  /** False: interruption sends no cancel notification, for methods that forbid one. */
  readonly cancellable?: boolean
  /** Called with the result as it is on the wire when it is read: before anything that follows it is handled. */
  readonly onResult?: (result: unknown) => void
}

export interface Client<C extends Rpc.Any> {
  /**
   * Sends the request and waits for its answer. Fails with the server's `JsonRpcError`, with one of code -32602 when
   * the params do not fit their schema, -32600 when the id is in use, -32603 when the result does not fit.
   * Interruption cancels the request at the server.
   */
  readonly request: <M extends RequestOf<C>>(
    method: M,
    params: Params<M>,
    options?: RequestOptions,
  ) => Effect.Effect<ResultOf<M>, JsonRpcError | ConnectionClosed>
  /** Returns when the connection has accepted it; fails like `request` on bad params. */
  readonly notify: <M extends NotificationOf<C>>(
    method: M,
    params: Params<M>,
  ) => Effect.Effect<void, JsonRpcError | ConnectionClosed>
  /** Returns at the end of the input. */
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

/** Why a frame holds no text. */
const unreadable = (frame: Exclude<Frame, { readonly _tag: "Text" }>): string =>
  frame._tag === "TooLong"
    ? `skipped a line of ${frame.bytes} bytes from the server, at most ${frame.maxBytes} are read`
    : `skipped a line of ${frame.bytes} bytes from the server that is not UTF-8`

/** The client, reading the connection until the input or the scope ends. */
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

    // An answer takes the id; what is left here was interrupted, or never sent over a connection that is gone.
    const forget = (id: RequestId, answer: Answer, cancellable: boolean) =>
      Effect.suspend(() => {
        if (pending.get(id) !== answer) return Effect.void
        pending.take(id)
        if (!cancellable || options.cancel === undefined) return Effect.void
        // In a fiber of its own: an interruption must not wait for a server that does not read.
        // A failure means that there is no server left to tell.
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
      // A response that was discarded fails its request, which would wait for ever otherwise.
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
      // The end of the input, or a server that no longer reads the answers it asked for.
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
