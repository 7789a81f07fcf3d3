/** The context of a call and the state of its connection, for tests that call a tool without a server around it. */
import { protocolVersions } from "@colloquy/protocol/mcp/Initialize"
import * as Effect from "effect/Effect"
import type { PeerControl } from "../../src/jsonrpc/Caller.ts"
import { make as makeAnsweredCalls } from "../../src/mcp/AnsweredCalls.ts"
import * as ConnectionState from "../../src/mcp/ConnectionState.ts"
import type { Elicitations } from "../../src/mcp/elicitation/Elicitations.ts"
import type { Members, RequestContext } from "../../src/mcp/RequestContext.ts"
import { make as makeSession } from "../../src/mcp/Session.ts"

/** A request of the handshake era, with id 1, of a client without capabilities. */
export const callContext = (peer: PeerControl, meta: Members = {}): RequestContext => ({
  era: "handshake",
  revision: protocolVersions[0],
  client: { capabilities: {} },
  principal: "local",
  requestId: 1,
  meta,
  peer,
  notify: peer.notify,
  afterAnswer: () => {},
  progress: () => Effect.void,
  logLevel: () => undefined,
  log: () => Effect.void,
  ask: () => Effect.die("no question expected"),
  requires: () => Effect.void,
  once: (_, effect) => effect,
})

const noElicitations: Elicitations = {
  of: () => Effect.die("no question expected"),
  share: () => Effect.die("no question expected"),
}

/** The state of a connection whose client gets all events and is asked nothing. */
export const connectionState = Effect.flatMap(Effect.scope, (scope) =>
  ConnectionState.make({
    session: makeSession("on"),
    answered: makeAnsweredCalls(scope),
    threadIdPlace: "content",
    streams: { has: () => false, run: () => Effect.die("no stream expected") },
    elicitations: noElicitations,
    statelessElicitations: noElicitations,
  }),
)
