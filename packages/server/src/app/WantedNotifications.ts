/** Leaves out the notifications that a client does not want. */
import type { Initialize } from "@colloquy/protocol/app/Session"
import { infoOf, type Method, type Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Rpc from "effect/rpc/Rpc"
import type { PeerControl } from "../jsonrpc/Caller.ts"

type Capabilities = Params<typeof Initialize>["capabilities"]

const isWanted = (method: Rpc.Any, capabilities: Capabilities) =>
  capabilities?.optOutNotificationMethods?.includes(method._tag) !== true &&
  (infoOf(method as Method).experimental !== true || capabilities?.experimentalApi === true)

/**
 * The peer without the notifications that its client has opted out of by their exact names, and without the experimental ones
 * if it has not declared `experimentalApi`. Requests are sent always.
 */
export const wantedOnly = (peer: PeerControl, capabilities: () => Capabilities): PeerControl => ({
  ...peer,
  notify: (method, params) =>
    isWanted(method, capabilities()) ? peer.notify(method, params) : Effect.void,
})
