/** How one of the server's own tools is made for a connection. Types only. */
import type { ConversationsView } from "../../ConversationsView.ts"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type * as Context from "effect/Context"
import type { Tool } from "../../features/Tool.ts"
import type { ConnectionState } from "../ConnectionState.ts"
import type { ConnectionProgress } from "./CallProgress.ts"

/** What the own tools need of the server. */
export type ToolServices = ConversationsView | SettingsResolver

/** What the own tools share with the others of their connection. */
export interface ToolEnvironment {
  readonly connection: ConnectionState
  readonly progress: ConnectionProgress
  readonly services: Context.Context<ToolServices>
}

/** Makes the code of one own tool for a connection. */
export type MakeInvoke = (environment: ToolEnvironment) => Tool["invoke"]
