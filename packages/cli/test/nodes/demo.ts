/**
 * `npm run cluster-demo`: starts PostgreSQL in a temporary directory and the three nodes of a cluster, and a client that
 * keeps talking through any of them while the node that has its conversation is killed, again and again. Prints how long each answer took.
 */
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { buildIfMissing } from "../support/BuiltProgram.ts"
import * as Load from "./Load.ts"
import { ownerOf, ownersOf } from "./Owners.ts"
import { startNodes } from "./ServerNodes.ts"

const kills = 5

const postgres = Effect.acquireRelease(
  Effect.sync(() => {
    const server = new PostgresServer()
    server.start()
    return server
  }),
  (server) => Effect.sync(() => server.remove()),
)

const timed = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(
    Effect.timed(effect),
    ([took]) => `${String(Math.round(Duration.toMillis(took))).padStart(5)} ms`,
  )

const demo = Effect.gen(function* () {
  yield* Console.log("Starting PostgreSQL and three servers …")
  const server = yield* postgres
  const database = server.database("demo")
  const nodes = yield* startNodes(database, 3)
  const known = yield* Load.create(nodes, "never")
  yield* Console.log(`Conversation ${known.id}`)
  for (let kill = 1; kill <= kills; kill++) {
    for (const word of ["one", "two"]) {
      const took = yield* timed(Load.say(nodes, known, `say ${word} ${kill}`))
      yield* Console.log(`  ${took}  an answer through ${known.server}`)
    }
    const owner = ownerOf(ownersOf(server, database), known.id, nodes.all())
    if (owner === undefined) continue
    yield* nodes.kill(owner)
    yield* Console.log(`  killed     ${owner.url}, which had the conversation`)
    const took = yield* timed(Load.say(nodes, known, `say back ${kill}`))
    yield* Console.log(`  ${took}  the first answer after that, through ${known.server}`)
    yield* nodes.start
  }
  const rows = server.sql(
    "SELECT count(seq) || ' events, the last is number ' || max(seq) FROM colloquy_records",
    "demo",
  )
  yield* Console.log(`In the database: ${rows}`)
}).pipe(Effect.scoped)

const missing = missingPostgres()
if (missing === undefined) {
  buildIfMissing()
  await Effect.runPromise(demo)
} else {
  process.stdout.write(`skipped, because ${missing}\n`)
}
