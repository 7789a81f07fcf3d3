/** Servers as nodes of a cluster: their start, what each says of the others' conversations, and their end. */
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { createServer } from "node:net"
import { postgresLogs } from "./crash/DatabaseLogs.ts"
import * as Load from "./nodes/Load.ts"
import { ownersOf } from "./nodes/Owners.ts"
import { startNodes } from "./nodes/ServerNodes.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { describeWithPostgres } from "./support/Databases.ts"
import * as Home from "./support/Home.ts"
import { request, startHttp } from "./support/HttpProcess.ts"
import { run as runProgram } from "./support/Program.ts"

beforeAll(buildIfMissing, 120_000)

/** Starts a server that is expected to fail. */
const failing = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const home = yield* Home.home()
  const server = yield* startHttp(home, ["serve", "--listen", "http://127.0.0.1:0", ...args])
  const { code } = yield* server.exit
  return { code, error: server.stderr().trim() }
})

/** A port that another program has. */
const taken = Effect.acquireRelease(
  Effect.callback<ReturnType<typeof createServer>>((resume) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close()),
).pipe(
  Effect.map((server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  }),
)

/** Runs a command of the program to its end. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.map(Home.home(), (home) =>
    runProgram(args, { env: { COLLOQUY_HOME: home, HOME: home }, cwd: home }),
  )

describeWithPostgres("serve --cluster", (server) => {
  /** The types of the terminal events of a conversation whose log has no fault. */
  const endsOf = (database: string, { id }: Load.Known) => {
    const judged = postgresLogs(server.postgres, database).read([id]).get(id)?.judge()
    assert.deepStrictEqual(judged?.faults, [])
    return judged?.events
      .map(({ msg }) => msg.type)
      .filter((type) => type === "task_complete" || type === "turn_aborted")
  }

  it.live("says in one line why a server cannot be a node", () =>
    Effect.gen(function* () {
      const database = server.newDatabase()
      const port = yield* taken
      for (const address of ["sqlite:x", "postgres://u:%zz@localhost/d"]) {
        assert.deepStrictEqual(yield* failing("--cluster", address), {
          code: 2,
          error:
            "colloquy: `--cluster` takes `postgres://user:password@host/database`, with a user, and each special character of a part as `%XX`; see `colloquy --help`",
        })
      }
      assert.deepStrictEqual(yield* failing("--cluster", database, "--cluster-listen", "x"), {
        code: 2,
        error: "colloquy: `--cluster-listen` takes `HOST:PORT`; see `colloquy --help`",
      })
      const listen = `127.0.0.1:${port}`
      assert.deepStrictEqual(yield* failing("--cluster", database, "--cluster-listen", listen), {
        code: 1,
        error: `colloquy: cannot listen on ${listen} for the nodes of the cluster: EADDRINUSE (\`cluster.listen\`)`,
      })
      assert.deepStrictEqual(yield* failing("-c", "cluster.drain_ms=1"), {
        code: 1,
        error:
          "colloquy: error loading config: has no effect without `cluster.database` in `cluster.drain_ms`",
      })
      const misspelt = yield* failing("--cluster", database, "-c", "cluster.drain=1")
      assert.deepStrictEqual(misspelt, {
        code: 1,
        error:
          "colloquy: error loading config: unknown field `drain`, did you mean `drain_ms`? in `cluster.drain`",
      })
      assert.deepStrictEqual(yield* failing("--cluster", database, "-c", "cluster=1"), {
        code: 1,
        error:
          "colloquy: error loading config: invalid type: integer `1`, expected a map in `cluster`",
      })
      const missing = new URL(database)
      missing.pathname = "/nothing"
      assert.deepStrictEqual(yield* failing("--cluster", missing.href), {
        code: 1,
        error: "colloquy: the database `nothing` does not exist (3D000) (`cluster.database`)",
      })
      const schema = `${database}&options=-csearch_path%3Dgroup_z`
      assert.deepStrictEqual(yield* failing("--cluster", schema), {
        code: 1,
        error: "colloquy: the schema (`search_path`) does not exist (3F000) (`cluster.database`)",
      })
      assert.match(
        (yield* failing("--cluster", database, "-c", "conversation_store=files")).error,
        /`conversation_store` names another place than `cluster.database`/,
      )
    }).pipe(Effect.scoped),
  )

  it.live(
    "waits for a database for ten seconds, and refuses one of a later version",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const name = new URL(database).pathname.slice(1)
        yield* startNodes(database, 1)
        server.postgres.sql("INSERT INTO colloquy_migrations VALUES (99, now(), 'later')", name)
        const later = yield* failing("--cluster", database)
        assert.strictEqual(later.code, 1)
        assert.match(later.error, /have version 99, .* \(`cluster.database`\)$/)
        const begun = performance.now()
        const down = yield* failing("--cluster", "postgres://nobody@127.0.0.1:1/nothing")
        assert.deepStrictEqual(down, {
          code: 1,
          error: "colloquy: the database cannot be reached (ECONNREFUSED) (`cluster.database`)",
        })
        assert.isAbove(performance.now() - begun, 5000)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "keeps clusters in two schemas of a database apart",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const name = new URL(database).pathname.slice(1)
        server.postgres.sql(["CREATE SCHEMA one", "CREATE SCHEMA two"], name)
        const schema = (of: string) => `${database}&options=-csearch_path%3D${of}`
        const one = yield* startNodes(schema("one"), 1)
        const two = yield* startNodes(schema("two"), 1)
        for (const nodes of [one, two]) {
          const known = yield* Load.create(nodes, "never")
          yield* Load.say(nodes, known, "say hello")
        }
        yield* Effect.sleep(3000)
        for (const of of ["one", "two"]) {
          const found = server.postgres.sql(
            `SELECT shards || ' ' || conversations FROM ${of}.colloquy_nodes`,
            name,
          )
          assert.strictEqual(found, "60 1", of)
        }
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "a node that another one has taken the address from ends, and says so",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const [node = assert.fail("no node")] = (yield* startNodes(database, 1)).all()
        const other = Effect.sync(() =>
          server.postgres.sql(
            "UPDATE colloquy_nodes SET process = 'other', at = clock_timestamp()",
            new URL(database).pathname.slice(1),
          ),
        )
        const reporting = Effect.forever(Effect.andThen(other, Effect.sleep(500)))
        const { code } = yield* Effect.raceFirst(node.server.exit, reporting)
        assert.strictEqual(code, 1)
        assert.match(
          node.server.stderr(),
          /^colloquy: another node has taken over 127\.0\.0\.1:\d+, .* \(`cluster\.address`\)$/m,
        )
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live("`cluster status` names a schema that does not exist, and a table that is none", () =>
    Effect.gen(function* () {
      const database = new URL(server.newDatabase())
      database.searchParams.set("options", "-csearch_path=group_z")
      const { code, stderr } = yield* run("cluster", "status", database.href)
      assert.deepStrictEqual(
        [code, stderr.trim()],
        [1, "colloquy: the database of the cluster: there is no schema `group_z` (`search_path`)"],
      )
      const wrong = yield* run("cluster", "status", "-c", "cluster=1")
      assert.include(wrong.stderr, "expected a map in `cluster`")
    }),
  )

  it.live(
    "every node takes any request; `cluster status` and `/metrics` say who has what",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const before = yield* run("cluster", "status", database)
        assert.deepStrictEqual([before.code, before.stdout], [1, "No node uses this database.\n"])
        const missing = yield* run("cluster", "status", database.replace("?", "missing?"))
        assert.strictEqual(missing.code, 1)
        assert.match(missing.stderr, /the database of the cluster: .*\(3D000\)/)
        const nodes = yield* startNodes(database, 2)
        const [a = assert.fail("no node"), b = assert.fail("no node")] = nodes.all()
        const owners = () => ownersOf(server.postgres, database)
        const known = yield* Load.createOn(nodes, a, owners)
        for (const node of [a, b]) yield* Load.say(nodes, known, `say ${node.url}`, { first: node })
        yield* Effect.sleep(1500)
        // Before programs are run: a conversation without use leaves the memory after five seconds.
        const metrics = yield* Effect.forEach([a, b], ({ url }) =>
          Effect.map(request(`${url}/metrics`, { token: nodes.token }), ({ text }) => text),
        )
        const status = yield* run("cluster", "status", "--json", database)
        assert.strictEqual(status.code, 0)
        const found = (
          JSON.parse(status.stdout) as { readonly nodes: ReadonlyArray<{ readonly node?: string }> }
        ).nodes
        assert.strictEqual(found.length, 2)
        const { node: address = "" } = found[0] ?? {}
        for (const taken of [address, address.replace("127.0.0.1", "localhost")]) {
          assert.deepStrictEqual(
            yield* failing("--cluster", database, "--cluster-address", taken),
            {
              code: 1,
              error: `colloquy: another node of the cluster is reached at ${taken}: each needs an address of its own (\`cluster.address\`)`,
            },
          )
        }
        const { stdout } = yield* run("cluster", "status", "-c", `cluster.database=${database}`)
        const [titles, ...rows] = stdout.trimEnd().split("\n")
        assert.match(titles ?? "", /^NODE +SHARDS +CONVERSATIONS +TURNS +WAITING +HEARTBEAT$/)
        assert.strictEqual(rows.length, 3)
        assert.isTrue(
          stdout.split("\n").every((row) => row.length <= 80),
          stdout,
        )
        for (const text of metrics) {
          assert.match(text, /^colloquy_cluster_shards\{node="127.0.0.1:\d+"\} \d+$/m)
        }
        // The node that joined last may have taken the shard of the conversation since.
        assert.match(
          metrics.join(""),
          /^colloquy_cluster_conversations\{node="127.0.0.1:\d+",shard="\d+"\} 1$/m,
        )
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "L5 L10 a node that gets SIGTERM lets turns end, and others have its conversations",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const nodes = yield* startNodes(database, 2, "[offline]\ndelta_delay_ms = 20")
        const [a = assert.fail("no node"), b = assert.fail("no node")] = nodes.all()
        const known = yield* Load.createOn(nodes, a, () => ownersOf(server.postgres, database))
        const words = "slow ".repeat(100).trim()
        yield* Load.say(nodes, known, `say ${words}`, { wait: false, first: a })
        yield* Effect.sleep(300)
        yield* a.server.kill("SIGTERM")
        const { code } = yield* a.server.exit
        assert.strictEqual(code, 143)
        assert.deepStrictEqual(endsOf(database, known), ["task_complete", "task_complete"])
        yield* Load.say(nodes, known, "say after", { first: b })
        const { stdout } = yield* run("cluster", "status", "--json", database)
        assert.strictEqual((JSON.parse(stdout) as { readonly nodes: [] }).nodes.length, 1)
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "L5 a turn that outlasts the bound ends on the node that takes over",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const nodes = yield* startNodes(database, 3, "[cluster]\ndrain_ms = 1000")
        const [a = assert.fail("no node"), b = assert.fail("no node")] = nodes.all()
        const owners = () => ownersOf(server.postgres, database)
        const known = yield* Load.createOn(nodes, a, owners)
        yield* Load.say(nodes, known, "run: sleep 600", { wait: false, first: a })
        const begun = performance.now()
        yield* a.server.kill("SIGTERM")
        assert.strictEqual((yield* a.server.exit).code, 143)
        assert.isBelow(performance.now() - begun, 40_000)
        yield* Load.say(nodes, known, "say after", { first: b })
        assert.deepStrictEqual(endsOf(database, known), [
          "task_complete",
          "turn_aborted",
          "task_complete",
        ])
      }).pipe(Effect.scoped),
    60_000,
  )

  it.live(
    "a second signal ends a node that drains at once",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const nodes = yield* startNodes(database, 1, "[cluster]\ndrain_ms = 60000")
        const [node = assert.fail("no node")] = nodes.all()
        const known = yield* Load.createOn(nodes, node, () => ownersOf(server.postgres, database))
        yield* Load.say(nodes, known, "run: sleep 600", { wait: false, first: node })
        yield* node.server.kill("SIGTERM")
        yield* Effect.sleep(100)
        const begun = performance.now()
        yield* node.server.kill("SIGTERM")
        assert.strictEqual((yield* node.server.exit).code, 143)
        assert.isBelow(performance.now() - begun, 30_000)
      }).pipe(Effect.scoped),
    60_000,
  )
})
