/** Connects a client and a server in the tests of this package: in memory, by streams or by a WebSocket, as the Vitest project selects. */
import type { Connection } from "@colloquy/protocol/Connection"
import { type MemoryConnection, memoryPair } from "@colloquy/testing/MemoryConnection"
import { inject } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { webSocketPair } from "../../../transport-http/test/support/WebSocketPair.ts"
import { streamPair } from "../../../transport-stdio/test/support/StreamPair.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Set by the projects of vitest.workspace.ts. */
    readonly joinedBy: keyof typeof pairs
  }
}

const pairs = { memory: memoryPair, streams: streamPair, webSocket: webSocketPair }

/** The connection's end for the client of the test, and the one for the server. */
export const pair = (
  capacity: number,
): Effect.Effect<readonly [MemoryConnection, Connection], never, Scope.Scope> =>
  Effect.suspend(() => pairs[inject("joinedBy")](capacity))
