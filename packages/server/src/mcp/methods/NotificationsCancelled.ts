/** `notifications/cancelled`: that request's work stops, also what goes on after its answer, and no answer follows (§1.9, §2.5). */
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import type { NotificationCaller } from "../../jsonrpc/Caller.ts"
import type { ConnectionState } from "../ConnectionState.ts"

export const notificationsCancelled =
  (connection: ConnectionState) =>
  ({ requestId }: { readonly requestId: RequestId }, { peer }: NotificationCaller) =>
    // What the call left is known while it is served.
    Effect.andThen(connection.answered.cancel(requestId), peer.cancel(requestId))
