/** A conversation that another process has: read from its log, followed, and taken over. Two managers over one store. */
import { assert, describe, it } from "@effect/vitest"
import type { Event } from "@colloquy/protocol/EventMsg"
import { isEphemeral } from "@colloquy/protocol/EventMsg"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ConversationArchived, TooManyConversations } from "../src/ConversationErrors.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import type { Delivery } from "../src/listeners/Delivery.ts"
import type { Listener } from "../src/listeners/Listener.ts"
import { observed } from "./stores.ts"
import { answer, managerLayer, says, scripted, settings } from "./support.ts"

type Observed = ReturnType<typeof observed>

const processOver = Effect.fnUntraced(function* (store: Observed, maxLoaded?: number) {
  const scope = yield* Scope.make()
  yield* TestClock.adjust(0)
  const script = scripted(...Array.from({ length: 40 }, (_, n) => answer(`answer ${n}`)))
  const services = yield* Layer.buildWithScope(
    Layer.fresh(
      managerLayer(script, {
        store: store.layer,
        idleTimeToLive: "1 hour",
        ...(maxLoaded === undefined ? {} : { maxLoaded }),
      }),
    ),
    scope,
  )
  return {
    manager: Context.get(services, ConversationManager),
    close: Scope.close(scope, Exit.void),
  }
})

/** Two processes, and a conversation that the first one has. */
const two = Effect.gen(function* () {
  const store = observed()
  const first = yield* processOver(store)
  const second = yield* processOver(store)
  const conversation = yield* first.manager.create(settings)
  return { store, first, second, conversation, id: conversation.id }
})

/** Collects what the listener takes, in a fiber of its own. */
const collected = Effect.fnUntraced(function* (listener: Listener) {
  const all: Array<Delivery> = []
  const fiber = yield* Effect.forkScoped(
    Effect.forever(Effect.map(listener.take, (some) => all.push(...some))),
    { startImmediately: true },
  )
  return { all, fiber }
})

const durable = (all: ReadonlyArray<Delivery>): ReadonlyArray<Event> =>
  all.flatMap((one) => (one._tag === "Event" && !isEphemeral(one.event.msg) ? [one.event] : []))

const isGapless = (events: ReadonlyArray<Event>, from: number) =>
  assert.deepStrictEqual(
    events.map(({ seq }) => seq),
    events.map((_, n) => from + n),
  )

const seconds = (n: number) => TestClock.adjust(`${n} seconds`)

describe("a conversation that another process has", () => {
  it.effect("L4 is followed in its log while turns run, without loss or duplicate", () =>
    Effect.gen(function* () {
      const { conversation, id, second } = yield* two
      const { all } = yield* collected(yield* second.manager.follow(id, { from: 0 }))
      for (let n = 0; n < 20; n++) {
        yield* conversation.submit(says(`say ${n}`))
        yield* TestClock.adjust(n * 37)
      }
      yield* seconds(2)
      const { seq } = yield* conversation.state
      assert.strictEqual(durable(all).length, seq)
      isGapless(durable(all), 0)
      assert.strictEqual(all.filter(({ _tag }) => _tag === "Synced").length, 1)
    }).pipe(Effect.scoped),
  )

  it.effect("L4 is followed from any number, and not from one that no event has yet", () =>
    Effect.gen(function* () {
      const { conversation, id, second } = yield* two
      yield* conversation.submit(says("hi"))
      yield* seconds(1)
      const { seq } = yield* conversation.state
      for (let from = 0; from <= seq; from++) {
        const taken = yield* (yield* second.manager.follow(id, { from })).take
        isGapless(durable(taken), from)
        assert.deepStrictEqual(taken.at(-1), { _tag: "Synced", seq })
      }
      const error = yield* Effect.flip(second.manager.follow(id, { from: seq + 1 }))
      assert.deepStrictEqual(
        [error._tag, "next" in error ? error.next : undefined],
        ["EventsFromFuture", seq],
      )
    }).pipe(Effect.scoped),
  )

  it.effect("L16 is taken over by a process that follows it once the other one has ended", () =>
    Effect.gen(function* () {
      const { conversation, first, id, second } = yield* two
      const { all } = yield* collected(yield* second.manager.follow(id, { from: 0 }))
      yield* conversation.submit(says("one"))
      yield* seconds(30)
      assert.strictEqual((yield* second.manager.list()).items[0]?.loaded, false)
      yield* first.close
      yield* seconds(30)
      assert.strictEqual((yield* second.manager.list()).items[0]?.loaded, true)
      const taken = yield* second.manager.get(id)
      yield* taken.submit(says("two"))
      yield* seconds(1)
      isGapless(durable(all), 0)
      assert.strictEqual(durable(all).length, (yield* taken.state).seq)
      assert.strictEqual(all.filter(({ _tag }) => _tag === "Synced").length, 2)
    }).pipe(Effect.scoped),
  )

  it.effect("L4 is followed further where this process has no room to take it over", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store)
      const second = yield* processOver(store, 1)
      const conversation = yield* first.manager.create(settings)
      const { id } = conversation
      const { all, fiber } = yield* collected(yield* second.manager.follow(id, { from: 0 }))
      const other = yield* second.manager.create(settings)
      // A listener keeps it in memory.
      yield* other.attach()
      yield* conversation.submit(says("one"))
      yield* first.close
      yield* seconds(30)
      assert.isUndefined(fiber.pollUnsafe())
      const refused = yield* Effect.flip(second.manager.get(id))
      assert.deepInclude(refused, {
        _tag: "ConversationUnavailable",
        because: new TooManyConversations({ limit: "loaded", maxConversations: 1 }),
      })
      yield* second.manager.remove(other.id)
      yield* seconds(30)
      const taken = yield* second.manager.get(id)
      isGapless(durable(all), 0)
      assert.strictEqual(durable(all).length, (yield* taken.state).seq)
    }).pipe(Effect.scoped),
  )

  it.effect("is read from its log: its state is the one that the other process has", () =>
    Effect.gen(function* () {
      const { conversation, id, second } = yield* two
      yield* conversation.submit(says("hi"))
      yield* seconds(1)
      const own = yield* conversation.state
      const read = yield* second.manager.stateOf(id)
      assert.deepStrictEqual(
        [read.seq, read.turn, read.waiting, read.settings.cwd, read.settings.model],
        [own.seq, own.turn, own.waiting, own.settings.cwd, own.settings.model],
      )
      const all = yield* second.manager.history(id)
      assert.deepStrictEqual(yield* second.manager.history(id, undefined, 2), all.slice(2))
      assert.deepStrictEqual(yield* second.manager.history(id, undefined, own.seq), [])
      assert.strictEqual((yield* second.manager.list()).items[0]?.loaded, false)
    }).pipe(Effect.scoped),
  )

  it.effect("is not read where it is archived, whoever has its lease", () =>
    Effect.gen(function* () {
      const { first, id, second, store } = yield* two
      yield* first.manager.archive(id)
      yield* store.inner.open({ id })
      const because = new ConversationArchived()
      assert.deepInclude(yield* Effect.flip(second.manager.stateOf(id)), {
        _tag: "ConversationUnavailable",
        because,
      })
    }).pipe(Effect.scoped),
  )

  it.effect("is unknown to another principal, and ends for its followers when it is removed", () =>
    Effect.gen(function* () {
      const { first, id, second } = yield* two
      for (const failed of [
        Effect.asVoid(second.manager.follow(id, { from: 0 }, { owner: "other" })),
        Effect.asVoid(second.manager.stateOf(id, { owner: "other" })),
      ]) {
        assert.strictEqual((yield* Effect.flip(failed))._tag, "NoSuchConversation")
      }
      const { all, fiber } = yield* collected(yield* second.manager.follow(id, { from: 0 }))
      yield* first.manager.remove(id)
      yield* seconds(30)
      assert.strictEqual((yield* Fiber.await(fiber))._tag, "Failure")
      isGapless(durable(all), 0)
    }).pipe(Effect.scoped),
  )

  it.effect("L6 a follower reads the log less often while nothing happens", () =>
    Effect.gen(function* () {
      const store = observed()
      const first = yield* processOver(store)
      const second = yield* processOver(store)
      const { id } = yield* first.manager.create(settings)
      yield* collected(yield* second.manager.follow(id, { from: 0 }))
      yield* seconds(60)
      let reads = 0
      store.faults.read = (...args) => {
        reads++
        return store.inner.read(...args)
      }
      yield* seconds(60)
      // One read each half second.
      assert.isAtMost(reads, 132)
      assert.isAtLeast(reads, 100)
    }).pipe(Effect.scoped),
  )
})
