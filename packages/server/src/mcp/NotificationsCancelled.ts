/** `notifications/cancelled`: that request's work stops and it gets no answer (§1.9). */
import type { RequestId } from "@colloquy/protocol/JsonRpc"
import type { Caller } from "../Peer.ts"

export const notificationsCancelled = (
  { requestId }: { readonly requestId: RequestId },
  { peer }: Caller,
) => peer.cancel(requestId)
