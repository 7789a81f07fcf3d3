/**
 * Runs an effect on a `TestClock` until it ends, without the test counting adjustments: whenever nothing can run and the
 * effect still waits, the clock goes on to the next moment that something sleeps until.
 *
 *     run what can run ──▶ ended? ── yes ──▶ its result
 *           ▲                │ no
 *           └── the clock moves to the next wake-up
 *
 * Counts the tasks of the fibers that the effect starts, and their sleeps; both go on being counted when the effect has
 * ended and its fibers have not. Effects that settle at the same time take turns with the clock: one move wakes up what all
 * of them sleep until. Without a `TestClock` the effect just runs.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as TestClock from "effect/testing/TestClock"

/** Most wake-ups without an end, for what sleeps again and again. */
const maxWakeups = 2_000

/** Nothing runs, nothing sleeps, and the effect has not ended: it waits for something that the test never does. */
export class NothingToRun extends Schema.TaggedError<NothingToRun>()("NothingToRun", {}) {
  override readonly message =
    "the effect waits for something that nothing in this test does: no fiber can run, and none sleeps"
}

/** Something of the effect sleeps again and again, and the effect has not ended after 2,000 wake-ups. */
export class SleepsForever extends Schema.TaggedError<SleepsForever>()("SleepsForever", {}) {
  override readonly message = `the effect has not ended after ${maxWakeups.toLocaleString("en")} wake-ups of the clock: something in it sleeps again and again`
}

/** How long promises of the platform, which no scheduler knows, get to settle: reading a file, loading a module. */
const maxLiveWaitMs = 500

/** A sleep that would end later counts as none: nothing that a test waits for takes a year. */
const maxVirtualMs = Duration.toMillis(Duration.days(365))

type WithSleep = Clock.Clock & { sleep(duration: Duration.Duration): Effect.Effect<void> }

/** Counts what can run and what sleeps. */
class Activity {
  /** Held by the one effect that looks whether anything can run, and may move the clock. */
  readonly stepping = Semaphore.makeUnsafe(1)
  /** Steps since something ran: for so many milliseconds of the machine's time nothing could, and nothing slept. */
  quietMs = 0
  private pending = 0
  private onIdle: (() => void) | undefined
  private readonly wakeups = new Set<{ readonly atMs: number }>()

  scheduler(parent: Scheduler.Scheduler): Scheduler.Scheduler {
    return {
      executionMode: parent.executionMode,
      shouldYield: (fiber) => parent.shouldYield(fiber),
      makeDispatcher: () => {
        const dispatcher = parent.makeDispatcher()
        return {
          scheduleTask: (task, priority) => {
            this.pending++
            this.quietMs = 0
            dispatcher.scheduleTask(() => {
              try {
                task()
              } finally {
                if (--this.pending === 0) this.onIdle?.()
              }
            }, priority)
          },
          flush: () => dispatcher.flush(),
        }
      },
    }
  }

  clock(parent: WithSleep): Clock.Clock {
    // Not spread: a clock may be an instance of a class.
    return Object.assign(Object.create(parent) as WithSleep, {
      sleep: (duration: Duration.Duration) =>
        Effect.acquireUseRelease(
          Effect.map(parent.currentTimeMillis, (now) => {
            const wakeup = { atMs: now + Duration.toMillis(duration) }
            this.wakeups.add(wakeup)
            return wakeup
          }),
          () => parent.sleep(duration),
          (wakeup) => Effect.sync(() => this.wakeups.delete(wakeup)),
        ),
    })
  }

  /** Resolves when no counted task can run. */
  get idle(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.pending === 0) return resume(Effect.void)
      this.onIdle = () => {
        this.onIdle = undefined
        resume(Effect.void)
      }
      return Effect.sync(() => {
        this.onIdle = undefined
      })
    })
  }

  get isIdle(): boolean {
    return this.pending === 0
  }

  /** The next moment that something sleeps until, at most `latestMs`; undefined: nothing sleeps until then. */
  nextMs(latestMs: number): number | undefined {
    const times = [...this.wakeups].map(({ atMs }) => atMs).filter((atMs) => atMs <= latestMs)
    return times.length === 0 ? undefined : Math.min(...times)
  }
}

/** One turn of the platform's event loop, in which promises settle. */
const breathe = TestClock.withLive(Effect.sleep(1))

const isTestClock = (clock: Clock.Clock): clock is TestClock.TestClock & WithSleep =>
  "adjust" in clock

/** Lets what can run run, then moves the clock to the next wake-up unless the fiber has ended. True: it moved. */
const step = Effect.fnUntraced(function* (
  fiber: Fiber.Fiber<unknown, unknown>,
  activity: Activity,
  latestMs: number,
) {
  yield* activity.idle
  if (fiber.pollUnsafe() !== undefined) return false
  yield* breathe
  if (!activity.isIdle || fiber.pollUnsafe() !== undefined) return false
  const next = activity.nextMs(latestMs)
  if (next === undefined) {
    if (++activity.quietMs > maxLiveWaitMs) return yield* Effect.die(new NothingToRun())
    return false
  }
  activity.quietMs = 0
  yield* TestClock.adjust(Math.max(0, next - (yield* Clock.currentTimeMillis)))
  return true
})

/** Moves the clock as long as the fiber runs. Never ends by itself, but for what would never end. */
const drive = Effect.fnUntraced(function* (
  fiber: Fiber.Fiber<unknown, unknown>,
  activity: Activity,
): Effect.fn.Return<never> {
  const latestMs = (yield* Clock.currentTimeMillis) + maxVirtualMs
  // From now on the clock does not warn that nobody moves it.
  yield* TestClock.adjust(0)
  let wakeups = 0
  while (fiber.pollUnsafe() === undefined) {
    const moved = yield* activity.stepping.withPermits(1)(step(fiber, activity, latestMs))
    if (moved && ++wakeups > maxWakeups) return yield* Effect.die(new SleepsForever())
  }
  return yield* Effect.never
})

/** Settles the effects of one test, which share what they have started. */
export class Settling {
  private readonly activity = new Activity()
  private services: Context.Context<never> | undefined

  /** Runs the effect to its end; see the module. Dies with `NothingToRun` or `SleepsForever` where it never ends. */
  readonly settle = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.clockWith(Effect.succeed), (clock) => {
      if (!isTestClock(clock)) return effect
      // An effect that settles within another one is driven by that one.
      if (isSettling(clock)) return effect
      return Effect.gen({ self: this }, function* () {
        const services = (this.services ??= this.servicesOf(clock, yield* Scheduler.Scheduler))
        const fiber = yield* Effect.forkChild(Effect.provideContext(effect, services))
        // It ends at once with the fiber: what it does next may be part of the same moment as what others do.
        return yield* Effect.raceFirst(Fiber.join(fiber), drive(fiber, this.activity)).pipe(
          Effect.onExit(() => Fiber.interrupt(fiber)),
        )
      })
    })

  private servicesOf(clock: WithSleep, scheduler: Scheduler.Scheduler): Context.Context<never> {
    const counted = Object.assign(this.activity.clock(clock), { "~colloquy/agent/settling": true })
    return Context.make(Clock.Clock, counted).pipe(
      Context.add(Scheduler.Scheduler, this.activity.scheduler(scheduler)),
    )
  }
}

const isSettling = (clock: Clock.Clock): boolean => "~colloquy/agent/settling" in clock

/** Runs one effect to its end on the `TestClock` of the test; see `Settling`. */
export const settle = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => new Settling().settle(effect))
