/**
 * The response of a handler that has ended when it returns, such as that of `ping` or a rejected call: sent by the code that
 * reads the connection, without a fiber. Keeps L1 and L2: it sends nothing where something has to happen before or after the
 * response, or where the response has to wait for a slow reader; the request is then served as any other.
 */
import type { Connection } from "@colloquy/protocol/Connection"
import {
  failureText,
  type JsonRpcError,
  type MessageForm,
  type RequestId,
  successText,
} from "@colloquy/protocol/JsonRpc"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Route } from "./Route.ts"
import type { ServedRequest } from "./ServedRequest.ts"

type Handled = Effect.Effect<unknown, JsonRpcError>

const isEnded = (handled: Handled): handled is Exit.Exit<unknown, JsonRpcError> =>
  Exit.isExit(handled)

/** The effect of a handler; a handler that throws gives one that dies. */
export const handledBy = (handler: () => Handled): Handled => {
  try {
    return handler()
  } catch (defect) {
    return Effect.die(defect)
  }
}

/** Undefined where the failure is logged first. Throws what the schema of the result throws. */
const textOf = (
  id: RequestId,
  codec: Route["codec"],
  exit: Exit.Exit<unknown, JsonRpcError>,
  form: MessageForm,
): string | undefined => {
  if (Exit.isSuccess(exit)) {
    const encoded = codec.encodeResult(exit.value)
    return encoded._tag === "Success" ? successText(id, encoded.success, form) : undefined
  }
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  return failure === undefined ? undefined : failureText(id, failure.error, form)
}

/** Sends the response and ends the request, if that is possible now. False: nothing was sent. */
export const respondNow = (
  sendNow: Connection["sendNow"],
  served: ServedRequest,
  codec: Route["codec"],
  handled: Handled,
  form: MessageForm,
): boolean => {
  if (sendNow === undefined || !served.isPlain || !isEnded(handled)) return false
  try {
    const text = textOf(served.id, codec, handled, form)
    if (text === undefined || !sendNow([text], { relatedTo: served.id })) return false
  } catch {
    // The same defect occurs again in `responseText`, which logs it and makes an error of it.
    return false
  }
  served.onEnd(true)
  return true
}
