/** What one MCP connection remembers: whether it was initialized, and by whom. */
import {
  type InitializeParams,
  negotiate,
  type ProtocolVersion,
} from "@colloquy/protocol/mcp/CodexMcp"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"

interface Initialized {
  readonly params: InitializeParams
  readonly protocolVersion: ProtocolVersion
}

export interface Session {
  /** The negotiated revision, or undefined when the connection was initialized before. */
  readonly initialize: (params: InitializeParams) => Effect.Effect<ProtocolVersion | undefined>
}

export const make: Effect.Effect<Session> = Effect.map(
  Ref.make<Initialized | undefined>(undefined),
  (state) => ({
    initialize: (params) =>
      Ref.modify(state, (known) => {
        if (known !== undefined) return [undefined, known]
        const protocolVersion = negotiate(params.protocolVersion)
        return [protocolVersion, { params, protocolVersion }]
      }),
  }),
)
