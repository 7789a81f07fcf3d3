import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { World } from "./Worlds.ts"

/** A behaviour of the store that both databases must have. */
export interface Case {
  readonly name: string
  readonly run: (world: World) => Effect.Effect<void, unknown, Scope.Scope>
}

export const caseOf = (
  name: string,
  run: (world: World) => Effect.Effect<void, unknown, Scope.Scope>,
): Case => ({ name, run })
