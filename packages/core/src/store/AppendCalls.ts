/**
 * The appends of all conversations of a manager, each with the time limit of `StoreTimeout.ts`. One fiber watches the
 * deadlines of all of them, because an append is on the path of every turn: a timer and two fibers for each would cost more
 * than the append itself.
 *
 * ```
 *            first append that has to wait                the oldest append is overdue: it fails with `Slow`
 *   no fiber ─────────────────────────────▶ sleeping until ─────────────────────────────────────────────────┐
 *      ▲                                    the deadline of the oldest append ◀──────────────────────────────┘
 *      └──────────────────────────────────────────┘ at that time no append waits
 * ```
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Exit } from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { AppendError, StoreError } from "../StoreErrors.ts"
import { slow, startCall, storeBound } from "./StoreTimeout.ts"

/** Nanoseconds, as the monotonic clock counts: a change of the wall clock ends no append. */
const boundNanos = BigInt(Duration.toMillis(storeBound)) * 1_000_000n

/** An append that has not ended. */
interface Waiting {
  readonly deadlineNanos: bigint
  readonly expire: () => void
}

/** The appends that wait for the store, in the order of their deadlines. */
export class AppendCalls {
  private readonly waiting = new Set<Waiting>()
  /** Sleeps until the deadline of the oldest append. */
  private watcher: Fiber.Fiber<void> | undefined

  /**
   * Resolves with the result of the append, or fails ten seconds later with a `StoreError` of reason `Slow`. The append is
   * not interrupted; the wait for it can be if the caller can be. `meanwhile` runs before that wait, and not at all where
   * the append has ended at once.
   */
  run(
    append: Effect.Effect<void, AppendError>,
    meanwhile?: Effect.Effect<void>,
  ): Effect.Effect<void, AppendError> {
    return Effect.flatMap(startCall("append", append), (fiber) => {
      const ended = fiber.pollUnsafe()
      if (ended !== undefined) return ended
      const result = this.result(fiber)
      return meanwhile === undefined ? result : Effect.andThen(meanwhile, result)
    })
  }

  /**
   * Ends the fiber that watches the deadlines, unless an append still waits: then it ends after the last one. Appends that
   * are started later start it again.
   */
  get close(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.waiting.size > 0) return
      this.watcher?.interruptUnsafe()
      this.watcher = undefined
    })
  }

  private result(fiber: Fiber.Fiber<void, AppendError>): Effect.Effect<void, AppendError> {
    return Effect.withFiber(({ context }) =>
      Effect.callback<void, AppendError | StoreError>((resume) => {
        const now = Context.get(context, Clock.Clock).monotonicTimeNanosUnsafe()
        const leave = () => {
          this.waiting.delete(one)
          unobserve()
        }
        const one: Waiting = {
          deadlineNanos: now + boundNanos,
          expire: () => {
            leave()
            resume(slow("append"))
          },
        }
        const unobserve = fiber.addObserver((exit: Exit<void, AppendError>) => {
          this.waiting.delete(one)
          resume(exit)
        })
        if (fiber.pollUnsafe() !== undefined) return
        this.waiting.add(one)
        this.watcher ??= Effect.runForkWith(context)(this.watch())
        return Effect.sync(leave)
      }),
    )
  }

  private watch(): Effect.Effect<void> {
    return Effect.flatMap(Clock.monotonicTimeNanos, (now) => {
      for (const { deadlineNanos, expire } of this.waiting) {
        if (deadlineNanos > now) {
          // Rounded up, so that the deadline has passed when the fiber wakes.
          const sleepMs = Number((deadlineNanos - now + 999_999n) / 1_000_000n)
          return Effect.andThen(Effect.sleep(sleepMs), this.watch())
        }
        expire()
      }
      this.watcher = undefined
      return Effect.void
    })
  }
}
