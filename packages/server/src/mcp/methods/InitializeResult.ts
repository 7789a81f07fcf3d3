/** The result of `initialize`: what the server states about itself, whichever code answers. Pure. */
import {
  type InitializeParams,
  type InitializeResult,
  negotiate,
  type ProtocolVersion,
} from "@colloquy/protocol/mcp/Initialize"
import { declinesEvents } from "../codex/EventWishes.ts"
import type { VendorEvents } from "../codex/VendorEvents.ts"
import type { Members } from "../RequestContext.ts"
import { serverCapabilities, supportsTasks } from "../ServerCapabilities.ts"

/** The setting of the server for vendor events. */
export const defaultEvents: VendorEvents = "on"

/** How a server is called. */
export interface ServerName {
  readonly name: string
  /** For people. Default: none. */
  readonly title?: string
}

/** Name and version of the server. @param version default `0.0.0` */
export const serverInfoOf = (
  version: string = "0.0.0",
  server: ServerName = { name: "colloquy", title: "Colloquy" },
): InitializeResult["serverInfo"] => ({ ...server, version })

/** The vendor events that a client with these capabilities gets, by the setting of the server. */
export const agreedEvents = (events: VendorEvents, capabilities: Members): VendorEvents =>
  declinesEvents(capabilities) ? "off" : events

/** The capabilities for a client of the revision that gets these vendor events. */
export const handshakeCapabilities = (revision: ProtocolVersion, events: VendorEvents): Members =>
  serverCapabilities({
    events: events === "off" ? undefined : "experimental",
    tasks: supportsTasks(revision) ? "asked" : undefined,
  })

/** What the result depends on besides the params; the defaults are those of `McpServerOptions`. */
export interface InitializeOptions {
  readonly version?: string
  readonly events?: VendorEvents
}

/** The result of the first `initialize` of a connection. */
export const initializeResult = (
  { capabilities, protocolVersion: offered }: InitializeParams,
  { events = defaultEvents, version }: InitializeOptions,
): InitializeResult => {
  const protocolVersion = negotiate(offered)
  return {
    protocolVersion,
    capabilities: handshakeCapabilities(protocolVersion, agreedEvents(events, capabilities)),
    serverInfo: serverInfoOf(version),
  }
}
