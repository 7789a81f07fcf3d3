/** The handlers of the `codex-mcp` dialect, one per method: the only table from methods to code. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import {
  Cancelled,
  type CodexMcp,
  Initialize,
  Initialized,
  Ping,
  ToolsCall,
  ToolsList,
} from "@colloquy/protocol/mcp/CodexMcp"
import type { Handlers } from "@colloquy/protocol/Method"
import type { Dialect } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Caller } from "../Peer.ts"
import * as ConnectionState from "./conversation/ConnectionState.ts"
import { initialize } from "./Initialize.ts"
import { notificationsCancelled } from "./NotificationsCancelled.ts"
import { notificationsInitialized } from "./NotificationsInitialized.ts"
import { ping } from "./Ping.ts"
import { handshake } from "./revision/Handshake.ts"
import * as Session from "./Session.ts"
import { toolsCall } from "./ToolsCall.ts"
import { toolsList } from "./ToolsList.ts"
import type { VendorEvents } from "./VendorEvents.ts"

type ClientMethods = typeof CodexMcp extends Dialect<infer C, infer _> ? C : never

/** Handlers with a session of their own: make them once per connection. */
export const make = Effect.fnUntraced(function* (options: {
  readonly version: string
  readonly events: VendorEvents
}): Effect.fn.Return<
  Handlers<ClientMethods, Caller>,
  never,
  ConversationManager | SettingsResolver | Scope.Scope
> {
  const session = Session.make(options.events)
  const connection = yield* ConnectionState.make
  return {
    [Initialize._tag]: initialize(session, options.version),
    [Ping._tag]: ping,
    [ToolsList._tag]: handshake(session, toolsList),
    [ToolsCall._tag]: handshake(session, yield* toolsCall(session, connection)),
    [Initialized._tag]: notificationsInitialized,
    [Cancelled._tag]: notificationsCancelled(connection),
  }
})
