/**
 * The assertions of the conformance suite. They fail with `ConformanceFailure` and depend on no
 * test runner.
 */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type * as Scope from "effect/Scope"

/** The store behaves differently from what the suite expects. */
export class ConformanceFailure extends Data.TaggedError("NotConforming")<{
  /** What was compared. */
  readonly what: string
  readonly expected: unknown
  readonly actual: unknown
}> {
  override get message() {
    return `${this.what}: expected ${JSON.stringify(this.expected)}, got ${JSON.stringify(this.actual)}`
  }
}

/** One behaviour that every store must have. */
export interface Behaviour {
  /**
   * States the behaviour in a sentence; begins with the number of the law that it checks, if there
   * is one.
   */
  readonly name: string
  /** Fails when the store behaves differently. */
  readonly run: Effect.Effect<void, unknown, ConversationStore | Scope.Scope>
}

/** Fails unless the two values are structurally equal. */
export const expectEqual = (
  what: string,
  actual: unknown,
  expected: unknown,
): Effect.Effect<void, ConformanceFailure> =>
  Equal.equals(actual, expected)
    ? Effect.void
    : Effect.fail(new ConformanceFailure({ what, expected, actual }))

/** Fails unless the operation fails with an error of this tag; returns that error. */
export const expectFailure = <A, E extends { readonly _tag: string }, R>(
  what: string,
  tag: E["_tag"],
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<E, ConformanceFailure, R> =>
  Effect.matchEffect(effect, {
    onFailure: (error) =>
      error._tag === tag
        ? Effect.succeed(error)
        : Effect.fail(new ConformanceFailure({ what, expected: tag, actual: error._tag })),
    onSuccess: (actual) => Effect.fail(new ConformanceFailure({ what, expected: tag, actual })),
  })
