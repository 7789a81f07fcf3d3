/** The end of a node that waits for a database which takes what is sent and responds to nothing. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Load from "./nodes/Load.ts"
import { ownersOf } from "./nodes/Owners.ts"
import { type ServerNode, startNodes } from "./nodes/ServerNodes.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { describeWithPostgres } from "./support/Databases.ts"

beforeAll(buildIfMissing, 120_000)

/** The longest turns, and what a node may take after them with room for a busy machine. */
const drainMs = 5000
const endMs = drainMs + 13_000

describeWithPostgres("the end of a node", (server) => {
  /** Stops the processes of the database that carry out such statements of the nodes, until the scope closes. */
  const stopped = (database: string, statement: string) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const name = new URL(database).pathname.slice(1)
        const rows = server.postgres.sql(
          `SELECT pid FROM pg_stat_activity WHERE datname = '${name}' AND query LIKE '${statement}%' AND pid <> pg_backend_pid()`,
          name,
        )
        const pids = rows.split("\n").filter(Boolean).map(Number)
        for (const pid of pids) process.kill(pid, "SIGSTOP")
        return pids
      }),
      (pids) =>
        Effect.sync(() => {
          for (const pid of pids) process.kill(pid, "SIGCONT")
        }),
    )

  /** A node, and a conversation that it has. */
  const started = Effect.gen(function* () {
    const database = server.newDatabase()
    const nodes = yield* startNodes(database, 1, `[cluster]\ndrain_ms = ${drainMs}`)
    const [node = assert.fail("no node")] = nodes.all()
    const known = yield* Load.createOn(nodes, node, () => ownersOf(server.postgres, database))
    return { database, known, node, nodes }
  })

  /** Resolves with the exit code of a node that gets a signal, and asserts how long it takes. */
  const ended = Effect.fnUntraced(function* (node: ServerNode) {
    const begun = performance.now()
    yield* node.server.kill("SIGTERM")
    const { code } = yield* node.server.exit
    assert.isBelow(performance.now() - begun, endMs, node.server.stderr())
    return code
  })

  it.live(
    "L8 comes in bounded time where none of its connections gets a response",
    () =>
      Effect.gen(function* () {
        const { database, known, node, nodes } = yield* started
        yield* Effect.scoped(Effect.andThen(stopped(database, ""), ended(node)))
        const next = yield* nodes.start
        yield* Load.say(nodes, known, "say after", { first: next })
      }).pipe(Effect.scoped),
    90_000,
  )

  it.live(
    "L8 comes in bounded time where the connection for notices gets no response",
    () =>
      Effect.gen(function* () {
        const { database, node } = yield* started
        assert.lengthOf(yield* stopped(database, "LISTEN"), 1)
        assert.strictEqual(yield* ended(node), 143)
      }).pipe(Effect.scoped),
    90_000,
  )
})
