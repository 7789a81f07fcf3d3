import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { NoSuchConversation, TooManyConversations } from "../src/ConversationErrors.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import {
  exitOf,
  answer,
  eventsOf,
  listed,
  loadedIds,
  managerLayer,
  says,
  scripted,
  settings,
  settle,
  takeToEnd,
  typesOf,
} from "./support.ts"
import { simulate } from "@colloquy/simulation/Simulate"

const hanging = () => scripted(Stream.never)

describe("ConversationManager", () => {
  it.effect("L3 has the first events of a conversation in its log when create returns", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      assert.strictEqual((yield* conversation.state).seq, 2)
      const listener = yield* conversation.attach({ from: 0 })
      const [first] = eventsOf(yield* listener.take)
      assert.deepStrictEqual(
        [first?.seq, first?.id, first?.msg.type],
        [0, "", "session_configured"],
      )
      assert.strictEqual(
        first?.msg.type === "session_configured" ? first.msg.session_id : "",
        conversation.id,
      )
    }).pipe(Effect.provide(managerLayer(hanging()))),
  )

  it.effect("L3 refuses one over the limit and leaves nothing behind", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const a = yield* manager.create(settings)
      const b = yield* manager.create(settings)
      assert.deepStrictEqual(
        yield* exitOf(manager.create(settings)),
        Exit.fail(new TooManyConversations({ limit: "total", maxConversations: 2 })),
      )
      assert.deepStrictEqual(yield* listed(manager), [a.id, b.id])
      yield* manager.remove(a.id)
      const c = yield* manager.create(settings)
      assert.deepStrictEqual(yield* listed(manager), [b.id, c.id])
    }).pipe(Effect.provide(managerLayer(hanging(), { maxConversations: 2 }))),
  )

  it.effect("notifies watchers of every change of the list, until they stop watching", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const watching = yield* Scope.make()
      let changes = 0
      yield* Scope.provide(
        manager.watch(() => {
          changes++
        }),
        watching,
      )
      const { id } = yield* manager.create(settings)
      assert.strictEqual(changes, 1)
      yield* manager.fork(id, { _tag: "DropLastUserMessages", n: 0 })
      assert.strictEqual(changes, 2)
      yield* manager.remove(id)
      assert.strictEqual(changes, 3)
      yield* Scope.close(watching, Exit.void)
      yield* manager.create(settings)
      assert.strictEqual(changes, 3)
    }).pipe(Effect.provide(managerLayer(hanging()))),
  )

  it.effect("finds, lists and removes conversations, and no others", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      assert.deepStrictEqual(yield* listed(manager), [])
      const a = yield* manager.create(settings)
      const b = yield* manager.create(settings)
      assert.deepStrictEqual(yield* listed(manager), [a.id, b.id])
      assert.strictEqual((yield* manager.get(b.id)).id, b.id)
      yield* manager.remove(a.id)
      assert.deepStrictEqual(yield* listed(manager), [b.id])
      const missing = Exit.fail(new NoSuchConversation({ id: a.id }))
      assert.deepStrictEqual(yield* exitOf(manager.get(a.id)), missing)
      assert.deepStrictEqual(yield* exitOf(manager.remove(a.id)), missing)
      assert.strictEqual(
        (yield* Effect.flip(manager.get("nobody"))).message,
        "no conversation with id: nobody",
      )
    }).pipe(Effect.provide(managerLayer(hanging()))),
  )

  it.effect(
    "L5 remove resolves when the turn of the conversation has ended and its events are delivered",
    () =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const manager = yield* ConversationManager
        const conversation = yield* manager.create(settings)
        const listener = yield* conversation.attach()
        yield* conversation.submit(says("hi"))
        yield* settle
        yield* manager.remove(conversation.id)
        assert.deepStrictEqual(typesOf(yield* takeToEnd(listener)).slice(-2), [
          "turn_aborted",
          "shutdown_complete",
        ])
        assert.strictEqual((yield* conversation.state).turn, undefined)
      }).pipe(Effect.provide(managerLayer(hanging()))),
  )

  it("L8 ends a conversation that it no longer lists, whenever the caller of remove is interrupted", () => {
    const program = Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      const listener = yield* conversation.attach()
      const remover = yield* Effect.forkChild(manager.remove(conversation.id))
      const pause = yield* Random.nextIntBetween(0, 12)
      for (let i = 0; i < pause; i++) yield* Effect.yieldNow
      yield* Fiber.interrupt(remover)
      if ((yield* listed(manager)).includes(conversation.id)) return "listed"
      assert.deepStrictEqual(typesOf(yield* takeToEnd(listener)), ["shutdown_complete"])
      return "ended"
    })
    const seen = new Set<unknown>()
    for (let seed = 0; seed < 400; seed++) {
      const provided = program.pipe(Effect.provide(managerLayer(hanging())), Effect.scoped)
      const { exit } = simulate(seed, provided)
      if (exit === "stuck" || exit === "livelock")
        assert.fail(`seed ${seed}: it is neither listed nor ended`)
      seen.add(Exit.isSuccess(exit) ? exit.value : exit)
    }
    assert.deepStrictEqual(seen, new Set<unknown>(["listed", "ended"]))
  })

  it.effect("does not find a conversation any more while it is being removed", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* conversation.submit(says("hi"))
      yield* settle
      const remover = yield* Effect.forkChild(manager.remove(conversation.id), {
        startImmediately: true,
      })
      assert.deepStrictEqual(yield* listed(manager), [])
      assert.strictEqual(
        (yield* Effect.flip(manager.remove(conversation.id)))._tag,
        "NoSuchConversation",
      )
      assert.isUndefined(remover.pollUnsafe())
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(remover)
    }).pipe(
      Effect.provide(
        managerLayer(scripted(Stream.never.pipe(Stream.ensuring(Effect.sleep("2 seconds"))))),
      ),
    ),
  )

  it.effect("L5 L8 ends every conversation when its layer closes, all within one bound", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(managerLayer(hanging()), scope)
      const manager = yield* ConversationManager.pipe(Effect.provideContext(context))
      const listeners = yield* Effect.forEach([1, 2, 3], () =>
        Effect.gen(function* () {
          const conversation = yield* manager.create(settings)
          yield* conversation.submit(says("hi"))
          return yield* conversation.attach()
        }),
      )
      yield* settle
      yield* Scope.close(scope, Exit.void)
      for (const listener of listeners) {
        assert.deepStrictEqual(typesOf(yield* takeToEnd(listener)), [
          "turn_aborted",
          "shutdown_complete",
        ])
      }
      assert.deepStrictEqual(yield* loadedIds(manager), [])
    }),
  )

  it.effect("L12 repeats ids and events under the same clock and seed", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_700_000_000_000)
      const run = Effect.gen(function* () {
        const manager = yield* ConversationManager
        const conversation = yield* manager.create(settings)
        const listener = yield* conversation.attach({ from: 0 })
        yield* conversation.submit(says("hi"))
        yield* settle
        yield* conversation.submit({ type: "shutdown" })
        return [conversation.id, yield* takeToEnd(listener)] as const
      })
      const of = (seed: string) =>
        run.pipe(
          Effect.provide(managerLayer(scripted(answer("yes"))), { local: true }),
          Effect.scoped,
          Random.withSeed(seed),
        )
      const [a, b, c] = [yield* of("s"), yield* of("s"), yield* of("t")]
      assert.deepStrictEqual(JSON.stringify(a), JSON.stringify(b))
      assert.notStrictEqual(a[0], c[0])
    }),
  )
})
