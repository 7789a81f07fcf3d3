/** What one MCP connection remembers: whether it was initialized, and by whom. */
import {
  Elicit,
  type InitializeParams,
  negotiate,
  type ProtocolVersion,
} from "@colloquy/protocol/mcp/CodexMcp"
import { infoOf } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { declinesEvents, type VendorEvents } from "./VendorEvents.ts"

interface Initialized {
  readonly params: InitializeParams
  readonly protocolVersion: ProtocolVersion
}

export interface Session {
  /** The negotiated revision, or undefined when the connection was initialized before. */
  readonly initialize: (params: InitializeParams) => Effect.Effect<ProtocolVersion | undefined>
  /** True when the client declared that it can put a form to a person. */
  readonly elicits: Effect.Effect<boolean>
  /** As the server is set, unless the client declared that it wants none. */
  readonly events: Effect.Effect<VendorEvents>
}

/** `{}` stands for forms, and so does `{ form }`; a client may also take web addresses alone (2025-11-25). */
const takesForms = ({ capabilities }: InitializeParams): boolean => {
  const declared = capabilities[infoOf(Elicit).capability ?? ""]
  return (
    typeof declared === "object" &&
    declared !== null &&
    !Array.isArray(declared) &&
    ("form" in declared || !("url" in declared))
  )
}

export const make = (events: VendorEvents): Effect.Effect<Session> =>
  Effect.map(Ref.make<Initialized | undefined>(undefined), (state) => ({
    initialize: (params) =>
      Ref.modify(state, (known) => {
        if (known !== undefined) return [undefined, known]
        const protocolVersion = negotiate(params.protocolVersion)
        return [protocolVersion, { params, protocolVersion }]
      }),
    elicits: Effect.map(Ref.get(state), (known) => known !== undefined && takesForms(known.params)),
    events: Effect.map(Ref.get(state), (known) =>
      known !== undefined && declinesEvents(known.params) ? "off" : events,
    ),
  }))
