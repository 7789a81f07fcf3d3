/** What one MCP connection remembers: whether it was initialized, by whom, and the level of its log. */
import type { LoggingLevel } from "@colloquy/protocol/mcp/Logging"
import {
  Elicit,
  type InitializeParams,
  negotiate,
  protocolVersions,
  type ProtocolVersion,
} from "@colloquy/protocol/mcp/CodexMcp"
import { infoOf } from "@colloquy/protocol/Method"
import type { Members } from "./RequestContext.ts"
import { hasPart, isMembers } from "./eras/Capabilities.ts"
import { declinesEvents, type VendorEvents } from "./codex/VendorEvents.ts"

/** What a connection agreed on in `initialize`, and what its client declared. */
export interface Session {
  /** The negotiated revision, or undefined when the connection was initialized before. */
  readonly initialize: (params: InitializeParams) => ProtocolVersion | undefined
  /** Undefined before `initialize`. */
  readonly client: () => Pick<InitializeParams, "clientInfo" | "capabilities"> | undefined
  /** What was agreed on; before that the newest. */
  readonly revision: () => ProtocolVersion
  /** True when something was agreed on. */
  readonly initialized: () => boolean
  /** As the server is set, unless the client declared that it wants none. */
  readonly events: () => VendorEvents
  /** As the server is set. */
  readonly offered: VendorEvents
  /** The least severe messages that the client wants. */
  logLevel: LoggingLevel
}

/** `{}` stands for forms, and so does `{ form }`; a client may also take web addresses alone (2025-11-25). */
export const takesForms = (capabilities: Members): boolean => {
  const declared = capabilities[infoOf(Elicit).capability ?? ""]
  return isMembers(declared) && (hasPart(declared, "form") || !hasPart(declared, "url"))
}

/** Creates the session of a connection, before `initialize`. */
export const make = (events: VendorEvents): Session => {
  let known: { readonly params: InitializeParams; readonly revision: ProtocolVersion } | undefined
  return {
    initialize: (params) => {
      if (known !== undefined) return undefined
      known = { params, revision: negotiate(params.protocolVersion) }
      return known.revision
    },
    client: () => known?.params,
    revision: () => known?.revision ?? protocolVersions[0],
    initialized: () => known !== undefined,
    events: () =>
      known !== undefined && declinesEvents(known.params.capabilities) ? "off" : events,
    offered: events,
    logLevel: "info",
  }
}
