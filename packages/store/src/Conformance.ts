/**
 * What every store of conversations must do, as effects that fail with what was expected: `cases(subject)` gives them by
 * name, for any test runner. Knows the port alone. Nothing in it takes time or needs a clock.
 */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { leaseCases } from "./conformance/LeaseCases.ts"
import { listCases } from "./conformance/ListCases.ts"
import { logCases } from "./conformance/LogCases.ts"
import type { Behaviour } from "./conformance/Expectations.ts"
import { durabilityCases } from "./conformance/DurabilityCases.ts"

export interface ConformanceSubject {
  /** A store with nothing in it. Each build of the layer it gives is another process over the same data. */
  readonly make: Effect.Effect<Layer.Layer<ConversationStore>>
  /** What one process stored, a later one finds. */
  readonly isDurable: boolean
}

export interface ConformanceCase {
  readonly name: string
  /** Dies with what was expected and what came. */
  readonly run: Effect.Effect<void, never, Scope.Scope>
}

const caseOf = (subject: ConformanceSubject, { name, run }: Behaviour): ConformanceCase => ({
  name,
  run: Effect.flatMap(subject.make, (layer) =>
    Effect.orDie(run.pipe(Effect.provide(Layer.fresh(layer)))),
  ),
})

export const conformanceCases = (subject: ConformanceSubject): ReadonlyArray<ConformanceCase> => [
  ...[...logCases, ...listCases, ...leaseCases].map((behaviour) => caseOf(subject, behaviour)),
  ...(subject.isDurable
    ? durabilityCases.map(({ name, run }) => ({
        name,
        run: Effect.flatMap(subject.make, (layer) =>
          Effect.orDie(run((use) => use.pipe(Effect.scoped, Effect.provide(Layer.fresh(layer))))),
        ),
      }))
    : []),
]
