/** `$/cancelRequest` of the client: the request ends and is answered with an error, as its sender expects (L1). */
import type { CancelRequest } from "@colloquy/protocol/app/Events"
import type { Params } from "@colloquy/protocol/Method"
import type * as Effect from "effect/Effect"
import type { NotificationCaller } from "../../jsonrpc/Caller.ts"
import { requestCancelled } from "../AppErrors.ts"

export const cancelRequest = (
  { id }: Params<typeof CancelRequest>,
  { peer }: NotificationCaller,
): Effect.Effect<void> => peer.cancel(id, requestCancelled())
