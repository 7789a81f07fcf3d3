/** Connects a client and a server in the tests of this package: in memory, or by the streams that the Vitest project selects. */
import { type MemoryConnection, memoryPair } from "@colloquy/testing/MemoryConnection"
import { inject } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { streamPair } from "../../../transport-stdio/test/support/StreamPair.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Set by the projects of vitest.workspace.ts. */
    readonly joinedBy: keyof typeof pairs
  }
}

const pairs = { memory: memoryPair, streams: streamPair }

/** The connection's end for the client of the test, and the one for the server. */
export const pair = (
  capacity: number,
): Effect.Effect<readonly [MemoryConnection, MemoryConnection], never, Scope.Scope> =>
  Effect.suspend(() => pairs[inject("joinedBy")](capacity))
