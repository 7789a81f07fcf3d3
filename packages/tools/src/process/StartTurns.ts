/**
 * Service: bounds how many programs of a process start at once, in the order in which they ask. More would not start sooner: they would
 * all take longer, each of them at the cost of its own time limit.
 *
 *     waiting ── its turn ──> starting ──┬── runs for `settleTime`, or has ended ──┬──> over: the next one starts
 *                                        └── `longestTurn` has passed ─────────────┘
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** A few keep every processor busy, as a start waits for the system and for the watchdog in between. */
const maxAtOnce = 4

/** A program that is let go still has to become the command: the sandbox is made then. Most commands have ended by then. */
const settleTime = Duration.millis(100)

/** A start that hangs, for example at a file system that does not respond, holds up others for this time. */
export const longestTurn = Duration.seconds(30)

/** The turn of one program. It ends with its scope at the latest. */
export interface StartTurn {
  /** Ends the turn a moment after the program may run. Does not wait. */
  readonly endAfter: (mayRun: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  /** Ends the turn now. */
  readonly end: Effect.Effect<void>
}

/** Resolves when it is the caller's turn. */
export type TakeTurn = Effect.Effect<StartTurn, never, Scope.Scope>

const make = (): TakeTurn => {
  const permits = Semaphore.makeUnsafe(maxAtOnce)
  return Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      yield* restore(permits.take(1))
      let isOver = false
      const end = Effect.suspend(() => {
        if (isOver) return Effect.void
        isOver = true
        return Effect.asVoid(permits.release(1))
      })
      yield* Effect.addFinalizer(() => end)
      yield* Effect.forkScoped(Effect.andThen(Effect.sleep(longestTurn), end))
      return {
        end,
        endAfter: (mayRun) =>
          mayRun.pipe(
            Effect.andThen(Effect.sleep(settleTime)),
            Effect.andThen(end),
            Effect.forkScoped,
            Effect.asVoid,
          ),
      }
    }),
  )
}

/** The turns of one process, which all its command runners must share; see the header. */
export class StartTurns extends Context.Service<StartTurns, { readonly take: TakeTurn }>()(
  "@colloquy/tools/StartTurns",
) {
  /** Creates the turns. Each one has a bound of its own. */
  static readonly makeUnsafe = (): StartTurns["Service"] => StartTurns.of({ take: make() })

  /** Provides new turns wherever it is built: a process with several runners builds it once. */
  static readonly layer = Layer.sync(this, this.makeUnsafe)
}
