import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ConversationUnavailable, TooManyConversations } from "../src/ConversationErrors.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import { ConversationStore, StoreError } from "../src/ConversationStore.ts"
import {
  answer,
  durableOf,
  isEnd,
  listed,
  managerLayer,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
} from "./support.ts"

const loadedIds = (manager: ConversationManager["Service"]) =>
  Effect.map(manager.list({ limit: 1000 }), ({ items }) =>
    items.flatMap(({ id, loaded }) => (loaded ? [id] : [])),
  )

/** Runs a turn to its end; gives every durable event of the conversation. */
const speak = Effect.fnUntraced(function* (
  conversation: Effect.Success<ReturnType<ConversationManager["Service"]["create"]>>,
  text: string,
) {
  const listener = yield* conversation.attach()
  yield* conversation.submit(says(text))
  yield* takeUntil(listener, isEnd)
}, Effect.scoped)

const replay = Effect.fnUntraced(function* (
  conversation: Effect.Success<ReturnType<ConversationManager["Service"]["create"]>>,
) {
  const listener = yield* conversation.attach({ from: 0 })
  return durableOf(yield* takeUntil(listener, ({ _tag }) => _tag === "Synced"))
}, Effect.scoped)

type Store = ConversationStore["Service"]

/** A store in memory that counts its calls and can be made to behave otherwise. */
const observed = () => {
  const calls: Array<string> = []
  const faults: { -readonly [Call in keyof Store]?: Store[Call] } = {}
  const layer = Layer.effect(
    ConversationStore,
    Effect.map(ConversationStore, (inner): Store => ({
      save: (id, conversation) => {
        calls.push("save")
        return (faults.save ?? inner.save)(id, conversation)
      },
      load: (id) => {
        calls.push("load")
        return (faults.load ?? inner.load)(id)
      },
      remove: (id) => {
        calls.push("remove")
        return (faults.remove ?? inner.remove)(id)
      },
      list: Effect.suspend(() => faults.list ?? inner.list),
    })),
  ).pipe(Layer.provide(ConversationStore.layerMemory))
  return { calls, faults, layer }
}

const broken = (operation: StoreError["operation"]) =>
  Effect.fail(new StoreError({ operation, message: "disk full" }))

const minute = "1 minute"

describe("ConversationManager and what is idle", () => {
  it.effect("L4 shows every durable event once after it was stored and loaded again", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "one")
      const before = yield* replay(conversation)
      const state = yield* conversation.state
      yield* TestClock.adjust(minute)
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      assert.deepStrictEqual(store.calls, ["save"])
      const after = yield* replay(yield* manager.get(conversation.id))
      assert.deepStrictEqual(after, before)
      assert.deepStrictEqual(yield* conversation.state, state)
      assert.deepStrictEqual(store.calls, ["save", "load"])
      yield* speak(conversation, "two")
      const all = yield* replay(conversation)
      assert.deepStrictEqual(
        all.map(({ seq }) => seq),
        all.map((_, i) => i),
      )
      assert.deepStrictEqual(all.slice(0, before.length), before)
      assert.deepStrictEqual([...new Set(all.map(({ id }) => id))], ["", "0", "1"])
    }).pipe(
      Effect.provide(
        managerLayer(scripted(answer("yes")), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect("knows a repeated submission again after it was stored", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      const receipt = yield* conversation.submit(says("hi"), { id: "mine" })
      yield* settle
      yield* TestClock.adjust(minute)
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      assert.deepStrictEqual(yield* conversation.submit(says("hi"), { id: "mine" }), receipt)
      assert.strictEqual((yield* conversation.state).turn, undefined)
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes")), { idleTimeToLive: minute }))),
  )

  it.effect("L6 starts without a store that does not say what it has", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const store = observed()
      store.faults.list = Effect.never
      const start = Effect.gen(function* () {
        const manager = yield* ConversationManager
        const { id } = yield* manager.create(settings)
        assert.deepStrictEqual(yield* listed(manager), [id])
      }).pipe(Effect.provide(managerLayer(scripted(), { store: store.layer })))
      const fiber = yield* Effect.forkChild(start, { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(fiber)
    }),
  )

  it.effect("keeps what runs or is listened to, and what was used lately", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const busy = yield* manager.create(settings)
      const heard = yield* manager.create(settings)
      const used = yield* manager.create(settings)
      const idle = yield* manager.create(settings)
      yield* busy.submit(says("hi"))
      const scope = yield* Scope.make()
      yield* Scope.provide(heard.attach(), scope)
      yield* TestClock.adjust("59 seconds")
      yield* used.state
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* loadedIds(manager), [used.id, heard.id, busy.id])
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* loadedIds(manager), [heard.id, busy.id])
      // Its time begins when the listener leaves.
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* loadedIds(manager), [heard.id, busy.id])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* loadedIds(manager), [busy.id])
      yield* busy.cancel("0")
      yield* settle
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      // Nothing runs in it: not even loaded for that.
      yield* busy.cancel("0")
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      assert.lengthOf(yield* listed(manager), 4)
      assert.strictEqual((yield* manager.get(idle.id)).id, idle.id)
    }).pipe(Effect.provide(managerLayer(scripted(Stream.never), { idleTimeToLive: minute }))),
  )

  it.effect("stores the least recently used to make room, and refuses where all are busy", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const a = yield* manager.create(settings)
      const b = yield* manager.create(settings)
      yield* a.state
      const c = yield* manager.create(settings)
      assert.deepStrictEqual(yield* loadedIds(manager), [c.id, a.id])
      yield* a.submit(says("hi"))
      yield* c.submit(says("hi"))
      assert.deepStrictEqual(
        yield* Effect.exit(manager.create(settings)),
        Exit.fail(new TooManyConversations({ limit: "loaded", maxConversations: 2 })),
      )
      const reason = "2 conversations are in use already, which is the limit"
      const unavailable = Exit.fail(new ConversationUnavailable({ id: b.id, reason }))
      assert.deepStrictEqual(yield* Effect.exit(manager.get(b.id)), unavailable)
      assert.deepStrictEqual(yield* Effect.exit(b.submit(says("hi"))), unavailable)
      assert.deepStrictEqual(yield* listed(manager), [a.id, b.id, c.id])
      yield* manager.remove(a.id)
      yield* b.submit(says("hi"))
      assert.deepStrictEqual(yield* loadedIds(manager), [c.id, b.id])
    }).pipe(Effect.provide(managerLayer(scripted(Stream.never), { maxLoaded: 2 }))),
  )

  it.effect("loads it once, however many ask at the same time", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const { id } = yield* manager.create(settings)
      yield* TestClock.adjust(minute)
      yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => Effect.flatMap(manager.get(id), (found) => found.submit(says("hi"))),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(store.calls, ["save", "load"])
    }).pipe(
      Effect.provide(
        managerLayer(scripted(Stream.never), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect("loses nothing when the store does not save, and tries again later", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "one")
      const before = yield* replay(conversation)
      for (const save of [
        () => broken("save"),
        () => Effect.die(new Error("a defect of the store")),
        () => Effect.never,
      ]) {
        store.faults.save = save
        yield* TestClock.adjust(minute)
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual(yield* loadedIds(manager), [conversation.id])
        assert.deepStrictEqual(yield* replay(conversation), before)
      }
      delete store.faults.save
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      assert.deepStrictEqual(yield* replay(conversation), before)
    }).pipe(
      Effect.provide(
        managerLayer(scripted(answer("yes")), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect("tells why it cannot be loaded, and loads it when the store is well again", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "one")
      const before = yield* replay(conversation)
      yield* TestClock.adjust(minute)
      const { id } = conversation
      const faults: ReadonlyArray<readonly [Store["load"], string]> = [
        [() => broken("load"), "it could not be loaded"],
        [() => Effect.die("a defect"), "it could not be loaded"],
        [() => Effect.succeed(undefined), "the store has lost it"],
        [
          () => Effect.succeed({ settings, events: [] }),
          "what the store has of it is not a whole log",
        ],
        [
          () => Effect.succeed({ settings, events: before.toSpliced(2, 1) }),
          "what the store has of it is not a whole log",
        ],
      ]
      for (const [load, reason] of faults) {
        store.faults.load = load
        assert.deepStrictEqual(
          yield* Effect.exit(conversation.submit(says("hi"))),
          Exit.fail(new ConversationUnavailable({ id, reason })),
        )
        assert.deepStrictEqual(yield* listed(manager), [id])
      }
      delete store.faults.load
      assert.deepStrictEqual(yield* replay(conversation), before)
    }).pipe(
      Effect.provide(
        managerLayer(scripted(answer("yes")), {
          idleTimeToLive: minute,
          maxLoaded: 1,
          store: store.layer,
        }),
      ),
    )
  })

  it.effect("L5 closes a turn that the store's log leaves open", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "one")
      const whole = yield* replay(conversation)
      yield* TestClock.adjust(minute)
      store.faults.load = () => Effect.succeed({ settings, events: whole.slice(0, -1) })
      assert.deepStrictEqual((yield* replay(conversation)).at(-1), {
        seq: whole.length - 1,
        id: "0",
        msg: { type: "turn_aborted", reason: "interrupted" },
      })
      // Its id is taken, though no receipt tells so.
      yield* speak(conversation, "two")
      assert.strictEqual((yield* replay(conversation)).at(-1)?.id, "1")
    }).pipe(
      Effect.provide(
        managerLayer(scripted(answer("yes")), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect(
    "removes what is stored, from the store too; a store that fails can be asked again",
    () => {
      const store = observed()
      return Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const manager = yield* ConversationManager
        const conversation = yield* manager.create(settings)
        const never = yield* manager.create(settings)
        yield* never.attach()
        yield* manager.remove(never.id)
        assert.deepStrictEqual(store.calls, [])
        yield* TestClock.adjust(minute)
        store.faults.remove = () => broken("remove")
        assert.strictEqual((yield* Effect.flip(manager.remove(conversation.id)))._tag, "StoreError")
        assert.deepStrictEqual(yield* listed(manager), [conversation.id])
        delete store.faults.remove
        yield* manager.remove(conversation.id)
        assert.deepStrictEqual(yield* listed(manager), [])
        assert.strictEqual(
          (yield* Effect.flip(manager.get(conversation.id)))._tag,
          "NoSuchConversation",
        )
        assert.deepStrictEqual(
          yield* Effect.exit(conversation.submit(says("hi"))),
          Exit.fail(new ConversationUnavailable({ id: conversation.id, reason: "it was removed" })),
        )
        assert.deepStrictEqual(store.calls, ["save", "remove", "remove"])
      }).pipe(
        Effect.provide(
          managerLayer(scripted(Stream.never), { idleTimeToLive: minute, store: store.layer }),
        ),
      )
    },
  )

  it.effect("forgets in the store, too, what shut itself down", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* TestClock.adjust(minute)
      yield* conversation.submit({ type: "shutdown" })
      yield* settle
      assert.deepStrictEqual(yield* listed(manager), [])
      assert.deepStrictEqual(store.calls, ["save", "load", "remove"])
    }).pipe(
      Effect.provide(
        managerLayer(scripted(Stream.never), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect("finds what a store kept of an earlier process", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const store = yield* Layer.build(ConversationStore.layerMemory)
      const layer = managerLayer(scripted(answer("yes")), {
        maxLoaded: 1,
        store: Layer.succeedContext(store),
      })
      const run = <A, E>(use: (manager: ConversationManager["Service"]) => Effect.Effect<A, E>) =>
        Effect.flatMap(ConversationManager, use).pipe(
          Effect.provide(layer, { local: true }),
          Effect.scoped,
        )
      const [a, b] = yield* run((manager) =>
        Effect.gen(function* () {
          const first = yield* manager.create(settings)
          yield* speak(first, "one")
          const second = yield* manager.create(settings)
          const events = yield* replay(first)
          yield* second.state
          return [{ id: first.id, events }, second.id] as const
        }),
      )
      yield* run((manager) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* listed(manager), [a.id, b])
          assert.deepStrictEqual(yield* replay(yield* manager.get(a.id)), a.events)
        }),
      )
    }),
  )

  it.effect("a shutdown waits for a store in its bound and leaves nothing at work", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      yield* manager.create(settings)
      const asked = yield* Deferred.make<void>()
      store.faults.save = () => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
      yield* TestClock.adjust(minute)
      yield* Deferred.await(asked)
      const ending = yield* Effect.forkChild(manager.shutdown, { startImmediately: true })
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(ending.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(ending)
    }).pipe(
      Effect.provide(
        managerLayer(scripted(Stream.never), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect("takes 20,000 conversations where 100 fit in memory", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const all = []
      for (let n = 0; n < 20_000; n++) all.push(yield* manager.create(settings))
      assert.lengthOf(yield* loadedIds(manager), 100)
      const [first] = all
      if (first === undefined) return assert.fail("no conversation")
      yield* speak(first, "still there?")
      assert.deepStrictEqual((yield* replay(first)).map(({ msg }) => msg.type).slice(0, 3), [
        "session_configured",
        "raw_response_item",
        "task_started",
      ])
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes")), { maxLoaded: 100 }))),
  )
})
