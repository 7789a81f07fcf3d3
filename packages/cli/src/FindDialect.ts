/** Names the dialect of an unknown method; the definitions of all dialects are loaded with the first one. */
import type { FindDialect } from "@colloquy/server/ForeignMethod"
import * as Effect from "effect/Effect"

/** @param spoken the dialect of the connection */
export const findDialect =
  (spoken: string): FindDialect =>
  (method) =>
    Effect.map(
      Effect.promise(() => import("@colloquy/protocol/Dialects")),
      ({ otherDialectOf }) => otherDialectOf(method, spoken),
    )
