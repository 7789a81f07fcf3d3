/**
 * The JSON-RPC state of one connection: reads frames, runs one fiber per request, sends responses, notifications and
 * requests, and drains at the end of input. It defines no method; the dialect passes its methods and handlers.
 *
 *     frame ── onFrame ── onText ──┬─ onMessage ──┬─ request ────── onRequest ── handler ──┬─ ended ── response
 *                                  │              │                     │                  └─ InFlight ── response
 *                                  └─ onBatch ────┤                     └── refuse ── Answers ── error
 *                                                 ├─ notification ─ onNotification ── handler
 *                                                 ├─ response ───── Outgoing (requests of this server)
 *                                                 └─ invalid ────── onInvalid ── Answers ── error
 *     end of input ── drain: InFlight within the grace, then what outlasts it, then flush
 *
 * Keeps L1 with `InFlight` (one response per request), L9 (the end of input starts a shutdown that ends within its
 * bound) and L13 (no input ends the peer, and every invalid message that can have a response gets one).
 */
import type { Frame } from "@colloquy/protocol/Connection"
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
import type * as Rpc from "effect/rpc/Rpc"
import type * as Scope from "effect/Scope"
import { AnswerGate } from "./AnswerGate.ts"
import { make as makeAnswers } from "./Answers.ts"
import { type Batch, make as makeBatch, type Slot } from "./Batch.ts"
import type { PeerControl } from "./Caller.ts"
import { Envelope } from "./Envelope.ts"
import { handledBy, respondNow } from "./ImmediateResponse.ts"
import { handleNotification, type NotificationHandler } from "./IncomingNotifications.ts"
import { make as makeInFlight } from "./InFlight.ts"
import { logDefect } from "./LogDefect.ts"
import { LazyLatch } from "./LazyLatch.ts"
import { make as makeOutgoing } from "./Outgoing.ts"
import { internalError, invalidRequest, rpcError } from "./PeerErrors.ts"
import type { PeerOptions } from "./PeerOptions.ts"
import { controlOf, type PeerParts } from "./PeerParts.ts"
import { Admission, defaultMaxInFlight } from "./peer/Admission.ts"
import { drain, type DrainedParts } from "./peer/Drain.ts"
import { internalText, responseText, unidentifiedText } from "./ResponseText.ts"
import { containing, type Rest } from "./Rest.ts"
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

/** Messages that are handled before other fibers get their turn, if none of them has to wait. */
const maxAtOnce = 128

/** Largest batch accepted: its responses are sent together, so the slowest delays all. */
const maxBatch = 128

type PeerContext = PeerParts & DrainedParts

class JsonRpcPeer<L extends Rpc.Any> implements Peer {
  readonly control: PeerControl
  private readonly parts: PeerContext
  private readonly options: PeerOptions<L>
  private readonly methods: ReturnType<typeof methodsOf>
  private readonly requests: Readonly<Record<string, Route["handler"] | undefined>>
  private readonly notifications: Readonly<Record<string, NotificationHandler | undefined>>
  private readonly admission: Admission

  constructor(options: PeerOptions<L>, parts: PeerContext) {
    this.options = options
    this.parts = parts
    this.control = controlOf(parts, () => undefined)
    this.methods = methodsOf(options.local)
    // The options have one table; the kind of a method determines which of the two types its handler has.
    this.requests = options.handlers as unknown as JsonRpcPeer<L>["requests"]
    this.notifications = options.handlers as unknown as JsonRpcPeer<L>["notifications"]
    this.admission = new Admission(parts.inFlight, options)
  }

  get run(): Effect.Effect<void> {
    return Effect.andThen(
      this.read,
      Effect.suspend(() => drain(this.parts, this.options)),
    )
  }

  private readonly read: Effect.Effect<void> = Effect.suspend(() =>
    Effect.matchEffect(this.parts.connection.receive, {
      onSuccess: (frames) => {
        this.parts.envelope.observe(frames)
        return Effect.andThen(this.onFrames(frames, 0), this.read)
      },
      onFailure: () => Effect.void,
    }),
  )

  /** Handles the frames from that index on, one after the other. */
  private onFrames(frames: ReadonlyArray<Frame>, from: number): Effect.Effect<void> {
    for (let at = from; at < frames.length; at++) {
      const frame = frames[at]
      const rest = frame === undefined ? undefined : this.onEach(frame)
      const pause = at - from === maxAtOnce ? Effect.yieldNow : undefined
      const next = rest ?? pause
      if (next !== undefined) return Effect.flatMap(next, () => this.onFrames(frames, at + 1))
    }
    return Effect.void
  }

  /** A defect in the handling of one frame must not end the reading of the others. */
  private onEach(frame: Frame): Rest {
    return containing(
      () => this.onFrame(frame),
      (defect) =>
        Effect.andThen(
          Effect.logError("a message could not be read", defect),
          this.parts.answers.send(internalText(null, this.form)),
        ),
    )
  }

  private onFrame(frame: Frame): Rest {
    switch (frame._tag) {
      case "Text":
        return this.onText(frame.text)
      case "TooLong":
        return this.onMessage(overlong(frame), 0)
      case "NotUtf8":
        return this.onInvalid(unreadable("Parse error: the message is not UTF-8"))
    }
  }

  private onText(text: string): Rest {
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
      return message._tag === "Notification" ? undefined : this.onMessage(message, each, batch)
    }
    return Effect.andThen(
      Effect.forEach(messages, (message) => onMember(message) ?? Effect.void, { discard: true }),
      batch.close,
    )
  }

  /** @param chars UTF-16 units of its text */
  private onMessage(message: Message, chars: number, batch?: Batch): Rest {
    const { outgoing } = this.parts
    switch (message._tag) {
      case "Request": {
        const slot = batch?.slot(message.id)
        return containing(
          () => this.onRequest(message, chars, slot),
          (defect) =>
            Effect.andThen(
              Effect.logError("a request could not be served", defect),
              this.refuse(message.id, internalError(), slot) ?? Effect.void,
            ),
        )
      }
      case "Notification":
        return logDefect(
          `notification ${message.method.slice(0, maxShortLength)}`,
          Effect.suspend(() =>
            handleNotification(
              message.method,
              message.params,
              this.methods.get(message.method),
              this.notifications[message.method],
              { peer: this.control },
            ),
          ),
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
  private onRequest(request: Request, chars: number, slot?: Slot): Rest {
    const { id } = request
    const { inFlight } = this.parts
    const refuse = (error: JsonRpcError) => this.refuse(id, error, slot)
    if (inFlight.has(id)) return refuse(idInUse(id))
    const found =
      this.options.route?.(request, slot !== undefined) ?? this.requestRoute(request.method)
    if (found instanceof JsonRpcError) return refuse(found)
    const refused = this.admission.fault()
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
    const start = () => this.start(id, found, params.success, chars, slot)
    const room = this.admission.room()
    return room === undefined ? start() : Effect.flatMap(room, () => start() ?? Effect.void)
  }

  private start(
    id: RequestId,
    { begins, codec, handler }: Route,
    params: unknown,
    chars: number,
    slot: Slot | undefined,
  ): Rest {
    const ends = begins?.(id)
    this.admission.begin(chars)
    const served = new ServedRequest({
      parts: this.parts,
      id,
      cancellable: codec.info.cancellable !== false,
      slot,
      release: () => {
        this.admission.end(chars)
        ends?.()
      },
    })
    const handled = handledBy(() => handler(params, served))
    const { inFlight, sendNow } = this.parts
    if (slot === undefined && respondNow(sendNow, served, codec, handled, this.form)) {
      return undefined
    }
    served.work = responseText(id, codec, handled, this.form)
    return inFlight.start(served)
  }

  private onInvalid(invalid: Invalid, slot?: Slot): Effect.Effect<void> {
    const settled = invalid.mayBeResponse ? this.parts.outgoing.settleEmpty(invalid.id) : undefined
    return Effect.andThen(
      Effect.logWarning(`unusable message: ${invalid.error.message}`),
      settled ??
        (invalid.answerable ? this.refuse(invalid.id, invalid.error, slot) : undefined) ??
        Effect.void,
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

  private refuse(id: RequestId | null, error: JsonRpcError, slot: Slot | undefined): Rest {
    const { answers, sendNow } = this.parts
    const text = this.failureOf(id, error)
    if (slot !== undefined) return slot.put(text)
    const options = id === null ? {} : { relatedTo: id }
    return sendNow?.([text], options) === true ? undefined : answers.send(text, options)
  }

  /** The text of an error. Its id is null while a response with that id is due, for which it could be mistaken. */
  private failureOf(id: RequestId | null, error: JsonRpcError): string {
    return id !== null && this.parts.inFlight.isOwed(id)
      ? unidentifiedText(id, error, this.form)
      : failureText(id, error, this.form)
  }

  private get form() {
    return this.parts.envelope.form
  }
}

/** Creates the peer of one connection. Its work ends with the current scope. */
export const make = Effect.fnUntraced(function* <L extends Rpc.Any>(
  options: PeerOptions<L>,
): Effect.fn.Return<Peer, never, Scope.Scope> {
  const { connection, end } = untilEnded(options.connection)
  const { send, sendNow } = connection
  const apart = connection.apart ?? Effect.void
  const envelope = new Envelope(options.adaptsEnvelope === true)
  const form = () => envelope.form
  const fork = Effect.runForkWith(yield* Effect.context())
  const parts: PeerContext = {
    connection,
    end,
    send,
    sendNow,
    apart,
    envelope,
    inFlight: yield* makeInFlight({ send, sendNow, apart, form }),
    answers: yield* makeAnswers(send, options.maxInFlight ?? defaultMaxInFlight),
    outgoing: makeOutgoing(
      send,
      (id, related = () => undefined) => options.withdraw(controlOf(parts, related), id),
      form,
    ),
    gate: new AnswerGate(),
    ended: new LazyLatch(false),
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
