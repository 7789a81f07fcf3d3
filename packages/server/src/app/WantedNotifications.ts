/** Leaves out the notifications that a client does not want. */
import type { Initialize } from "@colloquy/protocol/app/Session"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../jsonrpc/Caller.ts"

type Capabilities = Params<typeof Initialize>["capabilities"]

/** The peer without the notifications that its client has opted out of by their exact names. Requests are sent always. */
export const wantedOnly = (peer: PeerControl, capabilities: () => Capabilities): PeerControl => ({
  ...peer,
  notify: (method, params) =>
    capabilities()?.optOutNotificationMethods?.includes(method._tag) === true
      ? Effect.void
      : peer.notify(method, params),
})
