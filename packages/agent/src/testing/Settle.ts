/**
 * Runs an effect on a `TestClock` until it ends, without the test counting adjustments: whenever nothing can run and the
 * effect still waits, the clock goes on to the next moment that something sleeps until.
 *
 *     run what can run ──▶ ended? ── yes ──▶ its result
 *           ▲                │ no
 *           └── the clock moves to the next wake-up
 *
 * Everything that settles on one clock is counted together, whichever agent it belongs to: the tasks of the fibers that
 * such effects start, and every sleep on the clock, those of the test itself included. One of the effects at a time looks
 * whether the clock has to move, and one move wakes up what all of them sleep until. Without a `TestClock` the effect just
 * runs.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"

/** Most wake-ups without an end, for what sleeps again and again. */
const maxWakeups = 2_000

/** Nothing runs, nothing sleeps, and the effect has not ended: it waits for something that the test never does. */
export class NothingToRun extends Schema.TaggedError<NothingToRun>()("NothingToRun", {
  /** What the turns of the agents under test wait for, one text for each. */
  waiting: Schema.Array(Schema.String),
}) {
  override get message() {
    const waiting = this.waiting.map((one) => `\n  ${one}`).join("")
    return `the effect waits for something that nothing in this test does: no fiber can run, and none sleeps. ${
      waiting === ""
        ? "No agent under test has a turn that runs"
        : `The agents under test:${waiting}`
    }`
  }
}

/** Something of the effect sleeps again and again, and the effect has not ended after 2,000 wake-ups. */
export class SleepsForever extends Schema.TaggedError<SleepsForever>()("SleepsForever", {}) {
  override readonly message = `the effect has not ended after ${maxWakeups.toLocaleString("en")} wake-ups of the clock: something in it sleeps again and again`
}

/** How long promises of the platform, which no scheduler knows, get to settle: reading a file, loading a module. */
const maxLiveWaitMs = 500

/** A sleep that would end later counts as none: nothing that a test waits for takes a year. */
export const maxVirtualMs = Duration.toMillis(Duration.days(365))

type WithSleep = Clock.Clock & { sleep: (duration: Duration.Duration) => Effect.Effect<void> }

/** Says what runs, for `NothingToRun`. */
export type Waiting = () => ReadonlyArray<string>

/** Counts what can run and what sleeps on one clock. */
class Activity {
  /** Held by the one effect that looks whether anything can run, and may move the clock. */
  readonly stepping = Semaphore.makeUnsafe(1)
  /** Steps since something ran: for so many milliseconds of the machine's time nothing could, and nothing slept. */
  quietMs = 0
  /** Of the agents that are tested on the clock. */
  readonly waiting = new Set<Waiting>()
  private pending = 0
  private onIdle: (() => void) | undefined
  private readonly wakeups = new Set<{ readonly atMs: number }>()

  /** Counts all sleeps on the clock from now on. */
  constructor(clock: WithSleep) {
    const sleep = clock.sleep.bind(clock)
    // The clock of a test belongs to it alone, and its fibers have it already: only the clock itself knows their sleeps.
    clock.sleep = (duration) =>
      Effect.acquireUseRelease(
        Effect.map(clock.currentTimeMillis, (now) => {
          const wakeup = { atMs: now + Duration.toMillis(duration) }
          this.wakeups.add(wakeup)
          return wakeup
        }),
        () => sleep(duration),
        (wakeup) => Effect.sync(() => this.wakeups.delete(wakeup)),
      )
  }

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

  get nothingToRun(): NothingToRun {
    return new NothingToRun({ waiting: [...this.waiting].flatMap((waiting) => waiting()) })
  }

  /** The next moment that something sleeps until, at most `latestMs`; undefined: nothing sleeps until then. */
  nextMs(latestMs: number): number | undefined {
    const times = [...this.wakeups].map(({ atMs }) => atMs).filter((atMs) => atMs <= latestMs)
    return times.length === 0 ? undefined : Math.min(...times)
  }
}

/** One turn of the platform's event loop, in which promises settle. */
const breathe = TestClock.withLive(Effect.sleep(1))

/** True: the time of this clock is virtual, and moved by a test. */
export const isTestClock = (clock: Clock.Clock): clock is TestClock.TestClock & WithSleep =>
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
    if (++activity.quietMs > maxLiveWaitMs) return yield* Effect.die(activity.nothingToRun)
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

/** The activity of a clock, kept with it: all that settles on one clock shares its moves. */
const activityOf = (clock: WithSleep & { "~colloquy/agent/activity"?: Activity }): Activity =>
  (clock["~colloquy/agent/activity"] ??= new Activity(clock))

/** The clock that an effect has while it settles. */
const isSettling = (clock: Clock.Clock): boolean => "~colloquy/agent/settling" in clock

const settlingClock = (clock: Clock.Clock): Clock.Clock =>
  // Not spread: a clock may be an instance of a class.
  Object.assign(Object.create(clock) as Clock.Clock, { "~colloquy/agent/settling": true })

/** Runs an effect to its end; see the module. Dies with `NothingToRun` or `SleepsForever` where it never ends. */
export type Settle = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** The clock of a program, whether it settles or not. */
export const clockOf: Effect.Effect<Clock.Clock> = Clock.clockWith((clock) =>
  Effect.succeed(isSettling(clock) ? (Object.getPrototypeOf(clock) as Clock.Clock) : clock),
)

/** Settles effects of an agent. @param waiting what of the agent waits, for `NothingToRun` */
export const settling =
  (waiting: Waiting): Settle =>
  (effect) =>
    Effect.flatMap(Clock.clockWith(Effect.succeed), (clock) => {
      // An effect that settles within another one is driven by that one.
      if (!isTestClock(clock) || isSettling(clock)) return effect
      const activity = activityOf(clock)
      activity.waiting.add(waiting)
      return Effect.gen(function* () {
        const services = Context.make(Clock.Clock, settlingClock(clock)).pipe(
          Context.add(Scheduler.Scheduler, activity.scheduler(yield* Scheduler.Scheduler)),
        )
        const fiber = yield* Effect.forkChild(Effect.provideContext(effect, services))
        // It ends at once with the fiber: what it does next may be part of the same moment as what others do.
        return yield* Effect.raceFirst(Fiber.join(fiber), drive(fiber, activity)).pipe(
          Effect.onExit(() => Fiber.interrupt(fiber)),
        )
      })
    })

/** Settles each pull of a stream. */
export const settledStream = <A, E, R>(
  stream: Stream.Stream<A, E, R>,
  settle: Settle,
): Stream.Stream<A, E, R> => Stream.transformPull(stream, (pull) => Effect.succeed(settle(pull)))

const nothing: Waiting = () => []

/** Runs one effect to its end on the `TestClock` of the test. */
export const settle: Settle = settling(nothing)
