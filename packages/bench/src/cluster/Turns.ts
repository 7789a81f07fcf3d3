/**
 * Turns of servers with a database, beside turns of servers with files. All live at the same time and are measured in turn, so
 * that what else the machine does meets all of them.
 */
import type { PostgresServer } from "@colloquy/testing/PostgresServer"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { summarize } from "../Stats.ts"
import {
  concurrency,
  cpuMs,
  create,
  type Kind,
  type Program,
  say,
  type Servers,
  startServers,
  untilShared,
} from "./Servers.ts"

/** How many turns are measured. */
export interface TurnCounts {
  /** Of each subject. */
  readonly conversations: number
  /** Turns of each conversation in each round. */
  readonly turns: number
  readonly rounds: number
  /**
   * Turns of each conversation before each round, which are not measured: what is measured are servers in use. The first ones
   * load the conversations again, which are evicted while the other subjects are measured, and find the process cold.
   */
  readonly settlingTurns: number
  /** Rounds of one turn of each conversation that was not used for `idleFor` and is loaded for it. */
  readonly idleRounds: number
}

/** Longer than an idle conversation stays in memory. */
export const idleFor = "6 seconds"

/** Which server is asked for a turn: the one on which the conversation was created, or each in turn. */
export type Asked = "owner" | "any"

/** Servers whose turns are measured. */
export interface Measured {
  readonly kind: Kind
  readonly servers: number
  readonly asked: Asked
}

/** What the turns of servers took: medians of the rounds. */
export interface TurnFigure {
  readonly perSecond: number
  readonly cpuMsPerTurn: number
  /** The processor time of a turn in each round. */
  readonly roundCpuMs: ReadonlyArray<number>
  /** Likewise of a turn whose conversation is loaded for it. */
  readonly idleCpuMs: ReadonlyArray<number>
}

/**
 * The processor time of turns as a multiple of that of others: the median of the rounds, in each of which both were measured
 * within seconds. A machine that others use as well becomes faster and slower by half from one round to the next.
 */
export const costRatio = (cpuMs: ReadonlyArray<number>, beside: ReadonlyArray<number>): number =>
  summarize(Arr.zipWith(cpuMs, beside, (one, other) => one / other)).median

/** Rounds before those that are measured: each process compiles its code while it runs it for the first thousands of times. */
const warmRounds = 2

/** Servers with conversations, and what their turns took in each round. */
class Subject {
  private readonly groups: ReadonlyArray<Servers>
  private readonly asked: Asked
  private readonly ids: ReadonlyArray<string>
  private readonly perSecond: Array<number> = []
  private readonly roundCpuMs: Array<number> = []
  private readonly idleCpuMs: Array<number> = []

  constructor(groups: ReadonlyArray<Servers>, asked: Asked, ids: ReadonlyArray<string>) {
    this.groups = groups
    this.asked = asked
    this.ids = ids
  }

  measure({ settlingTurns, turns }: TurnCounts): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      yield* this.talk(settlingTurns)
      const { cpuMsPerTurn, perSecond } = yield* this.measured(turns)
      this.perSecond.push(perSecond)
      this.roundCpuMs.push(cpuMsPerTurn)
    })
  }

  /** Measures the first turn of each conversation, none of which is in memory. */
  measureIdle(): Effect.Effect<void> {
    return Effect.map(
      this.measured(1),
      ({ cpuMsPerTurn }) => void this.idleCpuMs.push(cpuMsPerTurn),
    )
  }

  get figure(): TurnFigure {
    const { idleCpuMs, perSecond, roundCpuMs } = this
    return {
      perSecond: summarize(perSecond).median,
      cpuMsPerTurn: summarize(roundCpuMs).median,
      roundCpuMs,
      idleCpuMs,
    }
  }

  private measured(turns: number) {
    return Effect.gen({ self: this }, function* () {
      const cpuBefore = this.cpuMs()
      const begun = performance.now()
      yield* this.talk(turns)
      const made = turns * this.ids.length
      return {
        perSecond: (made * 1000) / (performance.now() - begun),
        cpuMsPerTurn: (this.cpuMs() - cpuBefore) / made,
      }
    })
  }

  /** Makes so many turns of each conversation. */
  talk(turns: number): Effect.Effect<void> {
    const servers = serversOf(this.groups)
    const one = (id: string, n: number) =>
      Effect.forEach(
        Array.from({ length: turns }, (_, turn) => (this.asked === "owner" ? n : n + turn)),
        (at) => Effect.forEach(placeIn(servers, at), ({ server, token }) => say(server, token, id)),
        { discard: true },
      )
    return Effect.forEach(this.ids, one, { concurrency, discard: true })
  }

  private cpuMs(): number {
    return this.groups.reduce((sum, group) => sum + cpuMs(group), 0)
  }
}

const serversOf = (groups: ReadonlyArray<Servers>) =>
  groups.flatMap(({ all, token }) => all.map((server) => ({ server, token })))

/** The server with this number, counted round; none where there are none. */
const placeIn = <A>(servers: ReadonlyArray<A>, n: number): ReadonlyArray<A> => {
  const place = n % servers.length
  return servers.slice(place, place + 1)
}

/** Starts servers: those with files each with a state directory of its own, since they share nothing. */
const startGroups = Effect.fnUntraced(function* (
  program: Program,
  { kind, servers }: Measured,
  { postgres, name }: { readonly postgres: PostgresServer; readonly name: string },
): Effect.fn.Return<ReadonlyArray<Servers>, never, Scope.Scope> {
  if (kind === "files") {
    const each = Array.from({ length: servers })
    return yield* Effect.forEach(each, () => startServers(program, kind, 1, ""))
  }
  const group = yield* startServers(program, kind, servers, postgres.database(name))
  if (kind === "nodes") yield* untilShared(postgres, name, servers)
  return [group]
})

const subjectOf = Effect.fnUntraced(function* (
  groups: ReadonlyArray<Servers>,
  asked: Asked,
  conversations: number,
) {
  const servers = serversOf(groups)
  const ids = yield* Effect.forEach(
    Array.from({ length: conversations }, (_, n) => n),
    (n) => Effect.forEach(placeIn(servers, n), ({ server, token }) => create(server, token)),
    { concurrency },
  )
  return new Subject(groups, asked, ids.flat())
})

/** Measures all servers, those with a database each with one of the name that `databaseOf` gives. Resolves in the same order. */
export const turns = Effect.fnUntraced(function* (
  program: Program,
  measured: ReadonlyArray<Measured>,
  postgres: PostgresServer,
  databaseOf: (measured: Measured) => string,
  counts: TurnCounts,
): Effect.fn.Return<ReadonlyArray<TurnFigure>> {
  return yield* Effect.gen(function* () {
    const started = new Map<string, ReadonlyArray<Servers>>()
    const subjects: Array<Subject> = []
    for (const one of measured) {
      const name = databaseOf(one)
      const groups = started.get(name) ?? (yield* startGroups(program, one, { postgres, name }))
      started.set(name, groups)
      subjects.push(yield* subjectOf(groups, one.asked, counts.conversations))
    }
    for (const subject of subjects) yield* subject.talk(warmRounds * counts.turns)
    // Subjects of the same servers come first in turn: those that come second find them in use.
    const orders = [subjects, subjects.toReversed()]
    for (let round = 0; round < counts.idleRounds; round++) {
      yield* Effect.sleep(idleFor)
      for (const subject of orders[round % 2] ?? []) yield* subject.measureIdle()
    }
    for (let round = 0; round < counts.rounds; round++) {
      for (const subject of orders[round % 2] ?? []) yield* subject.measure(counts)
    }
    return subjects.map(({ figure }) => figure)
  }).pipe(Effect.scoped)
})
