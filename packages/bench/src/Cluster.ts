/**
 * The benchmark `cluster`: nodes of `serve --cluster` that are asked in turn, servers that only share a PostgreSQL database,
 * one server with files, and the store alone beside plain INSERT statements.
 */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { moves, type End } from "./cluster/Moves.ts"
import {
  costRatio,
  idleFor,
  type Measured,
  type TurnCounts,
  type TurnFigure,
  turns,
} from "./cluster/Turns.ts"
import type { Program } from "./cluster/Servers.ts"
import { take } from "./Figure.ts"
import * as Home from "./Home.ts"
import { quantile, summarize } from "./Stats.ts"
import type { SqlAppendFigure, SqlAppendSizes } from "./store/SqlAppend.ts"
import { kibibytes, ms, perSecond, type Row } from "./Table.ts"
import * as ProviderProcess from "./user/ProviderProcess.ts"

/** How much is measured. */
export interface ClusterCounts extends TurnCounts {
  /** Nodes that are killed, and as many that get SIGTERM. */
  readonly moves: number
  /** Events that are appended to the store alone. */
  readonly events: number
  readonly runs: number
}

/** Takes 8 to 12 minutes on two cores. */
export const full: ClusterCounts = {
  conversations: 50,
  turns: 20,
  rounds: 8,
  settlingTurns: 5,
  idleRounds: 6,
  moves: 20,
  events: 2000,
  runs: 3,
}

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: ClusterCounts = {
  conversations: 4,
  turns: 1,
  rounds: 1,
  settlingTurns: 1,
  idleRounds: 1,
  moves: 1,
  events: 40,
  runs: 1,
}

/** Events that a turn appends at once. */
const eventsPerAppend = 4

/** The processor time of a turn of two nodes, as a multiple of that with files. */
const maxCostRatio = 1.5

const maxMoveMs = 5000

/** Events of a turn. */
type EventsOf = (measured: Measured) => number

const turnRow = (
  model: Model,
  { name, ...measured }: Setting,
  figure: TurnFigure,
  [one, two]: ReadonlyArray<TurnFigure>,
  eventsOf: EventsOf,
): Row => {
  const cost = `${ms(figure.cpuMsPerTurn)} of a processor each`
  const row = {
    name: `turns, ${name}${model === "offline" ? ", offline model" : ""}`,
    value: perSecond(figure.perSecond),
  }
  if (measured.kind === "files" || one === undefined || two === undefined) {
    return { ...row, beside: cost }
  }
  const ratio = costRatio(figure.roundCpuMs, one.roundCpuMs)
  const events = perSecond(figure.perSecond * eventsOf(measured))
  const ofTwo = costRatio(figure.roundCpuMs, two.roundCpuMs)
  const isAim = model === "provider" && measured.kind === "nodes" && measured.servers === 2
  return {
    ...row,
    beside: `${events} events, ${cost}, ${ratio.toFixed(2)} times 1 server with files, ${ofTwo.toFixed(2)} times 2`,
    ...(isAim ? { aim: { text: `<= ${maxCostRatio} times 1`, met: ratio <= maxCostRatio } } : {}),
  }
}

/** A turn whose conversation is loaded for it, as that of most turns of people. */
const idleRow = (
  { kind, name }: Setting,
  { idleCpuMs }: TurnFigure,
  one: TurnFigure | undefined,
): Row => {
  const cost = "of a processor each, with the load of the conversation"
  const row = {
    name: `first turns after ${idleFor}, ${name}`,
    value: ms(summarize(idleCpuMs).median),
  }
  if (kind === "files" || one === undefined) return { ...row, beside: cost }
  const ratio = costRatio(idleCpuMs, one.idleCpuMs).toFixed(2)
  return { ...row, beside: `${cost}, ${ratio} times 1 server with files` }
}

/** What the conversations of a database take there. */
const sizesOf = (postgres: PostgresServer, name: string) => {
  const [bytes = 0, conversations = 0, events = 0, made = 0] = postgres
    .sql(
      `SELECT pg_total_relation_size('colloquy_records') + pg_total_relation_size('colloquy_conversations'),
        (SELECT count(*) FROM colloquy_conversations), (SELECT count(seq) FROM colloquy_records),
        (SELECT count(*) FROM colloquy_records WHERE body LIKE '%"type":"task_complete"%')`,
      name,
    )
    .split("|")
    .map(Number)
  return { bytes, conversations, events, eventsPerTurn: events / made }
}

const sizeRow = ({ bytes, conversations, events }: ReturnType<typeof sizesOf>): Row => ({
  name: "a conversation in the database",
  value: kibibytes(bytes / conversations),
  beside: `${(events / conversations).toFixed(0)} events, ${(bytes / events).toFixed(0)} bytes each with indexes`,
})

const moveRow = (end: End, took: ReadonlyArray<number>): Row => {
  const sorted = took.toSorted((a, b) => a - b)
  const p95 = quantile(sorted, 0.95)
  const name = end === "killed" ? "the kill of a node" : "the signal to a node"
  return {
    name: `from ${name} to the end of the next turn`,
    value: ms(summarize(took).median),
    beside: `95 of 100 within ${ms(p95)}, slowest of ${took.length} ${ms(quantile(sorted, 1))}`,
    aim: { text: `95 of 100 < ${ms(maxMoveMs)}`, met: p95 < maxMoveMs },
  }
}

const appendRow = Effect.fnUntraced(function* ({ events, runs }: ClusterCounts) {
  const sizes: SqlAppendSizes = { database: "postgres", events, perBatch: eventsPerAppend, runs }
  const figure = yield* take<SqlAppendFigure>("sqlAppend", sizes)
  const median = summarize(figure.perSecond).median
  const floor = summarize(figure.insertsPerSecond).median
  return {
    name: `events appended, the store alone, ${eventsPerAppend} at a time`,
    value: perSecond(median),
    beside: `plain INSERT of the same rows ${perSecond(floor)}, ${(floor / median).toFixed(2)} times as fast`,
  } satisfies Row
})

/** Where the model is: a provider in a process of its own, or the offline one in the process of the server. */
type Model = "provider" | "offline"

/** Servers, and the name of their row. */
interface Setting extends Measured {
  readonly name: string
}

/** The first two are what the others are compared with: work that is divided over two processes costs more by itself. */
const settings: ReadonlyArray<Setting> = [
  { name: "1 server with files", kind: "files", servers: 1, asked: "owner" },
  { name: "2 servers with files", kind: "files", servers: 2, asked: "owner" },
  { name: "1 node", kind: "nodes", servers: 1, asked: "any" },
  { name: "2 nodes, any of them asked", kind: "nodes", servers: 2, asked: "any" },
  {
    name: "2 nodes, the one asked that has the conversation",
    kind: "nodes",
    servers: 2,
    asked: "owner",
  },
  { name: "3 nodes, any of them asked", kind: "nodes", servers: 3, asked: "any" },
  { name: "2 servers that share only the database", kind: "servers", servers: 2, asked: "owner" },
]

/** What is measured with the offline model too: a turn takes less there, of which the nodes' share is larger. */
const offlineSettings = settings.slice(0, 4)

/** Settings of the same servers have the same database. */
const databaseOf =
  (model: Model) =>
  ({ kind, servers }: Measured): string =>
    `${model}_${kind}${servers}`

const startPostgres = Effect.acquireRelease(
  Effect.sync(() => {
    const server = new PostgresServer()
    server.start()
    return server
  }),
  (server) => Effect.sync(() => server.remove()),
)

/** The rows of the turns of servers with this model. */
const turnRows = Effect.fnUntraced(function* (
  program: Program,
  model: Model,
  postgres: PostgresServer,
  counts: ClusterCounts,
) {
  const measured = model === "provider" ? settings : offlineSettings
  const databases = databaseOf(model)
  const figures = yield* turns(program, measured, postgres, databases, counts)
  const eventsOf: EventsOf = (one) => sizesOf(postgres, databases(one)).eventsPerTurn
  const all = Arr.zip(measured, figures)
  const rows = all.map(([setting, figure]) => turnRow(model, setting, figure, figures, eventsOf))
  if (model === "offline") return rows
  return [...rows, ...all.map(([setting, figure]) => idleRow(setting, figure, figures[0]))]
})

/** Measures the servers, and prints one row per figure. Without PostgreSQL nothing is measured. */
export const cluster = Effect.fn("bench.cluster")(function* (counts: ClusterCounts, bin: string) {
  const missing = missingPostgres()
  if (missing !== undefined) {
    return [{ name: "PostgreSQL", value: "not measured", beside: missing }] satisfies Array<Row>
  }
  const postgres = yield* startPostgres
  const provider = yield* ProviderProcess.make(1)
  const program: Program = { bin, config: Home.providerConfig(provider.baseUrl) }
  const offline: Program = { bin, config: 'model_provider = "offline"\n' }
  const rows: Array<Row> = [
    ...(yield* turnRows(program, "provider", postgres, counts)),
    ...(yield* turnRows(offline, "offline", postgres, counts)),
    yield* appendRow(counts),
    sizeRow(sizesOf(postgres, "provider_nodes1")),
  ]
  for (const end of ["killed", "drained"] as const) {
    rows.push(moveRow(end, yield* moves(program, end, { postgres, name: end }, counts.moves)))
  }
  return rows
}, Effect.scoped)
