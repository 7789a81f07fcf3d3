/**
 * The conformance suite of the port `ConversationStore`: the behaviour that every store must have,
 * for authors of stores as well as for this package. `conformanceCases(subject)` returns named
 * effects for any test runner; each one dies with the value that was expected and the value that
 * the store returned. The suite uses the port only. No case waits, sleeps or reads a clock.
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

/** The store under test. */
export interface ConformanceSubject {
  /**
   * Creates an empty store. Every build of the resulting layer represents another process over the
   * same data.
   */
  readonly make: Effect.Effect<Layer.Layer<ConversationStore>>
  /** True when a later process finds what an earlier one stored. Adds the durability cases. */
  readonly isDurable: boolean
}

/** One named behaviour of the suite. */
export interface ConformanceCase {
  /**
   * States the behaviour in a sentence; begins with the number of the law that it checks, if there
   * is one.
   */
  readonly name: string
  /**
   * Completes when the store conforms; dies with the expected and the actual value when it does
   * not.
   */
  readonly run: Effect.Effect<void, never, Scope.Scope>
}

const caseOf = (subject: ConformanceSubject, { name, run }: Behaviour): ConformanceCase => ({
  name,
  run: Effect.flatMap(subject.make, (layer) =>
    Effect.orDie(run.pipe(Effect.provide(Layer.fresh(layer)))),
  ),
})

/** Returns all cases for a store, in a fixed order. Each case creates its own empty store. */
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
