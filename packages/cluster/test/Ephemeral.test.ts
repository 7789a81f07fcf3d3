/** Conversations that only the memory of one node has, asked about at another one. */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { maxItemText } from "../src/internal/StreamItems.ts"
import { nodeLoad } from "../src/NodeLoad.ts"
import { collected, elapse, says, settings, typesOf, world } from "./support/TwoNodes.ts"

type Manager = ConversationManager["Service"]

/** A store that counts what is asked about single conversations. */
class AskedStore extends MemoryStore {
  asked = 0

  override metadata(...args: Parameters<MemoryStore["metadata"]>) {
    this.asked++
    return super.metadata(...args)
  }
}

const alice = { owner: "alice" }
const ephemeral = { ...settings, ephemeral: true }

/** Two nodes, and an ephemeral conversation of Alice on the node `a` that has had a turn. */
const started = Effect.fnUntraced(function* () {
  const calls: Array<string> = []
  const store = new AskedStore()
  const { join, nodes } = world({ store, onCall: (operation) => calls.push(operation) })
  const a = yield* join("a")
  const b = yield* join("b")
  const conversation = yield* a.manager.create(ephemeral, alice)
  yield* conversation.submit(says("hi"))
  yield* elapse(1)
  const reset = () => {
    calls.length = 0
    store.asked = 0
  }
  reset()
  return { a, b, calls, conversation, id: conversation.id, nodes, reset, store }
})

const missing = (manager: Manager, id: string, access = alice) =>
  Effect.all([
    Effect.flip(manager.metadata({ id } as Parameters<Manager["metadata"]>[0], access)),
    Effect.flip(manager.history(id, access)),
  ]).pipe(Effect.map((errors) => errors.map(({ _tag }) => _tag)))

const nowhere = ["NoSuchConversation", "NoSuchConversation"]

describe("an ephemeral conversation", () => {
  it.effect("is described at every node, by one call and no question to the database there", () =>
    Effect.gen(function* () {
      const { a, b, calls, id, reset, store } = yield* started()
      const here = yield* a.manager.metadata({ id }, alice)
      assert.strictEqual(here.meta.ephemeral, true)
      reset()
      assert.deepStrictEqual(yield* b.manager.metadata({ id }, alice), here)
      // The asking node has looked into the database first.
      assert.deepStrictEqual({ calls, asked: store.asked }, { calls: ["Metadata"], asked: 1 })
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("has the same history at every node", () =>
    Effect.gen(function* () {
      const { a, b, id } = yield* started()
      const here = yield* a.manager.history(id, alice)
      assert.strictEqual(here.at(-1)?.event.msg.type, "task_complete")
      assert.deepStrictEqual(yield* b.manager.history(id, alice), here)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("is read at every node while it is archived, however long its history is", () =>
    Effect.gen(function* () {
      const { a, b, calls, conversation, id, reset } = yield* started()
      yield* conversation.submit(says("x".repeat(3 * maxItemText)))
      yield* elapse(1)
      yield* b.manager.archive(id, alice)
      const here = yield* a.manager.history(id, alice)
      reset()
      assert.deepStrictEqual(yield* b.manager.history(id, alice), here)
      assert.deepStrictEqual(calls, ["History"])
      const from = here.length - 2
      assert.deepStrictEqual(yield* b.manager.history(id, alice, from), here.slice(from))
      assert.isTrue((yield* b.manager.metadata({ id }, alice)).archived)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("is unknown at every node to other principals, and to all once it is removed", () =>
    Effect.gen(function* () {
      const { a, b, calls, id, reset, store } = yield* started()
      assert.deepStrictEqual(yield* missing(b.manager, id, { owner: "bob" }), nowhere)
      yield* b.manager.remove(id, alice)
      reset()
      assert.deepStrictEqual(yield* missing(b.manager, id), nowhere)
      assert.deepStrictEqual(calls, ["Metadata", "History"])
      assert.strictEqual(store.asked, 2)
      assert.deepStrictEqual(yield* missing(a.manager, id), nowhere)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("has a state at another node as soon as its own one responds again", () =>
    Effect.gen(function* () {
      const { a, b, id, nodes } = yield* started()
      const { seq } = yield* a.manager.stateOf(id, alice)
      nodes.cut("a", "b")
      const asking = yield* Effect.forkChild(b.manager.stateOf(id, alice), {
        startImmediately: true,
      })
      yield* elapse(2)
      nodes.heal()
      yield* elapse(1)
      assert.strictEqual((yield* Fiber.join(asking)).seq, seq)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("gives an error of the store where its node does not respond", () =>
    Effect.gen(function* () {
      const { a, b, id, nodes } = yield* started()
      nodes.cut("a", "b")
      const asking = yield* Effect.forkChild(missing(b.manager, id), { startImmediately: true })
      yield* elapse(80)
      assert.deepStrictEqual(yield* Fiber.join(asking), ["StoreError", "StoreError"])
      nodes.heal()
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )
})

/** A turn of an ephemeral conversation on the node `a`, which gets ten seconds when it leaves; with what `b` is delivered of it. */
const running = Effect.fnUntraced(function* (seconds: number) {
  const { join, nodes } = world({ seconds, drainWithin: "10 seconds" })
  const a = yield* join("a")
  const b = yield* join("b")
  const conversation = yield* a.manager.create(ephemeral, alice)
  const remote = yield* b.manager.get(conversation.id, alice)
  const delivered = yield* collected(yield* remote.attach())
  yield* conversation.submit(says("hi"))
  yield* elapse(1)
  return { a, b, delivered, id: conversation.id, nodes }
})

describe("a turn of an ephemeral conversation", () => {
  it.effect(
    "L5 ends by itself when its node leaves, also where the shard has moved long before",
    () =>
      Effect.gen(function* () {
        const { a, b, delivered, id, nodes } = yield* running(20)
        nodes.assign(id, "b")
        yield* elapse(12)
        const leaving = yield* Effect.forkChild(a.close, { startImmediately: true })
        yield* elapse(5)
        assert.isUndefined(leaving.pollUnsafe())
        assert.notInclude(typesOf(delivered), "turn_aborted")
        yield* elapse(3)
        assert.include(typesOf(delivered), "task_complete")
        yield* Fiber.join(leaving)
        yield* b.close
      }).pipe(Effect.scoped),
  )

  it.effect("L5 is aborted after the bound, and listeners of other nodes get that end", () =>
    Effect.gen(function* () {
      const { a, b, delivered } = yield* running(60)
      const leaving = yield* Effect.forkChild(a.close, { startImmediately: true })
      yield* elapse(9)
      assert.notInclude(typesOf(delivered), "turn_aborted")
      yield* elapse(2)
      assert.include(typesOf(delivered), "turn_aborted")
      yield* Fiber.join(leaving)
      yield* b.close
    }).pipe(Effect.scoped),
  )

  it.effect("is among those that its node runs", () =>
    Effect.gen(function* () {
      const { a, b, id } = yield* running(60)
      const { conversations, running: turns } = yield* nodeLoad({}, a.held)
      assert.deepStrictEqual({ conversations, turns }, { conversations: 1, turns: 1 })
      assert.deepStrictEqual(yield* a.held.held, [
        { id, owner: "alice", activity: "running", isEphemeral: true },
      ])
      yield* Effect.forkChild(Effect.all([a.close, b.close]), { startImmediately: true })
      yield* elapse(11)
    }).pipe(Effect.scoped),
  )
})
