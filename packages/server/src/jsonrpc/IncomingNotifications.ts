/** Handles the notifications of the peer: a notification has no response, so a fault of it is only logged. */
import { describeFaults, faultsOf } from "@colloquy/protocol/Faults"
import { codecOf, type Method } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { NotificationCaller } from "./Caller.ts"

/** The handler of a notification, whatever its params. */
export type NotificationHandler = (
  params: unknown,
  caller: NotificationCaller,
) => Effect.Effect<unknown, unknown>

/** Runs the handler of one notification, if its method is one and the params fit it. */
export const handleNotification = (
  name: string,
  raw: unknown,
  method: Method | undefined,
  handler: NotificationHandler | undefined,
  caller: NotificationCaller,
): Effect.Effect<void> => {
  const codec = method === undefined ? undefined : codecOf(method)
  if (handler === undefined || codec?.info.kind !== "notification") {
    return Effect.logDebug(`unknown notification ${name}`)
  }
  const params = codec.decodeParams(raw)
  if (params._tag === "Failure") {
    const text = describeFaults("params", faultsOf(params.failure))
    return Effect.logWarning(`notification ${name} ignored: ${text}`)
  }
  return Effect.asVoid(handler(params.success, caller)).pipe(
    Effect.catch((error) => Effect.logError(`notification ${name} failed`, error)),
  )
}
