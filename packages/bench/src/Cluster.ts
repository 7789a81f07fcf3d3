/** The benchmark `cluster`: servers that share a PostgreSQL database, beside one server with files. */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Home from "./Home.ts"
import { SoakServer } from "./soak/SoakServer.ts"
import { summarize } from "./Stats.ts"
import { kibibytes, ms, perSecond, type Row } from "./Table.ts"

/** How much is measured. */
export interface ClusterCounts {
  readonly conversations: number
  /** Turns of each conversation. */
  readonly turns: number
  /** Servers that are killed. */
  readonly moves: number
}

/** Takes about half a minute on two cores. */
export const full: ClusterCounts = { conversations: 100, turns: 10, moves: 10 }

/** Shows that the benchmark runs; its figures mean nothing. */
export const quick: ClusterCounts = { conversations: 4, turns: 1, moves: 1 }

/** Requests at the same time. */
const concurrency = 8

/** The processor time of a turn with a database, as a multiple of that with files. */
const maxCostRatio = 1.5

const maxMoveMs = 5000

interface Figures {
  readonly perSecond: number
  readonly cpuMsPerTurn: number
}

/** A conversation and the server that has it. */
interface Placed {
  readonly id: string
  readonly server: SoakServer
}

const post = async (url: string, token: string, json: object) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(json),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return JSON.parse(text) as { readonly conversationId: string }
}

const say = ({ id, server }: Placed, token: string, word: string) =>
  Effect.promise(() =>
    post(`${server.url}/v1/conversations/${id}/turns?wait=true`, token, { input: `say ${word}` }),
  )

/** Servers of one state directory and one store. They are killed with the scope. */
const servers = Effect.fnUntraced(function* (bin: string, store: string, count: number) {
  const environment = yield* Home.make(
    `model_provider = "offline"\nconversation_store = ${JSON.stringify(store)}\n`,
  )
  const all: Array<SoakServer> = []
  for (let started = 0; started < count; started++) {
    const server = new SoakServer(bin, environment)
    yield* Effect.acquireRelease(
      Effect.promise(() => server.start()),
      () => Effect.promise(() => server.kill()),
    )
    all.push(server)
  }
  const token = readFileSync(join(environment["COLLOQUY_HOME"] ?? "", "http-token"), "utf8").trim()
  return { all, token }
})

const place = (all: ReadonlyArray<SoakServer>, token: string, count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, n) => all.slice(n % all.length, (n % all.length) + 1)).flat(),
    (server) =>
      Effect.promise(async (): Promise<Placed> => {
        const { conversationId } = await post(`${server.url}/v1/conversations`, token, {})
        return { id: conversationId, server }
      }),
    { concurrency },
  )

const cpuMs = (all: ReadonlyArray<SoakServer>) => all.reduce((sum, one) => sum + one.cpuMs(), 0)

/** Turns of all conversations, each asked of the server that has it. */
const turns = Effect.fnUntraced(function* (
  bin: string,
  store: string,
  count: number,
  counts: ClusterCounts,
) {
  const { all, token } = yield* servers(bin, store, count)
  const placed = yield* place(all, token, counts.conversations)
  const talk = (word: string, times: number) =>
    Effect.forEach(
      placed,
      (one) =>
        Effect.forEach(Array.from({ length: times }), () => say(one, token, word), {
          discard: true,
        }),
      { concurrency, discard: true },
    )
  // Each process compiles its code by itself, so each gets as many turns before it is measured.
  yield* talk("warm", Math.ceil(counts.turns / 2) * count)
  const before = cpuMs(all)
  const begun = performance.now()
  yield* talk("word", counts.turns)
  const elapsed = performance.now() - begun
  const made = counts.conversations * counts.turns
  const cpuMsPerTurn = (cpuMs(all) - before) / made
  return { perSecond: (made * 1000) / elapsed, cpuMsPerTurn } satisfies Figures
}, Effect.scoped)

/** How long it takes from the kill of a server to the end of the next turn of its conversation on another one. */
const moves = Effect.fnUntraced(function* (bin: string, store: string, count: number) {
  const { all, token } = yield* servers(bin, store, 2)
  const took: Array<number> = []
  const [first, second] = all
  if (first === undefined || second === undefined) return took
  const [one] = yield* place([first], token, 1)
  if (one === undefined) return took
  yield* say(one, token, "warm")
  for (let move = 0; move < count; move++) {
    const [from, to] = move % 2 === 0 ? [first, second] : [second, first]
    const begun = performance.now()
    yield* Effect.promise(() => from.kill())
    yield* say({ id: one.id, server: to }, token, "back")
    took.push(performance.now() - begun)
    yield* Effect.promise(() => from.start())
  }
  return took
}, Effect.scoped)

const row = (name: string, { cpuMsPerTurn, perSecond: rate }: Figures, files?: Figures): Row => ({
  name: `turns, ${name}`,
  value: perSecond(rate),
  beside: `${ms(cpuMsPerTurn)} of a processor each`,
  ...(files === undefined
    ? {}
    : {
        aim: {
          text: `<= ${maxCostRatio} times the processor time with files`,
          met: cpuMsPerTurn <= maxCostRatio * files.cpuMsPerTurn,
        },
      }),
})

/** What the conversations of a database take there, with their indexes. */
const sizes = (postgres: PostgresServer, name: string): Row => {
  const [bytes = 0, conversations = 0, events = 0] = postgres
    .sql(
      `SELECT pg_total_relation_size('colloquy_records') + pg_total_relation_size('colloquy_conversations'),
        (SELECT count(*) FROM colloquy_conversations), (SELECT count(seq) FROM colloquy_records)`,
      name,
    )
    .split("|")
    .map(Number)
  return {
    name: "a conversation in the database",
    value: kibibytes(bytes / conversations),
    beside: `${(events / conversations).toFixed(0)} events, ${(bytes / events).toFixed(0)} bytes each with indexes`,
  }
}

/** Measures the servers, and prints one row per figure; without PostgreSQL only the one with files. */
export const cluster = Effect.fn("bench.cluster")(function* (counts: ClusterCounts, bin: string) {
  const files = yield* turns(bin, "files", 1, counts)
  const rows: Array<Row> = [row("1 server with files", files)]
  if (missingPostgres() !== undefined) return rows
  const postgres = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const server = new PostgresServer()
      server.start()
      return server
    }),
    (server) => Effect.sync(() => server.remove()),
  )
  for (const count of [1, 2, 3]) {
    const figures = yield* turns(bin, postgres.database(`turns${count}`), count, counts)
    rows.push(row(`${count} ${count === 1 ? "server" : "servers"} with PostgreSQL`, figures, files))
  }
  rows.push(sizes(postgres, "turns1"))
  const took = yield* moves(bin, postgres.database("moves"), counts.moves)
  const max = Math.max(...took)
  rows.push({
    name: "from the kill of a server to the end of the next turn",
    value: ms(summarize(took).median),
    beside: `slowest of ${counts.moves}: ${ms(max)}`,
    aim: { text: `< ${ms(maxMoveMs)}`, met: max < maxMoveMs },
  })
  return rows
}, Effect.scoped)
