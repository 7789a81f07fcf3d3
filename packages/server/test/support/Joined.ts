/** What joins a client and a server in the tests of this room: memory, or the streams that the project asks for. */
import { type MemoryConnection, memoryPair } from "@colloquy/testing/MemoryConnection"
import { inject } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { streamPair } from "../../../transport-stdio/test/support/StreamPair.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** By the projects of vitest.workspace.ts. */
    readonly joinedBy: keyof typeof pairs
  }
}

const pairs = { memory: memoryPair, streams: streamPair }

/** The end of a test's client, and that of the server. */
export const pair = (
  capacity: number,
): Effect.Effect<readonly [MemoryConnection, MemoryConnection], never, Scope.Scope> =>
  Effect.suspend(() => pairs[inject("joinedBy")](capacity))
