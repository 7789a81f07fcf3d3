/** Finds the dialect of an unknown method. The definitions of all dialects are loaded at the first unknown method. */
import type { McpServerOptions } from "@colloquy/server/McpServer"
import * as Effect from "effect/Effect"

type FindDialect = NonNullable<McpServerOptions["findDialect"]>

/** @param spoken the dialect of the connection */
export const findDialect =
  (spoken: string): FindDialect =>
  (method) =>
    Effect.map(
      Effect.promise(() => import("@colloquy/protocol/Dialects")),
      ({ otherDialectOf }) => otherDialectOf(method, spoken),
    )
