/**
 * The end of a server, in two steps, so that every client gets the last event of its turns:
 *
 *     serving ── refuse ──▶ refusing ── finish ──▶ finishing
 *
 * | step | new requests | requests and connections that are there |
 * | --- | --- | --- |
 * | refusing | 503 | are served on |
 * | finishing | 503 | their input ends: what is in flight gets its response, streams end with a reason |
 *
 * The program that serves the routes takes the steps; a server without one never ends.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

/** Where the end of a server has come to. */
export interface Drain {
  /** True from `refuse` on. */
  readonly isRefusing: () => boolean
  /** Resolves at `finish`. */
  readonly finishing: Effect.Effect<void>
}

/** A drain whose steps are taken by its owner. */
export interface OwnedDrain extends Drain {
  readonly refuse: Effect.Effect<void>
  readonly finish: Effect.Effect<void>
}

/** Sent to clients as the reason of an end. */
export const drainReason = "the server shuts down"

/** The drain of the server to which a route belongs. Default: one that never begins. */
export const Draining = Context.Reference<Drain>("@colloquy/transport-http/Draining", {
  defaultValue: () => ({ isRefusing: () => false, finishing: Effect.never }),
})

/** Runs the effect at `finish`, unless the scope has ended before. */
export const onFinish = (run: Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.flatMap(Draining, ({ finishing }) =>
    Effect.asVoid(Effect.forkScoped(Effect.andThen(finishing, run), { startImmediately: true })),
  )

/** Creates a drain; no step is taken yet. */
export const make: Effect.Effect<OwnedDrain> = Effect.sync(() => {
  const finishing = Latch.makeUnsafe(false)
  let refusing = false
  const refuse = Effect.sync(() => {
    refusing = true
  })
  return {
    isRefusing: () => refusing,
    finishing: finishing.await,
    refuse,
    finish: Effect.andThen(refuse, finishing.open),
  }
})
