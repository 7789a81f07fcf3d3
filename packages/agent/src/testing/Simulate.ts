/**
 * Runs a program over an agent under many interleavings: a scheduler draws from a seed which fiber runs next, and time is
 * virtual, so a seed gives the same run every time. After each run the laws of conversations and those of the program are
 * checked. Of a run that breaks one, the search for the fewest disturbances gives the shortest trace.
 */
import {
  disturbances,
  RecordedDraws,
  type Choices,
  shortestChoices,
} from "@colloquy/simulation/Draws"
import { eventLaws, type EventLog } from "@colloquy/simulation/EventLaws"
import { simulate as simulateOnce } from "@colloquy/simulation/Simulate"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { checkOptions, is, listOf } from "../internal/Options.ts"
import { maxVirtualMs } from "./Settle.ts"
import { EventLogs, type LoggedEvent } from "./EventLogs.ts"
import { brokenIn, checkLaws } from "./Laws.ts"
import { Placeholders } from "./Normalized.ts"
import { waitingIn } from "./Waiting.ts"

export type { EventLog } from "@colloquy/simulation/EventLaws"

/** What a run was, for laws that look at more than one log. */
export interface SimulatedRun<out A> {
  readonly seed: number
  /** What the program returned; undefined where it did not end by itself. */
  readonly value: A | undefined
  /** The events of all conversations in the order in which they happened. */
  readonly events: ReadonlyArray<LoggedEvent>
}

/**
 * A law of the program: returns one text for each violation in the log of a conversation, none where it is kept. An
 * assertion that fails in it is a violation.
 */
export type Law<in A = unknown> = (log: EventLog, run: SimulatedRun<A>) => ReadonlyArray<string>

const Violation = Schema.Struct({
  /** Number of a shipped law, such as `L5`; name of one's own; or `program`, where the program did not succeed. */
  law: Schema.String,
  what: Schema.String,
})
type Violation = typeof Violation.Type

/** A run broke a law, or its program did not succeed. */
export class SimulationFailed extends Schema.TaggedError<SimulationFailed>()("SimulationFailed", {
  /** Runs the same interleaving again. */
  seed: Schema.Int,
  /** What the shortest run broke. */
  violations: Schema.Array(Violation),
  /** The events of the shortest run that was found, one a line. */
  trace: Schema.String,
  /** Number of scheduling decisions that have to differ from the simplest order; 0: it fails in any order. */
  disturbances: Schema.Int,
  /** Number of runs that the search for it took. */
  tries: Schema.Int,
}) {
  override get message() {
    const broken = this.violations.map(({ law, what }) => `  ${law}: ${what}`)
    const order =
      this.disturbances === 0
        ? "in the simplest order of its fibers"
        : `with ${this.disturbances} changes to the simplest order of its fibers`
    return [
      `seed ${this.seed} fails, at its shortest ${order} (${this.tries} runs tried):`,
      ...broken,
      this.trace,
    ].join("\n")
  }
}

/** What all runs were together. */
export interface SimulationReport {
  readonly runs: number
  /** Number of different runs, by their traces. */
  readonly differentRuns: number
  /** Events of all runs. */
  readonly events: number
}

/** Most runs in the search for the shortest trace. */
const maxTries = 200

/** Longest text of an event in a trace. */
const maxEventChars = 240

const seedKind = is("a whole number", Number.isSafeInteger)

const seedsKind = listOf("a seed or an array of seeds", seedKind)

const countKind = is(
  "a whole number from 1 on",
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
)

/** So many seeds, from `from` on. */
export const seeds = (count: number, from = 0): ReadonlyArray<number> => {
  checkOptions("Agent.seeds count", countKind, count)
  checkOptions("Agent.seeds from", seedKind, from)
  return Array.from({ length: count }, (_, i) => from + i)
}

/** Events that repeat what others say, for the model and for accounting. */
const left = new Set<string>(["raw_response_item", "token_count"])

const traceOf = (events: ReadonlyArray<LoggedEvent>): string => {
  const names = new Placeholders()
  return events
    .filter(({ event }) => !left.has(event.msg.type))
    .map(({ atMs, conversationId, event: { msg } }) => {
      const { type, ...rest } = names.replace(msg) as typeof msg
      const where = names.of("conversation", conversationId)
      return `${atMs} ms ${where} ${type} ${JSON.stringify(rest)}`.slice(0, maxEventChars)
    })
    .join("\n")
}

/** One run and what it broke. */
interface Outcome {
  readonly choices: Choices
  readonly events: ReadonlyArray<LoggedEvent>
  readonly violations: ReadonlyArray<Violation>
}

type Laws<A> = Readonly<Record<string, Law<A>>>

const endOf = (
  exit: Exit.Exit<unknown, unknown> | "stuck" | "livelock",
  logs: EventLogs,
): string | undefined => {
  if (exit === "stuck") {
    const waiting = waitingIn(logs).map((one) => `\n    ${one}`)
    return `the program waits for something that nothing does: no fiber can run, and none sleeps. A promise of the platform never settles in a simulation${waiting.join("")}`
  }
  if (exit === "livelock") return "the program does not end: its fibers go on without end"
  return Exit.isSuccess(exit) ? undefined : Cause.pretty(exit.cause)
}

const nothingToCheck =
  "no conversation of an agent has a turn, so there is nothing to check the laws on"

const runWith = <A, E>(
  seed: number,
  program: Effect.Effect<A, E>,
  laws: Laws<A>,
  given?: Choices,
): Outcome => {
  const logs = new EventLogs()
  const draws = new RecordedDraws(seed, given)
  const { exit } = simulateOnce(seed, logs.observe(program), {
    draws,
    latestMs: maxVirtualMs,
  })
  const end = endOf(exit, logs)
  const value = typeof exit !== "string" && Exit.isSuccess(exit) ? exit.value : undefined
  const run = { seed, value, events: logs.all }
  const broken = logs.conversations.flatMap((id) => {
    const log = logs.of(id)
    const shipped = eventLaws.flatMap(({ check, law, statement }) =>
      check(log).map((what) => ({ law, what: `${statement}: ${what}` })),
    )
    return [...shipped, ...brokenIn(laws, log, run)]
  })
  const unchecked = logs.conversations.length === 0 && Object.keys(laws).length > 0
  const problem = end ?? (unchecked ? nothingToCheck : undefined)
  const violations = problem === undefined ? broken : [{ law: "program", what: problem }, ...broken]
  return {
    choices: draws.choices,
    events: logs.all,
    // A law of the whole run says the same about each of its conversations.
    violations: violations.filter(
      ({ law, what }, i) =>
        violations.findIndex((one) => one.law === law && one.what === what) === i,
    ),
  }
}

const explain = <A, E>(
  seed: number,
  program: Effect.Effect<A, E>,
  laws: Laws<A>,
  found: Outcome,
): SimulationFailed => {
  const law = found.violations[0]?.law
  let shortest = found
  const { choices, tries } = shortestChoices(
    found.choices,
    (candidate) => {
      const outcome = runWith(seed, program, laws, candidate)
      if (!outcome.violations.some((one) => one.law === law)) return false
      shortest = outcome
      return true
    },
    maxTries,
  )
  const names = new Placeholders()
  return new SimulationFailed({
    seed,
    violations: shortest.violations.map((one) => names.replace(one) as Violation),
    trace: traceOf(shortest.events),
    disturbances: disturbances(choices),
    tries,
  })
}

/**
 * Runs the program once for each seed, and fails with the first that breaks a law. The program makes its agents itself, so
 * that no run sees what an earlier one left; it has a scope of its own, all conversations of which are closed when the laws
 * are checked. Its clock is virtual: sleeps take no time. An assertion that fails in it fails its seed.
 */
export const simulate = <A, E, R>(
  seed: number | ReadonlyArray<number>,
  program: Effect.Effect<A, E, R>,
  laws: Readonly<Record<string, Law<A>>> = {},
): Effect.Effect<SimulationReport, SimulationFailed, Exclude<R, Scope.Scope>> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Exclude<R, Scope.Scope>>()
    const outside = Context.omit(
      Clock.Clock,
      Random.Random,
      Scheduler.Scheduler,
      Scope.Scope,
    )(context as Context.Context<never>) as Context.Context<Exclude<R, Scope.Scope>>
    const closed = Effect.provideContext(Effect.scoped(program), outside)
    const traces = new Set<string>()
    let events = 0
    const all = typeof seed === "number" ? [seed] : seed
    checkOptions("Agent.simulate seed", seedsKind, all)
    checkLaws("Agent.simulate", laws)
    if (all.length === 0) {
      return yield* Effect.die(new Error("Agent.simulate: no seeds, expected at least one"))
    }
    for (const one of all) {
      const outcome = yield* Effect.sync(() => runWith(one, closed, laws))
      if (outcome.violations.length > 0) return yield* explain(one, closed, laws, outcome)
      traces.add(traceOf(outcome.events))
      events += outcome.events.length
    }
    return { runs: all.length, differentRuns: traces.size, events }
  })
