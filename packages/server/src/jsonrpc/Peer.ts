/**
 * The JSON-RPC state of one connection: reads frames, runs one fiber per request, sends responses, notifications and
 * requests, and drains at the end of input. It defines no method; the dialect passes its methods and handlers.
 *
 *     frame ── onFrame ── onText ──┬─ onMessage ──┬─ request ────── onRequest ── InFlight ── handler ── response
 *                                  └─ onBatch ────┤                     └── refuse ── Answers ── error
 *                                                 ├─ notification ─ onNotification ── handler
 *                                                 ├─ response ───── Outgoing (requests of this server)
 *                                                 └─ invalid ────── onInvalid ── Answers ── error
 *     end of input ── drain: InFlight within the grace, then what outlasts it, then flush
 *
 * Keeps L1 with `InFlight` (one response per request), L9 (the end of input starts a shutdown that ends within its
 * bound) and L13 (no input ends the peer, and every invalid message that can have a response gets one).
 */
import type { Connection, Frame } from "@colloquy/protocol/Connection"
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
import { codecOf, methodsOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import { AnswerGate } from "./AnswerGate.ts"
import { type Answers, make as makeAnswers } from "./Answers.ts"
import { type Batch, make as makeBatch, type Slot } from "./Batch.ts"
import type { NotificationCaller, PeerControl } from "./Caller.ts"
import { Envelope } from "./Envelope.ts"
import { make as makeInFlight } from "./InFlight.ts"
import { logDefect } from "./LogDefect.ts"
import { make as makeOutgoing } from "./Outgoing.ts"
import type { PeerOptions } from "./PeerOptions.ts"
import { controlOf, type PeerParts } from "./PeerParts.ts"
import { internalText, responseText, unidentifiedText } from "./ResponseText.ts"
import { methodNotFound, type Route } from "./Route.ts"
import { ServedRequest } from "./ServedRequest.ts"
import { untilEnded } from "./UntilEnded.ts"

/** The JSON-RPC state of one connection. */
export interface Peer {
  /** Sends messages that belong to no request of the peer. */
  readonly control: PeerControl
  /** Serves until the end of input, then drains. */
  readonly run: Effect.Effect<void>
}

/** How long a slow reader, such as a pager or a script that works on each line, may take for the remaining messages. */
const flushBound = "5 seconds"

/** Largest batch accepted: its responses are sent together, so the slowest delays all. */
const maxBatch = 128

const rpcError = (code: number, message: string, data?: unknown) =>
  new JsonRpcError({ code, message, ...(data === undefined ? {} : { data }) })

const invalidRequest = (fault: string): Invalid => ({
  _tag: "Invalid",
  id: null,
  answerable: true,
  error: rpcError(ErrorCode.invalidRequest, `Invalid Request: ${fault}`),
})

/** The handler of a notification, whatever its params. */
type NotificationHandler = (
  params: unknown,
  caller: NotificationCaller,
) => Effect.Effect<unknown, unknown>

interface PeerContext extends PeerParts {
  readonly connection: Connection
  readonly answers: Answers
  /** Makes all later sends to the connection fail. */
  readonly end: Effect.Effect<void>
}

class JsonRpcPeer<L extends Rpc.Any> implements Peer {
  readonly control: PeerControl
  private readonly parts: PeerContext
  private readonly options: PeerOptions<L>
  private readonly methods: ReturnType<typeof methodsOf>
  private readonly requests: Readonly<Record<string, Route["handler"] | undefined>>
  private readonly notifications: Readonly<Record<string, NotificationHandler | undefined>>
  private readonly maxInFlight: number
  private readonly maxInFlightChars: number
  private inFlightChars = 0

  constructor(options: PeerOptions<L>, parts: PeerContext) {
    this.options = options
    this.parts = parts
    this.control = controlOf(parts, () => undefined)
    this.methods = methodsOf(options.local)
    // The options have one table; the kind of a method determines which of the two types its handler has.
    this.requests = options.handlers as unknown as JsonRpcPeer<L>["requests"]
    this.notifications = options.handlers as unknown as JsonRpcPeer<L>["notifications"]
    this.maxInFlight = options.maxInFlight ?? defaultMaxInFlight
    this.maxInFlightChars = options.maxInFlightChars ?? 64 * 1024 * 1024
  }

  get run(): Effect.Effect<void> {
    return Effect.andThen(this.read, this.drain)
  }

  private readonly read: Effect.Effect<void> = Effect.suspend(() =>
    Effect.matchEffect(this.parts.connection.receive, {
      onSuccess: (frames) => {
        this.parts.envelope.observe(frames)
        return Effect.andThen(Effect.forEach(frames, this.onEach, { discard: true }), this.read)
      },
      onFailure: () => Effect.void,
    }),
  )

  /** A defect in the handling of one frame must not end the reading of the others. */
  private readonly onEach = (frame: Frame): Effect.Effect<void> =>
    Effect.suspend(() => this.onFrame(frame)).pipe(
      Effect.catchDefect((defect) =>
        Effect.andThen(
          Effect.logError("a message could not be read", defect),
          this.parts.answers.send(internalText(null, this.form)),
        ),
      ),
    )

  private onFrame(frame: Frame): Effect.Effect<void> {
    switch (frame._tag) {
      case "Text":
        return this.onText(frame.text)
      case "TooLong":
        return this.onMessage(overlong(frame), 0)
      case "NotUtf8":
        return this.onInvalid(unreadable("Parse error: the line is not UTF-8"))
    }
  }

  private onText(text: string): Effect.Effect<void> {
    const read = parseFrame(text)
    return read._tag === "Batch"
      ? this.onBatch(read.messages, text.length)
      : this.onMessage(read, text.length)
  }

  private onBatch(messages: ReadonlyArray<Message>, chars: number): Effect.Effect<void> {
    if (this.options.batches?.() !== true) return this.onInvalid(noBatches())
    if (messages.length === 0) return this.onInvalid(invalidRequest("an empty batch"))
    const batch = makeBatch(this.parts.answers)
    const each = Math.ceil(chars / messages.length)
    const refused =
      messages.length > maxBatch
        ? invalidRequest(`a batch of ${messages.length} messages, the limit is ${maxBatch}`).error
        : undefined
    const onMember = (message: Message) => {
      if (refused === undefined) return this.onMessage(message, each, batch)
      // No request of the batch runs, but each gets an error. Responses in the batch still complete their requests.
      if (message._tag === "Request") {
        return batch.slot(message.id).put(this.failureOf(message.id, refused))
      }
      return message._tag === "Notification" ? Effect.void : this.onMessage(message, each, batch)
    }
    return Effect.andThen(Effect.forEach(messages, onMember, { discard: true }), batch.close)
  }

  /** @param chars UTF-16 units of its text */
  private onMessage(message: Message, chars: number, batch?: Batch): Effect.Effect<void> {
    const { outgoing } = this.parts
    switch (message._tag) {
      case "Request": {
        const slot = batch?.slot(message.id)
        return Effect.suspend(() => this.onRequest(message, chars, slot)).pipe(
          Effect.catchDefect((defect) =>
            Effect.andThen(
              Effect.logError("a request could not be served", defect),
              this.refuse(message.id, rpcError(ErrorCode.internalError, "Internal error"), slot),
            ),
          ),
        )
      }
      case "Notification":
        return logDefect(
          `notification ${message.method.slice(0, maxShortLength)}`,
          Effect.suspend(() => this.onNotification(message.method, message.params)),
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
        return this.onInvalid(message, message.answerable ? batch?.slot(message.id) : undefined)
    }
  }

  /**
   * @param chars UTF-16 units of its text
   * @param slot its place among the responses to a batch
   */
  private onRequest(request: Request, chars: number, slot?: Slot): Effect.Effect<void> {
    const { id } = request
    const { inFlight } = this.parts
    const refuse = (error: JsonRpcError) => this.refuse(id, error, slot)
    if (inFlight.has(id)) return refuse(idInUse(id))
    const found =
      this.options.route?.(request, slot !== undefined) ?? this.requestRoute(request.method)
    if (found instanceof JsonRpcError) return refuse(found)
    const refused = this.limitFault()
    if (refused !== undefined) return refuse(refused)
    const params = found.codec.decodeParams(request.params)
    if (params._tag === "Failure") {
      const issues = faultsOf(params.failure)
      const fault = describeFaults("params", issues)
      return refuse(
        found.badParams?.(fault, issues) ??
          rpcError(ErrorCode.invalidParams, `Invalid params: ${fault}`, { issues }),
      )
    }
    const start = this.start(id, found, params.success, chars, slot)
    return inFlight.hasRoom(this.maxInFlight)
      ? start
      : Effect.andThen(inFlight.room(this.maxInFlight), start)
  }

  private start(
    id: RequestId,
    { begins, codec, handler }: Route,
    params: unknown,
    chars: number,
    slot: Slot | undefined,
  ): Effect.Effect<void> {
    const ends = begins?.(id)
    this.inFlightChars += chars
    const served = new ServedRequest({
      parts: this.parts,
      id,
      cancellable: codec.info.cancellable !== false,
      slot,
      release: () => {
        this.inFlightChars -= chars
        ends?.()
      },
    })
    served.work = responseText(
      id,
      codec,
      Effect.suspend(() => handler(params, served)),
      this.form,
    )
    return this.parts.inFlight.start(served)
  }

  private onNotification(name: string, raw: unknown): Effect.Effect<void> {
    const method = this.methods.get(name)
    const handler = this.notifications[name]
    const codec = method === undefined ? undefined : codecOf(method)
    if (handler === undefined || codec?.info.kind !== "notification") {
      return Effect.logDebug(`unknown notification ${name}`)
    }
    const params = codec.decodeParams(raw)
    if (params._tag === "Failure") {
      const text = describeFaults("params", faultsOf(params.failure))
      return Effect.logWarning(`notification ${name} ignored: ${text}`)
    }
    return Effect.asVoid(handler(params.success, { peer: this.control })).pipe(
      Effect.catch((error) => Effect.logError(`notification ${name} failed`, error)),
    )
  }

  private onInvalid(invalid: Invalid, slot?: Slot): Effect.Effect<void> {
    const settled = invalid.mayBeResponse ? this.parts.outgoing.settleEmpty(invalid.id) : undefined
    return Effect.andThen(
      Effect.logWarning(`unusable message: ${invalid.error.message}`),
      settled ?? (invalid.answerable ? this.refuse(invalid.id, invalid.error, slot) : Effect.void),
    )
  }

  /** The route of a method in the table, or the error that there is none. */
  private requestRoute(name: string): Route | JsonRpcError {
    const method = this.methods.get(name)
    const handler = this.requests[name]
    if (method === undefined || handler === undefined) return methodNotFound(name)
    const codec = codecOf(method)
    return codec.info.kind === "request" ? { codec, handler } : methodNotFound(name)
  }

  private refuse(
    id: RequestId | null,
    error: JsonRpcError,
    slot: Slot | undefined,
  ): Effect.Effect<void> {
    const text = this.failureOf(id, error)
    if (slot !== undefined) return slot.put(text)
    return this.parts.answers.send(text, id === null ? {} : { relatedTo: id })
  }

  /** The text of an error. Its id is null while a response with that id is due, for which it could be mistaken. */
  private failureOf(id: RequestId | null, error: JsonRpcError): string {
    return id !== null && this.parts.inFlight.isOwed(id)
      ? unidentifiedText(id, error, this.form)
      : failureText(id, error, this.form)
  }

  private limitFault(): JsonRpcError | undefined {
    const limit =
      this.parts.inFlight.running >= this.maxInFlight
        ? `${this.maxInFlight} requests`
        : this.inFlightChars >= this.maxInFlightChars
          ? `${this.maxInFlightChars} characters of requests`
          : undefined
    return limit === undefined
      ? undefined
      : rpcError(ErrorCode.serverError, `more than ${limit} in flight`)
  }

  private get form() {
    return this.parts.envelope.form
  }

  private get drain(): Effect.Effect<void> {
    const { answers, connection, end, ended, inFlight, outgoing, outlasting } = this.parts
    const outlasted = Effect.raceFirst(
      Effect.suspend(() =>
        Effect.forEach(outlasting, (work) => logDefect("what outlasts the requests", work), {
          concurrency: "unbounded",
          discard: true,
        }),
      ),
      connection.broken ?? Effect.never,
    )
    return Effect.andThen(ended.open, outgoing.close).pipe(
      Effect.andThen(inFlight.drain(this.options.shutdownGrace ?? "500 millis", outlasted)),
      Effect.andThen(
        Effect.timeoutOption(Effect.andThen(answers.settled, connection.flush), flushBound),
      ),
      Effect.andThen(end),
      Effect.asVoid,
    )
  }
}

/** More requests than a client has in flight at once, and few enough that their state stays small. */
const defaultMaxInFlight = 1024

/** Creates the peer of one connection. Its work ends with the current scope. */
export const make = Effect.fnUntraced(function* <L extends Rpc.Any>(
  options: PeerOptions<L>,
): Effect.fn.Return<Peer, never, Scope.Scope> {
  const { connection, end } = untilEnded(options.connection)
  const { send } = connection
  const apart = connection.apart ?? Effect.void
  const envelope = new Envelope(options.adaptsEnvelope === true)
  const form = () => envelope.form
  const fork = Effect.runForkWith(yield* Effect.context())
  const parts: PeerContext = {
    connection,
    end,
    send,
    apart,
    envelope,
    inFlight: yield* makeInFlight({ send, apart, form }),
    answers: yield* makeAnswers(send, options.maxInFlight ?? defaultMaxInFlight),
    outgoing: makeOutgoing(
      send,
      (id, related = () => undefined) => options.withdraw(controlOf(parts, related), id),
      form,
    ),
    gate: new AnswerGate(),
    ended: Latch.makeUnsafe(false),
    outlasting: new Set(),
    atEnd: (callback) => {
      try {
        callback()
      } catch (defect) {
        fork(Effect.logError("the end of a request failed", defect))
      }
    },
  }
  return new JsonRpcPeer(options, parts)
})
