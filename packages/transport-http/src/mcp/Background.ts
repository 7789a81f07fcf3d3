/**
 * Runs what outlives the request that starts it. A fiber that is forked in a request keeps the context of that request, and so
 * its headers, its socket and its buffers, for as long as it runs.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

/** Starts an effect that ends with the scope of its maker at the latest. */
export type Start = (effect: Effect.Effect<void>) => Effect.Effect<void>

/** A start in the present scope, with the present context. */
export const makeStart: Effect.Effect<Start, never, Scope.Scope> = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const context = yield* Effect.context()
  const run = Effect.runForkWith(context)
  return (effect) =>
    Effect.sync(() => {
      Fiber.runIn(run(effect), scope)
    })
})
