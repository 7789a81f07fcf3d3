/** Clients of app-server v2 at different nodes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type AppClient, appWorld, at } from "./support/AppNodes.ts"

const input = [{ type: "text", text: "hello" }]

const started = (app: AppClient, params: object = {}) =>
  Effect.map(app.ask("thread/start", params), ({ result }) => String(at(result, "thread", "id")))

/** Clients at three nodes; the last one acts for another principal than the others. */
const clients = Effect.gen(function* () {
  const { join } = appWorld()
  const [a, b, c] = [yield* join("a"), yield* join("b"), yield* join("c")]
  return {
    a: yield* a.client(),
    b: yield* b.client(),
    alice: yield* c.client("alice"),
  }
})

describe("an ephemeral thread of another node", () => {
  it.effect("is read, resumed and given turns", () =>
    Effect.gen(function* () {
      const { a, b, alice } = yield* clients
      const threadId = yield* started(a, { ephemeral: true })
      const read = yield* b.ask("thread/read", { threadId })
      assert.strictEqual(at(read.result, "thread", "ephemeral"), true)
      const resumed = yield* b.ask("thread/resume", { threadId })
      assert.strictEqual(at(resumed.result, "thread", "id"), threadId)
      const turn = yield* b.ask("turn/start", { threadId, input })
      assert.isUndefined(turn.error)
      assert.isTrue(b.messages.some(({ method }) => method === "turn/completed"))
      const foreign = yield* alice.ask("thread/read", { threadId })
      assert.strictEqual(foreign.error?.code, -32600)
    }).pipe(Effect.scoped),
  )
})

describe("clients at other nodes are notified", () => {
  it.effect("of what those of the same node are, and only for their own principal", () =>
    Effect.gen(function* () {
      const { a, b, alice } = yield* clients
      yield* b.ask("thread/loaded/list")
      yield* alice.ask("thread/loaded/list")
      const threadId = yield* started(a)
      yield* a.ask("turn/start", { threadId, input })
      yield* a.ask("thread/name/set", { threadId, name: "mine" })
      yield* a.ask("thread/archive", { threadId })
      yield* a.ask("thread/unarchive", { threadId })
      yield* a.ask("thread/resume", { threadId })
      yield* a.ask("thread/delete", { threadId })
      assert.deepStrictEqual(b.notified(), [
        "started",
        "status/changed active",
        "status/changed idle",
        "name/updated mine",
        "status/changed notLoaded",
        "archived",
        "unarchived",
        "status/changed idle",
        "status/changed notLoaded",
        "deleted",
      ])
      assert.deepStrictEqual(alice.notified(), [])
    }).pipe(Effect.scoped),
  )

  it.effect("of each status once, although both nodes have a subscriber", () =>
    Effect.gen(function* () {
      const { join } = appWorld()
      const nodes = [yield* join("a"), yield* join("b"), yield* join("c")] as const
      const [a, b, c] = [
        yield* nodes[0].client(),
        yield* nodes[1].client(),
        yield* nodes[2].client(),
      ]
      const beside = yield* nodes[0].client()
      yield* c.ask("thread/loaded/list")
      yield* beside.ask("thread/loaded/list")
      const threadId = yield* started(a)
      yield* b.ask("thread/resume", { threadId })
      yield* b.ask("turn/start", { threadId, input })
      const expected = [
        "started",
        "status/changed idle",
        "status/changed active",
        "status/changed idle",
      ]
      assert.deepStrictEqual(c.notified(), expected)
      assert.deepStrictEqual(
        beside.notified(),
        expected.filter((_, index) => index !== 1),
      )
    }).pipe(Effect.scoped),
  )

  it.effect("of settings and read states, where they are subscribed", () =>
    Effect.gen(function* () {
      const { join } = appWorld()
      const nodes = [yield* join("a"), yield* join("b")] as const
      const a = yield* nodes[0].client()
      const b = yield* nodes[1].client()
      const threadId = yield* started(a)
      const other = yield* started(a)
      yield* b.ask("thread/resume", { threadId })
      for (const one of [threadId, other]) {
        yield* a.ask("thread/settings/update", { threadId: one, model: "other-model" })
        yield* a.ask("turn/start", { threadId: one, input })
        const { result } = yield* a.ask("thread/read", { threadId: one })
        yield* a.ask("thread/readState/update", {
          threadId: one,
          operation: { type: "read" },
          expectedRevision: at(result, "readState", "revision"),
        })
      }
      const of = (id: string) =>
        b.messages.flatMap(({ method = "", params }) =>
          at(params, "threadId") === id && /settings|readState/.test(method) ? [method] : [],
        )
      assert.deepStrictEqual(of(threadId), [
        "thread/settings/updated",
        // By the end of the turn, and by the other client.
        "thread/readState/changed",
        "thread/readState/changed",
      ])
      assert.deepStrictEqual(of(other), [])
    }).pipe(Effect.scoped),
  )

  it.effect("that a thread which they have loaded is gone once another node has archived it", () =>
    Effect.gen(function* () {
      const { a, b } = yield* clients
      const threadId = yield* started(a)
      yield* a.ask("turn/start", { threadId, input })
      yield* a.ask("thread/archive", { threadId })
      yield* a.ask("thread/unarchive", { threadId })
      yield* b.ask("thread/resume", { threadId })
      yield* b.ask("thread/unsubscribe", { threadId })
      const before = b.notified().length
      yield* a.ask("thread/archive", { threadId })
      assert.deepStrictEqual(b.notified().slice(before), ["status/changed notLoaded", "archived"])
      const loaded = yield* b.ask("thread/loaded/list")
      assert.deepStrictEqual(at(loaded.result, "data"), [])
    }).pipe(Effect.scoped),
  )
})
