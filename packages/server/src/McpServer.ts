/** Serves the `codex-mcp` dialect on one connection. Opens nothing: the connection is given. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { SettingsResolver } from "@colloquy/core/ConversationSettings"
import type { Connection } from "@colloquy/protocol/Connection"
import { Cancelled, CodexMcp } from "@colloquy/protocol/mcp/CodexMcp"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { make as makeHandlers } from "./mcp/McpHandlers.ts"
import type { VendorEvents } from "./mcp/VendorEvents.ts"
import { make as makePeer } from "./Peer.ts"

export interface McpServerOptions {
  /** What `serverInfo.version` says. */
  readonly version?: string
  /** How long turns may go on after end of input. Default 500 ms. */
  readonly shutdownGrace?: Duration.Input
  /** Requests served at once. Default 1,024. */
  readonly maxInFlight?: number
  /**
   * The events of a call's turn, beside its result: `on` (default) as `codex/event`; `twice` also under their bare
   * names, as 0.20 sent them; `off`. A client may decline them by `capabilities.experimental["codex/event"]`.
   */
  readonly events?: VendorEvents
}

/**
 * Serves until end of input. Requests then in flight have `shutdownGrace` to be answered; what is left is stopped
 * and answered with an error (L9). Returns when everything has been flushed, or nobody reads it any more.
 */
export const serve = (
  connection: Connection,
  options: McpServerOptions = {},
): Effect.Effect<void, never, ConversationManager | SettingsResolver> =>
  Effect.scoped(
    Effect.gen(function* () {
      const handlers = yield* makeHandlers({
        version: options.version ?? "0.0.0",
        events: options.events ?? "on",
      })
      const peer = yield* makePeer({
        connection,
        local: CodexMcp.clientToServer,
        handlers,
        withdraw: ({ notify }, requestId) => notify(Cancelled, [{ requestId }]),
        ...(options.maxInFlight === undefined ? {} : { maxInFlight: options.maxInFlight }),
        ...(options.shutdownGrace === undefined ? {} : { shutdownGrace: options.shutdownGrace }),
      })
      yield* peer.run
    }),
  )
