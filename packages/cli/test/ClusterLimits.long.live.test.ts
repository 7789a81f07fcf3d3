/** The limits of a principal at the nodes of a cluster: counted over all of them, and what a killed node had is free again. */
import { knownToken } from "@colloquy/transport-http/guard/Principals"
import { assert, beforeAll, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { ownerOf, ownersOf } from "./nodes/Owners.ts"
import type { ServerNode, ServerNodes } from "./nodes/ServerNodes.ts"
import { startNodes } from "./nodes/ServerNodes.ts"
import { buildIfMissing } from "./support/BuiltProgram.ts"
import { describeWithPostgres } from "./support/Databases.ts"
import { request } from "./support/HttpProcess.ts"
import { mark } from "./support/Processes.ts"

beforeAll(buildIfMissing, 120_000)

const token = "a-token-of-alice-that-nobody-guesses"

const windowMs = 10_000

/** Writes the rules of one principal. The nodes read them with the next request. */
const allow = ({ home }: ServerNodes, ...rules: ReadonlyArray<string>) => {
  const lines = [
    "[principals.alice]",
    `tokens = ["${knownToken(token, "alice").sha256}"]`,
    ...rules,
  ]
  writeFileSync(`${home}/principals.toml`, lines.join("\n"), { mode: 0o600 })
}

/** What the principal gets of this node; with a body for a POST. */
const ask = Effect.fnUntraced(function* ({ url }: ServerNode, path: string, json?: unknown) {
  const answer = yield* request(`${url}/v1/conversations${path}`, {
    token,
    ...(json === undefined ? {} : { json }),
  })
  const body = answer.text === "" ? {} : JSON.parse(answer.text)
  return { ...answer, body: body as Readonly<Record<string, unknown>> }
})

const create = (nodes: ServerNodes, node: ServerNode) =>
  ask(node, "", { approvalPolicy: "never", sandbox: "danger-full-access", cwd: nodes.cwd })

const createOn = Effect.fnUntraced(function* (nodes: ServerNodes, node: ServerNode) {
  const { body, status } = yield* create(nodes, node)
  assert.strictEqual(status, 201, JSON.stringify(body))
  return String(body["conversationId"])
})

const twoOf = (nodes: ServerNodes): readonly [ServerNode, ServerNode] => {
  const [a, b] = nodes.all()
  if (a === undefined || b === undefined) throw new Error("expected two nodes")
  return [a, b]
}

describeWithPostgres("the limits of a principal at the nodes of a cluster", (server) => {
  it.live(
    "hold for the requests at all nodes together",
    () =>
      Effect.gen(function* () {
        const limit = 30
        const database = server.newDatabase()
        const name = new URL(database).pathname.slice(1)
        const nodes = yield* startNodes(database, 2, "[http]", `max_principal_requests = ${limit}`)
        allow(nodes)
        const [a, b] = twoOf(nodes)
        const window = () =>
          Number(
            server.postgres.sql(
              `SELECT floor(extract(epoch from clock_timestamp()) * 1000 / ${windowMs})`,
              name,
            ),
          )
        /** The responses to requests at both nodes in turn, all within one window. */
        const withinOne: Effect.Effect<ReadonlyArray<Effect.Success<ReturnType<typeof ask>>>> =
          Effect.gen(function* () {
            const before = window()
            while (window() === before) yield* Effect.sleep(50)
            const begun = window()
            const answers = yield* Effect.forEach(
              Array.from({ length: 2 * limit }, (_, n) => (n % 2 === 0 ? a : b)),
              (node) => ask(node, ""),
            )
            return window() === begun ? answers : yield* withinOne
          })
        const answers = yield* withinOne
        const refused = answers.filter(({ status }) => status === 429)
        assert.lengthOf(
          answers.filter(({ status }) => status === 200),
          limit,
        )
        assert.lengthOf(refused, limit)
        for (const { body, headers } of refused) {
          assert.strictEqual(body["message"], `more than ${limit} requests within 10 s`)
          const seconds = Number(headers.get("retry-after"))
          assert.isAtLeast(seconds, 1)
          assert.isAtMost(seconds, windowMs / 1000)
        }
      }).pipe(Effect.scoped),
    120_000,
  )

  it.live(
    "hold for its turns and conversations at all nodes, and those of a killed node are free",
    () =>
      Effect.gen(function* () {
        const database = server.newDatabase()
        const nodes = yield* startNodes(database, 2)
        allow(nodes, "max_turns = 1", "max_conversations = 3")
        const [a, b] = twoOf(nodes)
        const one = yield* createOn(nodes, a)
        const two = yield* createOn(nodes, b)
        const third = yield* createOn(nodes, a)
        for (const node of [a, b]) {
          const { body, status } = yield* create(nodes, node)
          assert.deepStrictEqual(
            [status, body["message"]],
            [429, "3 conversations of the principal are open already, which is the limit"],
          )
        }
        assert.isBelow((yield* ask(b, `/${third}/archive`, {})).status, 300)
        yield* createOn(nodes, b)
        for (const node of [a, b]) {
          const { body, status } = yield* ask(node, `/${third}/unarchive`, {})
          assert.deepStrictEqual(
            [status, body["message"]],
            [429, "3 conversations of the principal are open already, which is the limit"],
          )
        }
        // A turn begins as soon as the one before has ended, at another node.
        for (const [id, node] of [
          [one, b],
          [two, a],
          [one, a],
          [two, b],
        ] as const) {
          const said = yield* ask(node, `/${id}/turns?wait=true`, { input: "say hello" })
          assert.isBelow(said.status, 300, JSON.stringify(said.body))
        }
        const sleeping = yield* ask(a, `/${one}/turns`, { input: `run: sleep ${mark()}` })
        assert.isBelow(sleeping.status, 300, JSON.stringify(sleeping.body))
        for (const node of [a, b]) {
          const { body, status } = yield* ask(node, `/${two}/turns`, { input: "say hello" })
          assert.deepStrictEqual(
            [status, body["message"]],
            [429, "1 turns of the principal are running already, which is the limit"],
          )
        }
        yield* Effect.forEach([a, b], (node) => ask(node, `/${one}`))
        const owner = ownerOf(ownersOf(server.postgres, database), one, [a, b])
        assert.isDefined(owner)
        yield* nodes.kill(owner ?? a)
        const [left] = nodes.all()
        if (left === undefined) throw new Error("expected a node")
        const begun = performance.now()
        for (;;) {
          const { status } = yield* ask(left, `/${two}/turns?wait=true`, { input: "say hello" })
          if (status < 300) break
          assert.isBelow(performance.now() - begun, 40_000)
          yield* Effect.sleep(100)
        }
        // The conversations are those of the principal still.
        assert.strictEqual((yield* create(nodes, left)).status, 429)
        // What cannot be counted is not done; what is limited by a node alone is.
        server.postgres.stop("immediate")
        for (const answer of [
          yield* ask(left, `/${two}/turns`, { input: "say hello" }),
          yield* create(nodes, left),
          yield* ask(left, ""),
        ]) {
          const { body, headers, status } = answer
          assert.deepStrictEqual(
            [status, body["code"], headers.get("retry-after")],
            [503, "unavailable", "1"],
            JSON.stringify(body),
          )
        }
        server.postgres.start()
        for (;;) {
          const { status } = yield* ask(left, `/${two}/turns?wait=true`, { input: "say hello" })
          if (status < 300) break
          assert.isBelow(performance.now() - begun, 80_000)
          yield* Effect.sleep(100)
        }
      }).pipe(Effect.scoped),
    120_000,
  )
})
