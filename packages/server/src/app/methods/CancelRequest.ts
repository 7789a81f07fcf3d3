/** `$/cancelRequest` from the client: cancels that request, which gets the error that its sender expects (L1). */
import type { CancelRequest } from "@colloquy/protocol/app/Events"
import type { Params } from "@colloquy/protocol/Method"
import type * as Effect from "effect/Effect"
import type { NotificationCaller } from "../../jsonrpc/Caller.ts"
import { requestCancelled } from "../AppErrors.ts"

/** Handler of the notification. */
export const cancelRequest = (
  { id }: Params<typeof CancelRequest>,
  { peer }: NotificationCaller,
): Effect.Effect<void> => peer.cancel(id, requestCancelled())
