import { MemoryPlaces } from "@colloquy/testing/MemoryPlaces"
import type { ConversationId } from "@colloquy/protocol/Ids"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Conversation } from "../src/Conversation.ts"
import {
  ConversationUnavailable,
  SubmissionRefused,
  TooManyConversations,
} from "../src/ConversationErrors.ts"
import { type Access, ConversationManager } from "../src/ConversationManager.ts"
import { ConversationStore } from "../src/ConversationStore.ts"
import type { ModelEvent } from "../src/ModelClient.ts"
import type { ConversationsOptions } from "../src/manager/Conversations.ts"
import type { Quota } from "../src/Quota.ts"
import { QuotaPlaces } from "../src/QuotaPlaces.ts"
import { StoreError } from "../src/StoreErrors.ts"
import { MemoryStore } from "../src/store/MemoryStore.ts"
import { managerLayer, says, scripted, settings, settle } from "./support.ts"

const alice: Access = { owner: "alice" }
const bob: Access = { owner: "bob" }

const answer: ReadonlyArray<ModelEvent> = [{ _tag: "Completed" }]

/** Processes that share a store and the counts of owners. Their model answers when it is told to. */
const world = (quota: Quota) => {
  const store = new MemoryStore()
  const places = new MemoryPlaces(store)
  const answering = Deferred.makeUnsafe<void>()
  const model = scripted(
    Stream.unwrap(Effect.as(Deferred.await(answering), Stream.fromIterable(answer))),
  )
  const start = Effect.fnUntraced(function* (name: string, options: ConversationsOptions = {}) {
    const scope = yield* Effect.scope
    const own = yield* Scope.fork(scope)
    const layer = managerLayer(model, {
      quotaOf: (owner) => (owner === "alice" ? quota : undefined),
      store: Layer.succeed(ConversationStore, store),
      ...options,
    }).pipe(Layer.provide(Layer.succeed(QuotaPlaces, places.of(name))))
    const context = yield* Layer.buildWithScope(Layer.fresh(layer), own)
    return {
      manager: Context.get(context, ConversationManager),
      end: Scope.close(own, Exit.void),
    }
  })
  return { places, start, answer: Deferred.succeed(answering, undefined) }
}

const tooMany = (maxConversations: number) =>
  new TooManyConversations({ limit: "owner", maxConversations })

const tooManyTurns = new SubmissionRefused({
  reason: "TooManyTurns",
  message: "1 turns of the principal are running already, which is the limit",
})

const unreachable = new StoreError({
  operation: "append",
  reason: "Unreachable",
  message: "the database cannot be reached",
})

const start = (conversation: Conversation) => conversation.submit(says("hi"))

describe("the quota of an owner, counted over several processes", () => {
  it.effect("limits its conversations in all of them together", () =>
    Effect.gen(function* () {
      const { start } = world({ maxConversations: 3 })
      const { manager: a } = yield* start("a")
      const { manager: b } = yield* start("b")
      const first = yield* a.create(settings, alice)
      const second = yield* b.create(settings, alice)
      yield* Effect.scoped(a.createOnSubmit(settings, alice))
      // It was never recorded, so it does not count any more.
      yield* b.create({ ...settings, ephemeral: true }, alice)
      for (const manager of [a, b]) {
        assert.deepStrictEqual(yield* Effect.flip(manager.create(settings, alice)), tooMany(3))
        const onSubmit = Effect.scoped(manager.createOnSubmit(settings, alice))
        assert.deepStrictEqual(yield* Effect.flip(onSubmit), tooMany(3))
        yield* manager.create(settings, bob)
        yield* manager.create(settings)
      }
      const rule = { _tag: "DropLastUserMessages", n: 0 } as const
      assert.deepStrictEqual(yield* Effect.flip(a.fork(first.id, rule, alice)), tooMany(3))
      yield* a.remove(first.id, alice)
      yield* b.create(settings, alice)
      assert.deepStrictEqual(yield* Effect.flip(a.create(settings, alice)), tooMany(3))
      yield* b.archive(second.id, alice)
      const third = yield* a.create(settings, alice)
      assert.deepStrictEqual(yield* Effect.flip(a.unarchive(second.id, alice)), tooMany(3))
      yield* a.remove(third.id, alice)
      yield* a.unarchive(second.id, alice)
      assert.deepStrictEqual(yield* Effect.flip(b.create(settings, alice)), tooMany(3))
    }).pipe(Effect.scoped),
  )

  it.effect("limits what is unarchived in all of them, and keeps no place of a failure", () =>
    Effect.gen(function* () {
      const { places, start } = world({ maxConversations: 2 })
      const { manager: a } = yield* start("a")
      const { manager: b } = yield* start("b")
      const ids: Array<ConversationId> = []
      for (let n = 0; n < 5; n++) {
        const { id } = yield* a.create(settings, alice)
        yield* a.archive(id, alice)
        ids.push(id)
      }
      const [one, ...others] = ids
      if (one === undefined) return assert.fail("none was created")
      places.cut()
      assert.deepStrictEqual(yield* Effect.flip(b.unarchive(one, alice)), unreachable)
      places.heal()
      // Its revision is another one.
      const late = yield* Effect.flip(b.unarchive(one, alice, "0"))
      assert.strictEqual(late._tag, "LeaseHeld")
      const place = { kind: "conversation", owner: "alice", id: one } as const
      assert.strictEqual(yield* places.count(place), 0)
      const exits = yield* Effect.forEach(
        others,
        (id, n) => Effect.exit((n % 2 === 0 ? a : b).unarchive(id, alice)),
        { concurrency: "unbounded" },
      )
      assert.lengthOf(exits.filter(Exit.isSuccess), 2)
      assert.deepStrictEqual(yield* Effect.flip(b.unarchive(one, alice)), tooMany(2))
      assert.strictEqual(yield* places.count(place), 2)
    }).pipe(Effect.scoped),
  )

  it.effect(
    "counts conversations of attempts at the same time, and of a process that has ended",
    () =>
      Effect.gen(function* () {
        const { start } = world({ maxConversations: 3 })
        const { end, manager: a } = yield* start("a")
        const { manager: b } = yield* start("b")
        const attempts = [a, b, a, b, a, b].map((one) => Effect.exit(one.create(settings, alice)))
        const exits = yield* Effect.all(attempts, { concurrency: "unbounded" })
        assert.lengthOf(exits.filter(Exit.isSuccess), 3)
        yield* end
        // They are in the store.
        assert.deepStrictEqual(yield* Effect.flip(b.create(settings, alice)), tooMany(3))
      }).pipe(Effect.scoped),
  )

  it.effect("counts a conversation once that begins with its first submission", () =>
    Effect.gen(function* () {
      const { start: startProcess } = world({ maxConversations: 2 })
      const { manager: a } = yield* startProcess("a")
      const { manager: b } = yield* startProcess("b")
      yield* start(yield* a.createOnSubmit(settings, alice))
      yield* b.create(settings, alice)
      assert.deepStrictEqual(yield* Effect.flip(b.create(settings, alice)), tooMany(2))
    }).pipe(Effect.scoped),
  )

  it.effect("L5 limits its running turns, and has room before a client is told of an end", () =>
    Effect.gen(function* () {
      const { answer, start: startProcess } = world({ maxTurns: 1 })
      const a = yield* startProcess("a")
      const b = yield* startProcess("b")
      const one = yield* a.manager.create(settings, alice)
      const two = yield* b.manager.create(settings, alice)
      yield* start(one)
      assert.deepStrictEqual(yield* Effect.flip(start(two)), tooManyTurns)
      yield* start(yield* b.manager.create(settings, bob))
      // What joins the running turn takes no further place.
      yield* start(one)
      yield* answer
      yield* one.events().pipe(
        Stream.takeUntil(({ msg }) => msg.type === "task_complete"),
        Stream.runDrain,
      )
      yield* start(two)
    }).pipe(Effect.scoped),
  )

  it.effect(
    "has room for the turns of a process that has ended, and counts one that is resumed",
    () =>
      Effect.gen(function* () {
        const { places, start: startProcess } = world({ maxTurns: 1 })
        const a = yield* startProcess("a")
        const b = yield* startProcess("b")
        yield* start(yield* a.manager.create(settings, alice))
        const two = yield* b.manager.create(settings, alice)
        assert.deepStrictEqual(yield* Effect.flip(start(two)), tooManyTurns)
        places.end("a")
        yield* start(two)
        yield* b.end
        const c = yield* startProcess("c")
        const three = yield* c.manager.create(settings, alice)
        yield* start(three)
      }).pipe(Effect.scoped),
  )

  it.effect(
    "gives a place back where the process refuses the turn or the submission starts none",
    () =>
      Effect.gen(function* () {
        const { places, start: startProcess } = world({ maxTurns: 2 })
        const a = yield* startProcess("a", { maxTurns: 1 })
        const b = yield* startProcess("b")
        yield* start(yield* a.manager.create(settings, bob))
        const one = yield* a.manager.create(settings, alice)
        const refused = yield* Effect.flip(start(one))
        assert.strictEqual(refused.message, "1 turns are running already, which is the limit")
        const place = {
          kind: "turn",
          owner: "alice",
          id: (yield* b.manager.create(settings)).id,
        } as const
        assert.strictEqual(yield* places.count(place), 0)
        const unrecorded = yield* a.manager.createOnSubmit(settings, alice)
        yield* Effect.flip(start(unrecorded))
        assert.strictEqual(yield* places.count(place), 0)
        const two = yield* b.manager.create(settings, alice)
        yield* start(two)
        yield* two.submit({ type: "interrupt" })
        yield* settle
        assert.strictEqual(yield* places.count(place), 0)
      }).pipe(Effect.scoped),
  )

  it.effect("refuses with the reason where the other processes cannot be asked, and goes on", () =>
    Effect.gen(function* () {
      const { places, start: startProcess } = world({ maxTurns: 1, maxConversations: 2 })
      const { manager } = yield* startProcess("a")
      const one = yield* manager.create(settings, alice)
      const others = yield* manager.create(settings, bob)
      places.cut()
      const { id } = one
      assert.deepStrictEqual(
        yield* Effect.flip(start(one)),
        new ConversationUnavailable({ id, reason: unreachable.message, because: unreachable }),
      )
      assert.deepStrictEqual(yield* Effect.flip(manager.create(settings, alice)), unreachable)
      yield* start(others)
      places.heal()
      yield* start(one)
      yield* manager.create(settings, alice)
    }).pipe(Effect.scoped),
  )
})
