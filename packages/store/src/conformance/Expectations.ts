/** How the conformance suite says what it expects; it belongs to no test runner. */
import type { ConversationStore } from "@colloquy/core/ConversationStore"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import type * as Scope from "effect/Scope"

/** The store does otherwise. */
export class ConformanceFailure extends Data.TaggedError("NotConforming")<{
  readonly what: string
  readonly expected: unknown
  readonly actual: unknown
}> {
  override get message() {
    return `${this.what}: expected ${JSON.stringify(this.expected)}, got ${JSON.stringify(this.actual)}`
  }
}

export interface Behaviour {
  readonly name: string
  readonly run: Effect.Effect<void, unknown, ConversationStore | Scope.Scope>
}

export const expectEqual = (
  what: string,
  actual: unknown,
  expected: unknown,
): Effect.Effect<void, ConformanceFailure> =>
  Equal.equals(actual, expected)
    ? Effect.void
    : Effect.fail(new ConformanceFailure({ what, expected, actual }))

/** The operation fails with the error of that tag, which is given. */
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
