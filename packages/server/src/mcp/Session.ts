/** The state of one MCP connection in the handshake era: its revision, its client and its log level. Sends nothing. */
import type { LoggingLevel } from "@colloquy/protocol/mcp/Logging"
import { Elicit } from "@colloquy/protocol/mcp/CodexMcp"
import {
  type InitializeParams,
  negotiate,
  protocolVersions,
  type ProtocolVersion,
} from "@colloquy/protocol/mcp/Initialize"
import { infoOf } from "@colloquy/protocol/Method"
import type { Members } from "./RequestContext.ts"
import { hasPart, isMembers } from "./eras/Capabilities.ts"
import type { VendorEvents } from "./codex/VendorEvents.ts"
import { agreedEvents } from "./methods/InitializeResult.ts"

/** What a connection negotiated in `initialize`, and what its client declared. */
export interface Session {
  /** Negotiates the revision and returns it. Returns undefined, and changes nothing, if it was called before. */
  initialize(params: InitializeParams): ProtocolVersion | undefined
  /** What the client declared. Undefined before `initialize`. */
  client(): Pick<InitializeParams, "clientInfo" | "capabilities"> | undefined
  /** The negotiated revision; before `initialize` the newest one that `initialize` can negotiate. */
  revision(): ProtocolVersion
  /** True once `initialize` has negotiated a revision. */
  initialized(): boolean
  /** Which vendor events the client gets: the setting of the server, or `off` if the client declines them. */
  events(): VendorEvents
  /** The setting of the server for vendor events. */
  readonly offered: VendorEvents
  /** Least severe level of log messages that the client wants. */
  logLevel: LoggingLevel
}

/**
 * True if the client shows forms: it declares elicitation as `{}` or with `form`. A client that declares only `url`
 * shows no forms (2025-11-25).
 */
export const takesForms = (capabilities: Members): boolean => {
  const declared = capabilities[infoOf(Elicit).capability ?? ""]
  return isMembers(declared) && (hasPart(declared, "form") || !hasPart(declared, "url"))
}

class ConnectionSession implements Session {
  readonly offered: VendorEvents
  logLevel: LoggingLevel = "info"
  private params: InitializeParams | undefined
  private negotiated: ProtocolVersion = protocolVersions[0]

  constructor(events: VendorEvents) {
    this.offered = events
  }

  initialize(params: InitializeParams): ProtocolVersion | undefined {
    if (this.params !== undefined) return undefined
    this.params = params
    this.negotiated = negotiate(params.protocolVersion)
    return this.negotiated
  }

  client(): InitializeParams | undefined {
    return this.params
  }

  revision(): ProtocolVersion {
    return this.negotiated
  }

  initialized(): boolean {
    return this.params !== undefined
  }

  events(): VendorEvents {
    const { offered, params } = this
    return params === undefined ? offered : agreedEvents(offered, params.capabilities)
  }
}

/** Creates the session of a connection, before `initialize`. */
export const make = (events: VendorEvents): Session => new ConnectionSession(events)
