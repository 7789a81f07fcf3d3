/**
 * Nodes of a cluster that cannot reach each other, and whose database refuses them: L4, L5, L10 and L16. Each request gets a
 * response that says what is wrong, and nothing that was acknowledged is lost.
 */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { postgresLogs } from "./crash/DatabaseLogs.ts"
import * as Link from "./nodes/Link.ts"
import * as Load from "./nodes/Load.ts"
import { ownersOf } from "./nodes/Owners.ts"
import { type ServerNode, type ServerNodes, startNodes } from "./nodes/ServerNodes.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { describeWithPostgres } from "./support/Databases.ts"
import { request } from "./support/HttpProcess.ts"

beforeAll(buildIfMissing, 120_000)

/** Sends input to this node and no other. Resolves with its response, whatever that is. */
const ask = Effect.fnUntraced(function* (
  nodes: ServerNodes,
  node: ServerNode,
  { id }: Load.Known,
  input: string,
) {
  const { status, text } = yield* request(`${node.url}/v1/conversations/${id}/turns?wait=true`, {
    token: nodes.token,
    json: { input, submissionId: input.replaceAll(/[^\w-]/g, "-") },
  })
  return { status, body: JSON.parse(text) as { readonly code?: string; readonly message?: string } }
})

/** Sends input to the node, which takes it or says that it cannot do so now. */
const askOrRefuse = Effect.fnUntraced(function* (
  nodes: ServerNodes,
  { node, one }: { readonly node: ServerNode; readonly one: Load.Known },
) {
  const input = `say apart ${one.id} ${node.url}`
  const { body, status } = yield* ask(nodes, node, one, input)
  if (status === 200) one.inputs.push(input)
  else assert.deepStrictEqual([status, body.code], [503, "unavailable"], JSON.stringify(body))
})

/** Asserts that every node says of itself that it cannot take input now. */
const refusedBy = (nodes: ServerNodes, known: Load.Known) =>
  Effect.forEach(
    nodes.all(),
    Effect.fnUntraced(function* (node) {
      const { body, status } = yield* ask(nodes, node, known, `say refused ${node.url}`)
      assert.deepStrictEqual([status, body.code], [503, "unavailable"], JSON.stringify(body))
    }),
    { concurrency: "unbounded", discard: true },
  )

/** Starts a node that the others reach through a link. */
const linked = Effect.fnUntraced(function* (nodes: ServerNodes) {
  const port = yield* Link.freePort
  const link = yield* Link.make(port)
  const node = yield* nodes.startWith(
    "-c",
    `cluster.listen=127.0.0.1:${port}`,
    "-c",
    `cluster.address=127.0.0.1:${link.port}`,
  )
  return { node, link }
})

describeWithPostgres("the nodes of a cluster", (server) => {
  /** Asserts that the log obeys the laws, and has each of these inputs once. */
  const judge = (database: string, { id, inputs }: Load.Known) => {
    const judged = postgresLogs(server.postgres, database).read([id]).get(id)?.judge()
    assert.deepStrictEqual(judged?.faults, [])
    const said = judged?.events.flatMap(({ msg }) =>
      msg.type === "user_message" ? [String(msg["message"])] : [],
    )
    for (const input of inputs)
      assert.strictEqual(said?.filter((one) => one === input).length, 1, input)
  }

  it.live(
    "L4 L10 L16 that cannot reach each other never both write, and lose nothing",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const owners = () => ownersOf(server.postgres, database)
        const nodes = yield* startNodes(database, 0)
        const a = yield* linked(nodes)
        const b = yield* linked(nodes)
        const known = [
          yield* Load.createOn(nodes, a.node, owners),
          yield* Load.createOn(nodes, b.node, owners),
        ]
        yield* Effect.all([a.link.cut, b.link.cut])
        const asked = known.flatMap((one) => [a, b].map(({ node }) => ({ node, one })))
        yield* Effect.forEach(asked, (each) => askOrRefuse(nodes, each), {
          concurrency: "unbounded",
        })
        yield* Effect.all([a.link.heal, b.link.heal])
        for (const one of known) {
          for (const { node } of [a, b])
            yield* Load.say(nodes, one, `say together ${one.id} ${node.url}`, { first: node })
          judge(database, one)
        }
      }).pipe(Effect.scoped),
    240_000,
  )

  it.live(
    "L10 say that the database permits no writing, and go on when it does",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const name = new URL(database).pathname.slice(1)
        const setReadOnly = (value: string) => {
          server.postgres.sql(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)
          server.postgres.sql(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
          )
        }
        const nodes = yield* startNodes(database, 2)
        const known = yield* Load.create(nodes, "never")
        yield* Load.say(nodes, known, "say before")
        setReadOnly("on")
        yield* refusedBy(nodes, known)
        setReadOnly("off")
        yield* Load.say(nodes, known, "say after")
        judge(database, known)
      }).pipe(Effect.scoped),
    180_000,
  )

  it.live(
    "L10 say that the database has no connection left, and go on when it has",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const name = new URL(database).pathname.slice(1)
        server.postgres.sql([`CREATE ROLE few LOGIN`, `ALTER DATABASE ${name} OWNER TO few`])
        const address = database.replace("//postgres@", "//few@")
        const nodes = yield* startNodes(address, 2)
        const known = yield* Load.create(nodes, "never")
        yield* Load.say(nodes, known, "say before")
        server.postgres.sql("ALTER ROLE few CONNECTION LIMIT 0")
        server.postgres.sql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'few'",
        )
        yield* refusedBy(nodes, known)
        server.postgres.sql("ALTER ROLE few CONNECTION LIMIT -1")
        yield* Load.say(nodes, known, "say after")
        judge(database, known)
      }).pipe(Effect.scoped),
    180_000,
  )

  it.live(
    "L5 L10 end a turn once that ran when the database went away for longer than a lease",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const nodes = yield* startNodes(database, 2, "[offline]\ndelta_delay_ms = 50")
        const known = yield* Load.create(nodes, "never")
        yield* Load.say(nodes, known, `say ${"slow ".repeat(200).trim()}`, { wait: false })
        yield* Effect.sleep(500)
        server.postgres.stop("immediate")
        yield* Effect.sleep(12_000)
        server.postgres.start()
        yield* Load.say(nodes, known, "say after")
        judge(database, known)
      }).pipe(Effect.scoped),
    180_000,
  )
})
