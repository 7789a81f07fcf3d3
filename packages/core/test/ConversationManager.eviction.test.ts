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
import { MemoryStore } from "../src/store/MemoryStore.ts"
import { StoreError } from "../src/StoreErrors.ts"
import { eventRecord } from "../src/LogRecord.ts"
import { diskFull, observed } from "./stores.ts"
import {
  exitOf,
  answer,
  durableOf,
  isEnd,
  listed,
  loadedIds,
  managerLayer,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
} from "./support.ts"

/** Runs a turn to its end; returns every durable event of the conversation. */
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

const minute = "1 minute"

describe("ConversationManager and idle conversations", () => {
  it.effect("L4 delivers every durable event once after an eviction and a load", () => {
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
      assert.notInclude(store.calls, "open")
      const after = yield* replay(yield* manager.get(conversation.id))
      assert.deepStrictEqual(after, before)
      assert.deepStrictEqual(yield* conversation.state, state)
      assert.strictEqual(store.calls.filter((call) => call === "open").length, 1)
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

  it.effect("recognizes a repeated submission after an eviction", () =>
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

  it.effect(
    "L6 a list waits for a store in bounded time, and names the operation without an answer",
    () =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const store = observed()
        store.faults.list = () => Effect.never
        const list = Effect.flatMap(ConversationManager, (manager) =>
          Effect.andThen(manager.create(settings), Effect.flip(manager.list())),
        ).pipe(Effect.provide(managerLayer(scripted(), { store: store.layer })))
        const fiber = yield* Effect.forkChild(list, { startImmediately: true })
        yield* TestClock.adjust("10 seconds")
        const error = yield* Fiber.join(fiber)
        assert.deepStrictEqual(
          error,
          new StoreError({
            operation: "list",
            reason: "Slow",
            message: "the store did not answer in time",
          }),
        )
      }),
  )

  it.effect(
    "keeps conversations with a turn or a listener in memory, and those used recently",
    () =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const manager = yield* ConversationManager
        const busy = yield* manager.create(settings)
        const received = yield* manager.create(settings)
        const used = yield* manager.create(settings)
        const idle = yield* manager.create(settings)
        yield* busy.submit(says("hi"))
        const scope = yield* Scope.make()
        yield* Scope.provide(received.attach(), scope)
        yield* TestClock.adjust("59 seconds")
        yield* used.state
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* loadedIds(manager), [used.id, received.id, busy.id])
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(yield* loadedIds(manager), [received.id, busy.id])
        // Its idle time starts when the listener detaches.
        yield* Scope.close(scope, Exit.void)
        yield* TestClock.adjust("59 seconds")
        assert.deepStrictEqual(yield* loadedIds(manager), [received.id, busy.id])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* loadedIds(manager), [busy.id])
        yield* busy.cancel("0")
        yield* settle
        yield* TestClock.adjust("2 minutes")
        assert.deepStrictEqual(yield* loadedIds(manager), [])
        // No turn runs in the conversation, so the call does not load it.
        yield* busy.cancel("0")
        assert.deepStrictEqual(yield* loadedIds(manager), [])
        assert.lengthOf(yield* listed(manager), 4)
        assert.strictEqual((yield* manager.get(idle.id)).id, idle.id)
      }).pipe(Effect.provide(managerLayer(scripted(Stream.never), { idleTimeToLive: minute }))),
  )

  it.effect("evicts the least recently used to make room, and refuses when all are busy", () =>
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
      const because = new TooManyConversations({ limit: "loaded", maxConversations: 2 })
      assert.deepStrictEqual(yield* exitOf(manager.create(settings)), Exit.fail(because))
      const reason = "2 conversations are in use already, which is the limit"
      const unavailable = Exit.fail(new ConversationUnavailable({ id: b.id, reason, because }))
      assert.deepStrictEqual(yield* exitOf(manager.get(b.id)), unavailable)
      assert.deepStrictEqual(yield* exitOf(b.submit(says("hi"))), unavailable)
      assert.deepStrictEqual(yield* listed(manager), [a.id, b.id, c.id])
      yield* manager.remove(a.id)
      yield* b.submit(says("hi"))
      assert.deepStrictEqual(yield* loadedIds(manager), [c.id, b.id])
    }).pipe(Effect.provide(managerLayer(scripted(Stream.never), { maxLoaded: 2 }))),
  )

  it.effect("loads it once for all callers at the same time", () => {
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
      assert.strictEqual(store.calls.filter((call) => call === "open").length, 1)
    }).pipe(
      Effect.provide(
        managerLayer(scripted(Stream.never), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect("reports why it cannot be loaded, and loads it when the store works again", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "one")
      const before = yield* replay(conversation)
      yield* TestClock.adjust(minute)
      const { id } = conversation
      const unusable = (message: string, cause: StoreError["reason"]) =>
        Effect.map(Effect.flip(conversation.submit(says("hi"))), (error) => {
          assert.instanceOf(error, ConversationUnavailable)
          assert.deepInclude(error, { reason: message })
          assert.deepInclude(error.because, { _tag: "StoreError", reason: cause })
        })
      store.faults.open = () => diskFull("open")
      yield* unusable("no space left", "Full")
      store.faults.open = () => Effect.die("a defect")
      yield* unusable("the store failed unexpectedly", "Other")
      delete store.faults.open
      store.faults.read = () => Effect.succeed({ records: [] })
      yield* unusable("its log is damaged: it has no events", "Damaged")
      store.faults.read = () =>
        Effect.succeed({
          records: before.toSpliced(2, 1).map((event) => eventRecord(0, event)),
        })
      yield* unusable("its log is damaged: expected event 2, found event 3", "Damaged")
      delete store.faults.read
      assert.deepStrictEqual(yield* listed(manager), [id])
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

  it.effect("L5 ends a turn that is unfinished in the log of the store", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "one")
      const whole = yield* replay(conversation)
      yield* TestClock.adjust(minute)
      store.faults.read = () =>
        Effect.succeed({ records: whole.slice(0, -1).map((event) => eventRecord(0, event)) })
      assert.deepStrictEqual((yield* replay(conversation)).at(-1), {
        seq: whole.length - 1,
        id: "0",
        msg: { type: "turn_aborted", reason: "interrupted" },
      })
      // The id counts as used, although the caller never got a receipt.
      yield* speak(conversation, "two")
      assert.strictEqual((yield* replay(conversation)).at(-1)?.id, "1")
    }).pipe(
      Effect.provide(
        managerLayer(scripted(answer("yes")), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect("removes it from the store; a removal that fails can be retried", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "one")
      store.faults.delete = () => diskFull("delete")
      assert.strictEqual((yield* Effect.flip(manager.remove(conversation.id)))._tag, "StoreError")
      assert.deepStrictEqual(yield* listed(manager), [conversation.id])
      assert.strictEqual((yield* replay(conversation)).at(-1)?.msg.type, "shutdown_complete")
      delete store.faults.delete
      yield* manager.remove(conversation.id)
      assert.deepStrictEqual(yield* listed(manager), [])
      assert.strictEqual(
        (yield* Effect.flip(manager.get(conversation.id)))._tag,
        "NoSuchConversation",
      )
    }).pipe(
      Effect.provide(
        managerLayer(scripted(answer("yes")), { idleTimeToLive: minute, store: store.layer }),
      ),
    )
  })

  it.effect("L10 keeps a conversation after a shutdown op, and loads it at its next use", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* speak(conversation, "one")
      yield* conversation.submit({ type: "shutdown" })
      yield* settle
      assert.deepStrictEqual(yield* loadedIds(manager), [])
      assert.deepStrictEqual(yield* listed(manager), [conversation.id])
      yield* speak(yield* manager.get(conversation.id), "two")
      const types = (yield* replay(conversation)).map(({ msg }) => msg.type)
      assert.strictEqual(types.filter((type) => type === "shutdown_complete").length, 1)
      assert.strictEqual(types.at(-1), "task_complete")
    }).pipe(Effect.provide(managerLayer(scripted(answer("yes"))))),
  )

  it.effect("finds the conversations that an earlier process stored", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const store = yield* Layer.build(MemoryStore.layer)
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

  it.effect("a shutdown waits for a store in bounded time and leaves nothing running", () => {
    const store = observed()
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* conversation.attach()
      const asked = yield* Deferred.make<void>()
      store.faults.append = () => Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
      const ending = yield* Effect.forkChild(manager.shutdown, { startImmediately: true })
      yield* Deferred.await(asked)
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

  it.effect(
    "accepts 20,000 conversations when 100 fit in memory",
    () =>
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
    // Seconds on an idle machine.
    120_000,
  )
})
