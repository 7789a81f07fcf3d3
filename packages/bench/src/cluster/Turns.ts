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
}

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
  /** The processor time of each round. */
  readonly roundCpuMs: ReadonlyArray<number>
}

/**
 * The processor time of turns as a multiple of that of others: the median of the rounds, in each of which both were measured
 * within seconds. A machine that others use as well becomes faster and slower by half from one round to the next.
 */
export const costRatio = (figure: TurnFigure, beside: TurnFigure): number =>
  summarize(Arr.zipWith(figure.roundCpuMs, beside.roundCpuMs, (one, other) => one / other)).median

/** Rounds before those that are measured: each process compiles its code while it runs it for the first thousands of times. */
const warmRounds = 2

/** Servers with conversations, and what their turns took in each round. */
class Subject {
  private readonly groups: ReadonlyArray<Servers>
  private readonly asked: Asked
  private readonly ids: ReadonlyArray<string>
  private readonly perSecond: Array<number> = []
  private readonly cpuMsPerTurn: Array<number> = []

  constructor(groups: ReadonlyArray<Servers>, asked: Asked, ids: ReadonlyArray<string>) {
    this.groups = groups
    this.asked = asked
    this.ids = ids
  }

  measure(turns: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const cpuBefore = this.cpuMs()
      const begun = performance.now()
      yield* this.talk(turns)
      const made = turns * this.ids.length
      this.perSecond.push((made * 1000) / (performance.now() - begun))
      this.cpuMsPerTurn.push((this.cpuMs() - cpuBefore) / made)
    })
  }

  get figure(): TurnFigure {
    return {
      perSecond: summarize(this.perSecond).median,
      cpuMsPerTurn: summarize(this.cpuMsPerTurn).median,
      roundCpuMs: this.cpuMsPerTurn,
    }
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
    for (let round = 0; round < counts.rounds; round++) {
      for (const subject of subjects) yield* subject.measure(counts.turns)
    }
    return subjects.map(({ figure }) => figure)
  }).pipe(Effect.scoped)
})
