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
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
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
import type * as RpcGroup from "effect/rpc/RpcGroup"
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
  Result.mapError(codecOf(method).encodeParamsExactly(params), (error) =>
    misfit(ErrorCode.invalidParams, "params", method, describeFaults("params", faultsOf(error))),
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

/** The default exchange. */
const singleRequest: Exchange = (params, send) => send(params)

class ConnectedClient<S extends Method> {
  private readonly connection: Connection
  private readonly options: ClientOptions<S>
  private readonly scope: Scope.Scope
  private readonly calls: ServerCalls.ServerCalls
  private readonly pending = PendingRequests.make<Answer>()
  private readonly ended = Deferred.makeUnsafe<void>()
  private nextId = 0
  /** The error of every request after the end of the connection. */
  private failure: ConnectionClosed | undefined

  constructor(
    group: RpcGroup.RpcGroup<S>,
    connection: Connection,
    options: ClientOptions<S>,
    scope: Scope.Scope,
  ) {
    this.connection = connection
    this.options = options
    this.scope = scope
    this.calls = ServerCalls.make({
      group,
      handlers: options.handlers ?? {},
      maxRequests: options.maxServerRequests ?? 64,
      send: (text) => connection.send([text]),
      scope,
    })
  }

  get closed(): Effect.Effect<void> {
    return Deferred.await(this.ended)
  }

  /** Reads and handles messages until the end of the connection. */
  get readAll(): Effect.Effect<void> {
    return this.connection.receive.pipe(
      Effect.flatMap((frames) =>
        Effect.forEach(frames, (frame) => this.onFrame(frame), { discard: true }),
      ),
      Effect.forever,
      // The end of the input, or the failure to send a response to a server that no longer reads.
      Effect.ignore,
      Effect.andThen(this.connection.whyEnded ?? Effect.succeed(undefined)),
      Effect.flatMap((why) => Effect.sync(() => this.end(why))),
      // At the end of the scope, and after a defect: then there is no reason.
      Effect.ensuring(Effect.sync(() => this.end())),
    )
  }

  readonly request = (
    method: Method,
    params: unknown,
    how: RequestOptions = {},
  ): Effect.Effect<unknown, JsonRpcError | ConnectionClosed> =>
    Effect.suspend((): Effect.Effect<unknown, JsonRpcError | ConnectionClosed> => {
      if (this.failure !== undefined) return Effect.fail(this.failure)
      const encoded = encodeParams(method, params)
      if (Result.isFailure(encoded)) return Effect.fail(encoded.failure)
      const { id: _, ...later } = how
      let next: RequestOptions = how
      const send = (given: unknown) =>
        Effect.suspend(() => {
          const mine = next
          next = later
          return this.sendOne(method, given, mine)
        })
      const exchange = this.options.exchange ?? singleRequest
      return Effect.flatMap(exchange(encoded.success, send), (result) =>
        Effect.fromResult(decodeResult(method, result)),
      )
    })

  readonly notify = (
    method: Method,
    params: unknown,
  ): Effect.Effect<void, JsonRpcError | ConnectionClosed> =>
    Effect.flatMap(Effect.fromResult(encodeParams(method, params)), (encoded) =>
      this.connection.send([notificationText(method._tag, encoded)]),
    )

  /** Sends one request on the wire and waits for its response. */
  private sendOne(
    method: Method,
    params: unknown,
    how: RequestOptions,
  ): Effect.Effect<unknown, JsonRpcError | ConnectionClosed> {
    return Effect.suspend((): Effect.Effect<unknown, JsonRpcError | ConnectionClosed> => {
      if (this.failure !== undefined) return Effect.fail(this.failure)
      const answer: Answer = { done: Deferred.makeUnsafe(), onResult: how.onResult }
      const id = this.register(answer, how.id)
      if (id === undefined) {
        const message = `request id ${JSON.stringify(how.id)} is already in flight`
        return Effect.fail(new JsonRpcError({ code: ErrorCode.invalidRequest, message }))
      }
      return this.sendText(requestText(id, method._tag, params)).pipe(
        Effect.andThen(Deferred.await(answer.done)),
        Effect.ensuring(this.forget(id, answer, how.cancellable !== false)),
      )
    })
  }

  /** Sends a text. Where the transport knows why the server is gone, a failure has that reason. */
  private sendText(text: string): Effect.Effect<void, ConnectionClosed> {
    const sending = this.connection.send([text])
    if (this.connection.whyEnded === undefined) return sending
    // The input ends as well when the server is gone.
    return Effect.catch(sending, (error) =>
      Effect.flatMap(this.closed, () => Effect.fail(this.failure ?? error)),
    )
  }

  /** Adds a request in flight. Undefined when the wanted id is taken. */
  private register(answer: Answer, wanted: RequestId | undefined): RequestId | undefined {
    if (wanted !== undefined) return this.pending.add(wanted, answer) ? wanted : undefined
    while (!this.pending.add(this.nextId, answer)) this.nextId++
    return this.nextId++
  }

  /** Removes a request that got no response, and cancels it at the server. */
  private forget(id: RequestId, answer: Answer, cancellable: boolean): Effect.Effect<void> {
    return Effect.suspend(() => {
      // A response removes the id. If it is still there, the request was interrupted or could not be sent.
      if (this.pending.get(id) !== answer) return Effect.void
      this.pending.take(id)
      const { cancel } = this.options
      if (!cancellable || cancel === undefined) return Effect.void
      // Runs in its own fiber, because an interruption must not wait for a server that does not read.
      // A failure means that the connection is gone, and the request with it.
      return this.connection
        .send([cancel.text(id)])
        .pipe(Effect.ignore, Effect.forkIn(this.scope, { startImmediately: true }), Effect.asVoid)
    })
  }

  /** Completes a request with its response. */
  private complete(
    id: RequestId | null,
    exit: Exit.Exit<unknown, JsonRpcError>,
  ): Effect.Effect<void> {
    const answer = id === null ? undefined : this.pending.take(id)
    if (answer !== undefined) {
      if (Exit.isSuccess(exit)) answer.onResult?.(exit.value)
      Deferred.doneUnsafe(answer.done, exit)
      return Effect.void
    }
    const name = id === null ? "no id" : `the unknown id ${requestIdText(id)}`
    return Effect.logDebug(`ignored a response with ${name}`)
  }

  private onMessage(message: Message): Effect.Effect<void, ConnectionClosed> {
    switch (message._tag) {
      case "Success":
        return this.complete(message.id, Exit.succeed(message.result))
      case "Failure":
        return this.complete(message.id, Exit.fail(message.error))
      case "Notification":
        if (message.method === this.options.cancel?.method) {
          const id = this.options.cancel.idOf(message.params)
          return id === undefined ? Effect.void : this.calls.cancel(id)
        }
        return this.calls.notification(message)
      case "Request":
        return this.calls.request(message)
      case "Invalid":
        return message.answerable && message.id !== null
          ? this.connection.send([failureText(message.id, message.error)])
          : Effect.logDebug(`ignored a message from the server: ${message.error.message}`)
    }
  }

  private onFrame(frame: Frame): Effect.Effect<void, ConnectionClosed> {
    if (frame._tag === "Text") return this.onMessage(parse(frame.text))
    const logged = Effect.logWarning(unreadable(frame))
    // A response that was discarded fails its request, which would otherwise wait forever.
    return frame._tag === "TooLong"
      ? Effect.andThen(logged, this.onMessage(overlong(frame)))
      : logged
  }

  private end(why?: string): void {
    if (this.failure !== undefined) return
    const reason = "the connection to the server has ended"
    this.failure = new ConnectionClosed({
      reason: why === undefined ? reason : `${reason}: ${why}`,
    })
    const exit = Exit.fail(this.failure)
    for (const { done } of this.pending.drain()) Deferred.doneUnsafe(done, exit)
    this.calls.end()
    Deferred.doneUnsafe(this.ended, Exit.void)
  }
}

/** Creates a client, which reads the connection until the input or the scope ends. */
export const make = <C extends Method, S extends Method>(
  dialect: Dialect<C, S>,
  connection: Connection,
  options: ClientOptions<S> = {},
): Effect.Effect<Client<C>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const client = new ConnectedClient(dialect.serverToClient, connection, options, scope)
    yield* Effect.forkIn(client.readAll, scope, { startImmediately: true })
    const { closed, notify, request } = client
    return { closed, notify, request } as Client<C>
  })
