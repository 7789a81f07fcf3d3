/**
 * `notifications/cancelled`: cancels a request. Interrupts its work, including the work that continues after the
 * response. No further response is sent.
 */
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { NotificationCaller } from "../../jsonrpc/Caller.ts"
import type { ConnectionState } from "../ConnectionState.ts"

/** The handler of `notifications/cancelled` of one connection. */
export const notificationsCancelled =
  (connection: Pick<ConnectionState, "answered">) =>
  ({ requestId }: { readonly requestId: RequestId }, { peer }: NotificationCaller) =>
    // Work that continues after the response is registered while the request is served, so it is found here.
    Effect.andThen(connection.answered.cancel(requestId), peer.cancel(requestId))
