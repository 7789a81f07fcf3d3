/** The connection of a server over the standard streams of its own process. */
import type { Connection } from "@colloquy/protocol/Connection"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as StdioConnection from "./StdioConnection.ts"
import { takeStdout } from "./Stdout.ts"

/**
 * Reserves standard output for messages, so that everything else that is printed goes to standard error, and reads
 * standard input, until the scope closes. Ends when the client closes standard input.
 */
export const open: Effect.Effect<Connection, never, Scope.Scope> = Effect.suspend(() =>
  StdioConnection.make({ input: process.stdin, output: takeStdout() }),
)
