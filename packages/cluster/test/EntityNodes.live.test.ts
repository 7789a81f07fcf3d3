/** Two nodes of Effect Cluster over sockets, on a real PostgreSQL server. */
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import type { Listener } from "@colloquy/core/listeners/Listener"
import { ModelClient } from "@colloquy/core/ModelClient"
import { missingPostgres, PostgresServer } from "@colloquy/testing/PostgresServer"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { TooFewConnections } from "../src/node/EnoughConnections.ts"
import { NodeAddressTaken } from "../src/node/NodeRows.ts"
import { settings, startNode, untilShared } from "./support/PostgresNode.ts"
import { says, seqsOf, typesOf } from "./support/TwoNodes.ts"

const missing = missingPostgres()
if (missing !== undefined) process.stdout.write(`skipped, because ${missing}: EntityNodes\n`)

const answering = Layer.succeed(ModelClient, {
  stream: () =>
    Stream.fromIterable([
      {
        _tag: "ItemDone" as const,
        item: {
          type: "message" as const,
          role: "assistant" as const,
          content: [{ type: "output_text" as const, text: "done" }],
        },
      },
      { _tag: "Completed" as const },
    ]),
})

/** Takes deliveries until so many turns have ended. */
const untilTurns = (all: Array<Delivery>, listener: Listener, turns: number) =>
  Effect.gen(function* () {
    while (typesOf(all).filter((type) => type === "task_complete").length < turns)
      all.push(...(yield* listener.take))
  })

describe.skipIf(missing !== undefined)("nodes of Effect Cluster", () => {
  let server: PostgresServer | undefined
  beforeAll(() => {
    server = new PostgresServer(["fsync=off"])
    server.start()
  }, 60_000)
  afterAll(() => server?.remove())

  it.live(
    "L4 L10 serve a conversation of each other, and take over those of one that leaves",
    () =>
      Effect.gen(function* () {
        const database = server?.database("cluster") ?? ""
        const a = yield* startNode(database, answering)
        const b = yield* startNode(database, answering)
        yield* untilShared(a, b)
        const { id } = yield* a.manager.create(settings)
        assert.isTrue(a.nodes.owns(id))
        const remote = yield* b.manager.get(id)
        const listener = yield* remote.attach({ from: 0 })
        const all: Array<Delivery> = []
        yield* remote.submit(says("hi"))
        yield* untilTurns(all, listener, 1)
        // A node that responds is asked without the database.
        assert.strictEqual(server?.sql("SELECT count(*) FROM cluster_messages", "cluster"), "0")
        yield* a.close
        yield* remote.submit(says("again"))
        yield* untilTurns(all, listener, 2)
        const { seq } = yield* remote.state
        assert.deepStrictEqual(
          seqsOf(all),
          Array.from({ length: seq }, (_, n) => n),
        )
        assert.isTrue(b.nodes.owns(id))
        yield* b.close
      }).pipe(Effect.scoped),
    120_000,
  )

  it.live(
    "L5 give the end of an ephemeral conversation's turn to those who wait at another node",
    () =>
      Effect.gen(function* () {
        const database = server?.database("ephemeral") ?? ""
        const never = Layer.succeed(ModelClient, { stream: () => Stream.never })
        const options = { drainWithin: 0 }
        const a = yield* startNode(database, never, undefined, {}, options)
        const b = yield* startNode(database, never)
        yield* untilShared(a, b)
        const { id } = yield* a.manager.create({ ...settings, ephemeral: true })
        const remote = yield* b.manager.get(id)
        const all: Array<Delivery> = []
        const listener = yield* remote.attach({ from: 0 })
        const running = yield* Effect.forkChild(remote.runTurn(says("hi")))
        while (!typesOf(all).includes("task_started")) all.push(...(yield* listener.take))
        yield* a.close
        assert.strictEqual((yield* Fiber.join(running)).end?.msg.type, "turn_aborted")
        const taking = Effect.map(listener.take, (some) => all.push(...some))
        assert.strictEqual((yield* Effect.flip(Effect.forever(taking)))._tag, "Done")
        assert.deepStrictEqual(typesOf(all).slice(-2), ["turn_aborted", "shutdown_complete"])
        yield* b.close
      }).pipe(Effect.scoped),
    120_000,
  )

  it.live(
    "a node starts with three connections to the database, and says so where it may make fewer",
    () =>
      Effect.gen(function* () {
        const database = server?.database("connections") ?? ""
        const start = (max: number) =>
          startNode(database, answering, undefined, undefined, undefined, max)
        for (const max of [1, 2]) {
          const error = yield* Effect.flip(start(max))
          assert.instanceOf(error, TooFewConnections)
          assert.include(
            error.message,
            `at least 3 connections to the database, and its client may make ${max} `,
          )
        }
        const node = yield* start(3)
        const { id } = yield* node.manager.create(settings)
        const conversation = yield* node.manager.get(id)
        assert.strictEqual((yield* conversation.runTurn(says("hi"))).end?.msg.type, "task_complete")
        yield* node.close
      }),
    120_000,
  )

  it.live(
    "a node does not start where another one responds at its address, whatever its name",
    () =>
      Effect.gen(function* () {
        const database = server?.database("addresses") ?? ""
        const a = yield* startNode(database, answering)
        const place = {
          listen: { host: "127.0.0.1", port: 0 },
          host: "localhost",
          port: Number(a.nodes.self.split(":").at(-1)),
        }
        const refused = yield* Effect.flip(startNode(database, answering, undefined, place))
        assert.instanceOf(refused, NodeAddressTaken)
        assert.strictEqual(refused.address, `localhost:${place.port}`)
        const c = yield* startNode(database, answering, undefined, { ...place, port: 0 })
        yield* untilShared(a, c)
        yield* Effect.all([a.close, c.close])
      }).pipe(Effect.scoped),
    120_000,
  )
})
