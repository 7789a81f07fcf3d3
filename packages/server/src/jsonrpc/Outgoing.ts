/** Requests of our own to the other side: their ids, their answers, and what becomes of them when it goes away. */
import { type Connection, ConnectionClosed } from "@colloquy/protocol/Connection"
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
import {
  ErrorCode,
  JsonRpcError,
  notificationText,
  type RequestId,
  requestText,
} from "@colloquy/protocol/JsonRpc"
import { type Codec, codecOf, type Method } from "@colloquy/protocol/Method"
import * as Pending from "@colloquy/protocol/PendingRequests"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

interface Asked {
  readonly codec: Codec
  readonly reply: Deferred.Deferred<unknown, JsonRpcError | ConnectionClosed>
}

export interface Outgoing {
  /**
   * Ids count up from 1, though the original's do from 0: the official clients 1.x take no withdrawal of a request 0.
   * Interrupting withdraws the request.
   */
  readonly ask: (
    method: Method,
    params: unknown,
  ) => Effect.Effect<unknown, JsonRpcError | ConnectionClosed>
  /** An answer arrived; one to nothing of ours is ignored. */
  readonly settle: (
    id: RequestId | null,
    answer: Exit.Exit<unknown, JsonRpcError>,
  ) => Effect.Effect<void>
  /** No answer will come any more: everything open, and everything asked from now on, fails `ConnectionClosed`. */
  readonly close: Effect.Effect<void>
}

/** Which failures are of our own reading: who failed does not say so, and is not told. */
const unusables = new WeakSet<JsonRpcError>()

const unusable = (problem: string): JsonRpcError => {
  const message = `unusable response: ${problem}`
  const error = new JsonRpcError({ code: ErrorCode.internalError, message })
  unusables.add(error)
  return error
}

/** True for the failure of a request that was answered with what cannot be read. */
export const isUnusable = (error: JsonRpcError): boolean => unusables.has(error)

/** The texts of notifications in order, and what is wrong with those that cannot be encoded, which are left out. */
export const notificationTexts = (
  method: Method,
  params: ReadonlyArray<unknown>,
): { readonly texts: ReadonlyArray<string>; readonly faults: ReadonlyArray<unknown> } => {
  const { encodeParams } = codecOf(method)
  const texts: Array<string> = []
  const faults: Array<unknown> = []
  for (const one of params) {
    try {
      const encoded = encodeParams(one)
      if (encoded._tag === "Failure") faults.push(encoded.failure)
      else texts.push(notificationText(method._tag, encoded.success))
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

export const make = (
  send: Connection["send"],
  withdraw: (id: RequestId) => Effect.Effect<void, ConnectionClosed>,
): Outgoing => {
  const open = Pending.make<Asked>()
  let nextId = 1
  let closed = false

  const ask: Outgoing["ask"] = Effect.fnUntraced(function* (method, params) {
    if (closed) return yield* ended()
    const codec = codecOf(method)
    const encoded = codec.encodeParams(params)
    if (encoded._tag === "Failure") return yield* Effect.die(encoded.failure)
    const id = nextId++
    const reply = yield* Deferred.make<unknown, JsonRpcError | ConnectionClosed>()
    open.add(id, { codec, reply })
    return yield* send([requestText(id, method._tag, encoded.success)]).pipe(
      Effect.andThen(Deferred.await(reply)),
      Effect.onInterrupt(() =>
        open.take(id) === undefined
          ? Effect.void
          : // In a fiber of its own: an interruption must not wait for a side that does not read.
            withdraw(id).pipe(
              Effect.catch(({ reason }) => Effect.logDebug(`request not withdrawn: ${reason}`)),
              Effect.forkDetach({ startImmediately: true }),
            ),
      ),
      Effect.ensuring(Effect.sync(() => open.take(id))),
    )
  })

  return {
    ask,
    settle: (id, answer) =>
      Effect.suspend(() => {
        const asked = id === null ? undefined : open.take(id)
        if (asked === undefined) return Effect.logDebug("a response to no request of ours")
        // Settled in any case: who asked would wait for ever for a response that has come.
        return Effect.suspend(() => Deferred.done(asked.reply, replyOf(asked.codec, answer))).pipe(
          Effect.catchDefect((defect) =>
            Effect.andThen(
              Effect.logError("a response could not be read", defect),
              Deferred.fail(asked.reply, unusable("it could not be read")),
            ),
          ),
          Effect.asVoid,
        )
      }),
    close: Effect.suspend(() => {
      closed = true
      return Effect.forEach(open.drain(), ({ reply }) => Deferred.fail(reply, ended()), {
        discard: true,
      })
    }),
  }
}
