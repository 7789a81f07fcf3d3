/**
 * The requests that this server sends to the peer: their ids, their responses, and their end with the connection (L7).
 */
import { type Connection, ConnectionClosed, type SendOptions } from "@colloquy/protocol/Connection"
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
import {
  ErrorCode,
  JsonRpcError,
  type MessageForm,
  notificationText,
  type RequestId,
  requestText,
} from "@colloquy/protocol/JsonRpc"
import { type Codec, codecOf, type Method } from "@colloquy/protocol/Method"
import * as Pending from "@colloquy/protocol/PendingRequests"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** A request that has no response yet. */
interface Asked {
  readonly codec: Codec
  readonly reply: Deferred.Deferred<unknown, JsonRpcError | ConnectionClosed>
}

/** The requests of the server that wait for a response of the client. */
export interface Outgoing {
  /**
   * Sends a request and waits for its response. Ids count up from 1. The original starts at 0, but the official
   * clients 1.x ignore the cancellation of a request 0. Interrupting the effect withdraws the request.
   *
   * @param related the request of the peer that this one belongs to, if any
   * @param sent gets the id of the request before it is sent
   */
  readonly ask: (
    method: Method,
    params: unknown,
    related?: () => SendOptions | undefined,
    sent?: (id: RequestId) => void,
  ) => Effect.Effect<unknown, JsonRpcError | ConnectionClosed>
  /** Completes the request that a response belongs to. A response that matches no pending request is ignored. */
  readonly settle: (
    id: RequestId | null,
    answer: Exit.Exit<unknown, JsonRpcError>,
  ) => Effect.Effect<void>
  /** Fails the request with this id, whose response has neither result nor error. Undefined if none is pending. */
  readonly settleEmpty: (id: RequestId | null) => Effect.Effect<void> | undefined
  /**
   * Ends all pending requests, and all later ones, with `ConnectionClosed`, because no response can arrive any more.
   */
  readonly close: Effect.Effect<void>
}

/** The failure of a request whose response cannot be read. The peer that responded gets no error about it. */
export class UnusableResponse extends JsonRpcError {}

const unusable = (problem: string): UnusableResponse =>
  new UnusableResponse({
    code: ErrorCode.internalError,
    message: `unusable response: ${problem}`,
  })

/** The texts of the notifications, in order, and the faults of those that cannot be encoded, which are left out. */
export const notificationTexts = (
  method: Method,
  params: ReadonlyArray<unknown>,
  form: MessageForm = "2.0",
): { readonly texts: ReadonlyArray<string>; readonly faults: ReadonlyArray<unknown> } => {
  const { encodeParams } = codecOf(method)
  const texts: Array<string> = []
  const faults: Array<unknown> = []
  for (const one of params) {
    try {
      const encoded = encodeParams(one)
      if (encoded._tag === "Failure") faults.push(encoded.failure)
      else texts.push(notificationText(method._tag, encoded.success, form))
    } catch (defect) {
      // A schema may throw, and JSON has neither circles nor big integers.
      faults.push(defect)
    }
  }
  return { texts, faults }
}

const ended = () => new ConnectionClosed({ reason: "the connection has ended" })

const replyOf = (
  codec: Codec,
  answer: Exit.Exit<unknown, JsonRpcError>,
): Exit.Exit<unknown, JsonRpcError> => {
  if (Exit.isFailure(answer)) return answer
  const decoded = codec.decodeResult(answer.value)
  return decoded._tag === "Success"
    ? Exit.succeed(decoded.success)
    : Exit.fail(unusable(describeFaults("result", faultsOf(decoded.failure))))
}

/**
 * Creates the outgoing requests of one connection.
 *
 * @param withdraw notifies the peer that a request needs no response any more
 * @param form the form of the messages to the peer; default: always "2.0"
 */
export const make = (
  send: Connection["send"],
  withdraw: (
    id: RequestId,
    related: (() => SendOptions | undefined) | undefined,
  ) => Effect.Effect<void, ConnectionClosed>,
  form: () => MessageForm = () => "2.0",
): Outgoing => {
  const open = Pending.make<Asked>()
  let nextId = 1
  let closed = false

  const asking = function* (
    method: Method,
    params: unknown,
    related: (() => SendOptions | undefined) | undefined,
    sent: ((id: RequestId) => void) | undefined,
  ): Effect.fn.Return<unknown, JsonRpcError | ConnectionClosed> {
    if (closed) return yield* ended()
    const codec = codecOf(method)
    const encoded = codec.encodeParams(params)
    if (encoded._tag === "Failure") return yield* Effect.die(encoded.failure)
    const id = nextId++
    const reply = yield* Deferred.make<unknown, JsonRpcError | ConnectionClosed>()
    open.add(id, { codec, reply })
    sent?.(id)
    return yield* send([requestText(id, method._tag, encoded.success, form())], related?.()).pipe(
      Effect.andThen(Deferred.await(reply)),
      Effect.onInterrupt(() =>
        open.take(id) === undefined
          ? Effect.void
          : // In a separate fiber: an interruption must not wait for a peer that does not read.
            withdraw(id, related).pipe(
              Effect.catch(({ reason }) => Effect.logDebug(`request not withdrawn: ${reason}`)),
              Effect.forkDetach({ startImmediately: true }),
            ),
      ),
      Effect.ensuring(Effect.sync(() => open.take(id))),
    )
  }

  const ask: Outgoing["ask"] = (method, params, related, sent) =>
    Effect.gen(() => asking(method, params, related, sent))

  const settle: Outgoing["settle"] = (id, answer) =>
    Effect.suspend(() => {
      const asked = id === null ? undefined : open.take(id)
      if (asked === undefined) return Effect.logDebug("a response to no pending request")
      // Completed even after a defect: otherwise the caller would wait forever for a response that has arrived.
      return Effect.suspend(() => Deferred.done(asked.reply, replyOf(asked.codec, answer))).pipe(
        Effect.catchDefect((defect) =>
          Effect.andThen(
            Effect.logError("a response could not be read", defect),
            Deferred.fail(asked.reply, unusable("it could not be read")),
          ),
        ),
        Effect.asVoid,
      )
    })

  return {
    ask,
    settle,
    settleEmpty: (id) =>
      id === null || open.get(id) === undefined
        ? undefined
        : settle(id, Exit.fail(unusable("it has neither `result` nor `error`"))),
    close: Effect.suspend(() => {
      closed = true
      return Effect.forEach(open.drain(), ({ reply }) => Deferred.fail(reply, ended()), {
        discard: true,
      })
    }),
  }
}
