/**
 * The JSON-RPC state of one connection: reads frames, runs one fiber per request, answers, notifies, asks back,
 * and drains at end of input. It knows no method; a dialect's groups and handlers are given to it.
 *
 * Keeps L1 with `InFlight` (one response per request), L9 (end of input starts a shutdown that ends within its
 * bound) and L13 (no input kills it, every bad one that can be answered is).
 */
import type { Connection, ConnectionClosed, Frame } from "@colloquy/protocol/Connection"
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
import {
  ErrorCode,
  failureText,
  idInUse,
  type Invalid,
  JsonRpcError,
  maxShortLength,
  type Message,
  noBatches,
  overlong,
  parseFrame,
  type Request,
  type RequestId,
  unreadable,
} from "@colloquy/protocol/JsonRpc"
import {
  codecOf,
  type Handlers,
  type Method,
  methodsOf,
  type Params,
  type ResultOf,
} from "@colloquy/protocol/Method"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Rpc from "effect/rpc/Rpc"
import type * as RpcGroup from "effect/rpc/RpcGroup"
import type * as Scope from "effect/Scope"
import { AnswerGate, type RequestGate } from "./AnswerGate.ts"
import { make as makeAnswers } from "./Answers.ts"
import { type Batch, make as makeBatch, type Slot } from "./Batch.ts"
import { make as makeInFlight } from "./InFlight.ts"
import { make as makeOutgoing, notificationTexts } from "./Outgoing.ts"
import { internalText, responseText, unidentifiedText } from "./ResponseText.ts"
import { methodNotFound, type Route } from "./Route.ts"
import { untilEnded } from "./UntilEnded.ts"

/** What a handler can do with the other side of its connection. */
export interface PeerControl {
  /** Sends notifications in order; waits while the other side does not read. */
  readonly notify: <M extends Rpc.Any>(
    method: M,
    params: ReadonlyArray<Params<M>>,
  ) => Effect.Effect<void, ConnectionClosed>
  /** Asks the other side. Fails with its error, or with `ConnectionClosed` when the connection ends first. */
  readonly request: <M extends Rpc.Any>(
    method: M,
    params: Params<M>,
  ) => Effect.Effect<ResultOf<M>, JsonRpcError | ConnectionClosed>
  /**
   * The other side no longer wants what that request gives: it gets no answer, or this one; unknown and finished ids are
   * ignored.
   */
  readonly cancel: (id: RequestId, answer?: JsonRpcError) => Effect.Effect<void>
  /** Returns at the end of input: nobody will come for what has no end of its own. */
  readonly ended?: Effect.Effect<void>
  /**
   * At the end of input this is waited for once the requests are answered, within what is left of the shutdown grace, and
   * not when the connection breaks. Given twice it counts once.
   */
  readonly outlast?: (work: Effect.Effect<void>) => void
  /** Waits while a request whose response is not accepted yet holds this key (`AnswerGate`). */
  readonly passed: (key: string) => Effect.Effect<void>
}

/** Who calls a handler. */
export interface Caller {
  readonly peer: PeerControl
  /** Absent for notifications. */
  readonly requestId?: RequestId
  /** Of a request: see `AnswerGate` (L2). */
  readonly afterAnswer?: RequestGate["afterAnswer"]
  /** Of a request: notifications under this key wait for its response (`AnswerGate.hold`). */
  readonly hold?: RequestGate["hold"]
  /**
   * Of a request: a notification was or will be sent that its sender can use only before it has the response. The response
   * is then written apart from everything that was sent before (`Connection.apart`).
   */
  readonly separate?: () => void
}

export interface PeerOptions<L extends Rpc.Any> {
  readonly connection: Connection
  /** What the other side may call. */
  readonly local: RpcGroup.RpcGroup<L>
  /** Of those that `route` does not serve. */
  readonly handlers: Partial<Handlers<L, Caller>>
  /** Tells the other side that a request of ours no longer needs an answer. */
  readonly withdraw: (peer: PeerControl, id: RequestId) => Effect.Effect<void, ConnectionClosed>
  /**
   * Requests served at once; one more is answered with an error. So many answers, and so many errors, wait for a slow
   * reader; then its requests wait too (L6). Default 1,024.
   */
  readonly maxInFlight?: number
  /** UTF-16 units of the requests that are served at once; no other begins while there are as many. Default 64 Mi. */
  readonly maxInFlightChars?: number
  /**
   * What serves a request instead of the table, or refuses it, or leaves it to the table. `batched`: it came with
   * others in an array.
   */
  readonly route?: (request: Request, batched: boolean) => Route | JsonRpcError | undefined
  /** Whether an array of messages is taken just now. Default: never. */
  readonly batches?: () => boolean
  /**
   * How long requests in flight, and what outlasts them, may go on after end of input. Default 500 ms: a client that closed
   * its end waits.
   */
  readonly shutdownGrace?: Duration.Input
}

export interface Peer {
  readonly control: PeerControl
  /** Serves until end of input, then drains. */
  readonly run: Effect.Effect<void>
}

/** What a slow reader may take for what is left for it: a pager, a script that works on each line. */
const flushBound = "5 seconds"

const rpcError = (code: number, message: string, data?: unknown) =>
  new JsonRpcError({ code, message, ...(data === undefined ? {} : { data }) })

/** Largest batch accepted: its responses are sent together, so the slowest delays all. */
const maxBatch = 128

const invalidRequest = (fault: string): Invalid => ({
  _tag: "Invalid",
  id: null,
  answerable: true,
  error: rpcError(ErrorCode.invalidRequest, `Invalid Request: ${fault}`),
})

/** Runs it to its end; a defect in it is logged and ends nothing else. */
const logDefect = (what: string, effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchDefect(effect, (defect) => Effect.logError(`${what} failed`, defect))

export const make = Effect.fnUntraced(function* <L extends Rpc.Any>(
  options: PeerOptions<L>,
): Effect.fn.Return<Peer, never, Scope.Scope> {
  const { connection, end } = untilEnded(options.connection)
  const maxInFlight = options.maxInFlight ?? 1024
  const maxInFlightChars = options.maxInFlightChars ?? 64 * 1024 * 1024
  let inFlightChars = 0
  const methods = methodsOf(options.local)
  const handlers = options.handlers as unknown as Readonly<Record<string, Route["handler"]>>
  const apart = connection.apart ?? Effect.void
  const inFlight = yield* makeInFlight(connection.send, apart)
  const answers = yield* makeAnswers(connection.send, maxInFlight)
  const outgoing = makeOutgoing(connection.send, (id) => options.withdraw(control, id))
  const fork = Effect.runForkWith(yield* Effect.context())

  /** Called where a fiber ends: what is thrown there would end the process. */
  const atEnd = (callback: () => void) => {
    try {
      callback()
    } catch (defect) {
      fork(Effect.logError("the end of a request failed", defect))
    }
  }

  const gate = new AnswerGate()
  const ended = Latch.makeUnsafe(false)
  const outlasting = new Set<Effect.Effect<void>>()
  const control: PeerControl = {
    notify: (method, params) =>
      Effect.suspend(() => {
        const definition = method as unknown as Method
        const { faults, texts } = notificationTexts(definition, params)
        const sent = texts.length === 0 ? Effect.void : connection.send(texts)
        return faults.length === 0
          ? sent
          : Effect.andThen(
              Effect.logError(`notification ${definition._tag} not sent`, ...faults),
              sent,
            )
      }),
    request: (method, params) => outgoing.ask(method as unknown as Method, params),
    cancel: (id, answer) => Effect.sync(() => inFlight.cancel(id, answer)),
    ended: ended.await,
    outlast: (work) => outlasting.add(work),
    passed: (key) => gate.passed(key),
  }

  const findMethod = (name: string, kind: "request" | "notification"): Route | undefined => {
    const method = methods.get(name)
    const handler = handlers[name]
    if (method === undefined || handler === undefined) return undefined
    const codec = codecOf(method)
    return codec.info.kind === kind ? { codec, handler } : undefined
  }

  /** The text of an error. Its id is null while a response with that id is due, which it could be taken for. */
  const failureOf = (id: RequestId | null, error: JsonRpcError): string =>
    id !== null && inFlight.isOwed(id) ? unidentifiedText(id, error) : failureText(id, error)

  const limitFault = () => {
    const limit =
      inFlight.running >= maxInFlight
        ? `${maxInFlight} requests`
        : inFlightChars >= maxInFlightChars
          ? `${maxInFlightChars} characters of requests`
          : undefined
    return limit === undefined
      ? undefined
      : rpcError(ErrorCode.serverError, `more than ${limit} in flight`)
  }

  /**
   * @param chars of its text
   * @param slot the place of its answer among those of a batch
   */
  const onRequest = (request: Request, chars: number, slot?: Slot): Effect.Effect<void> => {
    const { id } = request
    const refuse = (error: JsonRpcError) => (slot?.put ?? answers.say)(failureOf(id, error))
    if (inFlight.has(id)) return refuse(idInUse(id))
    const routed = options.route?.(request, slot !== undefined)
    const found = routed ?? findMethod(request.method, "request")
    if (found === undefined) return refuse(methodNotFound(request.method))
    if (found instanceof JsonRpcError) return refuse(found)
    const refused = limitFault()
    if (refused !== undefined) return refuse(refused)
    const { codec, handler } = found
    const params = codec.decodeParams(request.params)
    if (params._tag === "Failure") {
      const issues = faultsOf(params.failure)
      const fault = describeFaults("params", issues)
      return refuse(
        found.badParams?.(fault, issues) ??
          rpcError(ErrorCode.invalidParams, `Invalid params: ${fault}`, { issues }),
      )
    }
    const own = gate.request()
    const { afterAnswer, hold } = own
    const ends = found.begins?.(id)
    inFlightChars += chars
    let isSeparate = false
    const separate = () => {
      isSeparate = true
    }
    const caller: Caller = { peer: control, requestId: id, afterAnswer, hold, separate }
    const work = responseText(
      id,
      codec,
      Effect.suspend(() => handler(params.success, caller)),
    )
    const cancellable = codec.info.cancellable !== false
    const start = inFlight.start(
      id,
      work,
      cancellable,
      () => own.accepted(),
      slot,
      (sent) => {
        inFlightChars -= chars
        atEnd(() => own.ended(sent))
        atEnd(() => ends?.())
      },
      () => (isSeparate ? apart : undefined),
    )
    return inFlight.hasRoom(maxInFlight) ? start : Effect.andThen(inFlight.room(maxInFlight), start)
  }

  const onNotification = (name: string, raw: unknown): Effect.Effect<void> => {
    const found = findMethod(name, "notification")
    if (found === undefined) return Effect.logDebug(`unknown notification ${name}`)
    const params = found.codec.decodeParams(raw)
    if (params._tag === "Failure") {
      const text = describeFaults("params", faultsOf(params.failure))
      return Effect.logWarning(`notification ${name} ignored: ${text}`)
    }
    return Effect.asVoid(found.handler(params.success, { peer: control })).pipe(
      Effect.catch((error) => Effect.logError(`notification ${name} failed`, error)),
    )
  }

  const onInvalid = (invalid: Invalid, slot?: Slot) =>
    Effect.andThen(
      Effect.logWarning(`unusable message: ${invalid.error.message}`),
      invalid.answerable
        ? (slot?.put ?? answers.say)(failureOf(invalid.id, invalid.error))
        : Effect.void,
    )

  const onMessage = (message: Message, chars: number, batch?: Batch): Effect.Effect<void> => {
    switch (message._tag) {
      case "Request": {
        const slot = batch?.slot()
        return Effect.suspend(() => onRequest(message, chars, slot)).pipe(
          Effect.catchDefect((defect) =>
            Effect.andThen(
              Effect.logError("a request could not be served", defect),
              (slot?.put ?? answers.say)(
                failureOf(message.id, rpcError(ErrorCode.internalError, "Internal error")),
              ),
            ),
          ),
        )
      }
      case "Notification":
        return logDefect(
          `notification ${message.method.slice(0, maxShortLength)}`,
          Effect.suspend(() => onNotification(message.method, message.params)),
        )
      case "Success":
        return outgoing.settle(message.id, Exit.succeed(message.result))
      case "Failure": {
        const settled = outgoing.settle(message.id, Exit.fail(message.error))
        return message.fault === undefined
          ? settled
          : Effect.andThen(Effect.logWarning(`unusable response: ${message.fault}`), settled)
      }
      case "Invalid":
        return onInvalid(message, message.answerable ? batch?.slot() : undefined)
    }
  }

  const onBatch = (messages: ReadonlyArray<Message>, chars: number): Effect.Effect<void> => {
    if (options.batches?.() !== true) return onInvalid(noBatches())
    if (messages.length === 0) return onInvalid(invalidRequest("an empty batch"))
    const batch = makeBatch(answers)
    const each = Math.ceil(chars / messages.length)
    const refused =
      messages.length > maxBatch
        ? invalidRequest(`a batch of ${messages.length} messages, the limit is ${maxBatch}`).error
        : undefined
    const onMember = (message: Message) => {
      if (refused === undefined) return onMessage(message, each, batch)
      // Nothing of it runs; but each request is answered, and each response ends the request that it belongs to.
      if (message._tag === "Request") return batch.slot().put(failureOf(message.id, refused))
      return message._tag === "Notification" ? Effect.void : onMessage(message, each, batch)
    }
    return Effect.andThen(Effect.forEach(messages, onMember, { discard: true }), batch.close)
  }

  const onText = (text: string): Effect.Effect<void> => {
    const read = parseFrame(text)
    return read._tag === "Batch"
      ? onBatch(read.messages, text.length)
      : onMessage(read, text.length)
  }

  const onFrame = (frame: Frame): Effect.Effect<void> => {
    switch (frame._tag) {
      case "Text":
        return onText(frame.text)
      case "TooLong":
        return onMessage(overlong(frame), 0)
      case "NotUtf8":
        return onInvalid(unreadable("Parse error: the line is not UTF-8"))
    }
  }

  /** A defect in the handling of one frame must not end the reading of the others. */
  const onEach = (frame: Frame): Effect.Effect<void> =>
    Effect.suspend(() => onFrame(frame)).pipe(
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("a message could not be read", defect),
          answers.say(internalText(null)),
        ),
      ),
    )

  const read: Effect.Effect<void> = Effect.matchEffect(connection.receive, {
    onSuccess: (frames) => Effect.andThen(Effect.forEach(frames, onEach, { discard: true }), read),
    onFailure: () => Effect.void,
  })

  const outlasted = Effect.raceFirst(
    Effect.suspend(() =>
      Effect.forEach(outlasting, (work) => logDefect("what outlasts the requests", work), {
        concurrency: "unbounded",
        discard: true,
      }),
    ),
    connection.broken ?? Effect.never,
  )

  const drain = Effect.andThen(ended.open, outgoing.close).pipe(
    Effect.andThen(inFlight.drain(options.shutdownGrace ?? "500 millis", outlasted)),
    Effect.andThen(
      Effect.timeoutOption(Effect.andThen(answers.settled, connection.flush), flushBound),
    ),
    Effect.andThen(end),
    Effect.asVoid,
  )

  return { control, run: Effect.andThen(read, drain) }
})
