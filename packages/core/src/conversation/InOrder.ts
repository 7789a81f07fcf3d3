import * as Effect from "effect/Effect"

/** Runs the effect of each item, one after the other. Costs nothing but the effect where there is one item, as usual. */
export const inOrder = <A>(
  items: ReadonlyArray<A>,
  run: (item: A) => Effect.Effect<void>,
): Effect.Effect<void> => {
  const [first] = items
  if (first === undefined) return Effect.void
  return items.length === 1 ? run(first) : Effect.forEach(items, run, { discard: true })
}

/** Resolves with the result of the effect once the other one has ended too, if there is one. They run at the same time. */
export const meanwhile = <A>(
  effect: Effect.Effect<A>,
  other: Effect.Effect<void> | undefined,
): Effect.Effect<A> =>
  other === undefined
    ? effect
    : Effect.map(Effect.all([effect, other], { concurrency: "unbounded" }), ([result]) => result)
