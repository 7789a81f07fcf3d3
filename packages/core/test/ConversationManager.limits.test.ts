import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import {
  BadPageLimit,
  EventsFromFuture,
  ManagerClosed,
  TooManyListeners,
} from "../src/ConversationErrors.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import { BadCursor } from "../src/ConversationErrors.ts"
import { BadForkRule } from "../src/ForkRule.ts"
import {
  exitOf,
  answer,
  eventsOf,
  isEnd,
  listed,
  loadedIds,
  managerLayer,
  says,
  scripted,
  settings,
  settle,
  takeToEnd,
  takeUntil,
  typesOf,
} from "./support.ts"

const hanging = () => scripted(Stream.never)

const pages = Effect.fnUntraced(function* (
  manager: ConversationManager["Service"],
  limit: number,
  between: Effect.Effect<unknown, unknown> = Effect.void,
) {
  const ids: Array<string> = []
  let page = yield* manager.list({ limit })
  while (true) {
    ids.push(...page.items.map(({ id }) => id))
    if (page.nextCursor === undefined) return ids
    yield* between
    page = yield* manager.list({ limit, cursor: page.nextCursor })
  }
})

describe("ConversationManager lists", () => {
  it.effect("newest first, page by page, each once", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const made = yield* Effect.forEach(Array.from({ length: 7 }), () => manager.create(settings))
      const newestFirst = made.map(({ id }) => id).toReversed()
      for (const limit of [1, 2, 3, 6, 7, 8, 1000]) {
        assert.deepStrictEqual(yield* pages(manager, limit), newestFirst, `limit ${limit}`)
      }
      assert.deepStrictEqual(yield* manager.list(), {
        items: newestFirst.map((id) => ({
          id,
          loaded: true,
          createdAtMs: 0,
          updatedAtMs: 0,
          cwd: settings.cwd,
          archived: false,
          provider: settings.provider.id,
          model: settings.model,
        })),
      })
    }).pipe(Effect.provide(managerLayer(hanging()))),
  )

  it.effect("the same conversations whatever is created and removed between two pages", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const made = yield* Effect.forEach(Array.from({ length: 8 }), () => manager.create(settings))
      const ids = made.map(({ id }) => id)
      const lasting = ids.filter((_, i) => i % 2 === 0)
      const doomed = ids.filter((_, i) => i % 2 === 1)
      const seen = yield* pages(
        manager,
        2,
        Effect.gen(function* () {
          yield* manager.create(settings)
          const last = doomed.pop()
          if (last !== undefined) yield* manager.remove(last)
        }),
      )
      assert.deepStrictEqual(
        seen.filter((id) => lasting.some((one) => one === id)),
        lasting.toReversed(),
      )
      assert.deepStrictEqual(
        seen.filter((id) => !ids.some((one) => one === id)),
        [],
      )
    }).pipe(Effect.provide(managerLayer(hanging()))),
  )

  it.effect("L13 no page for a foreign cursor, nor for a limit that is not valid", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      yield* manager.create(settings)
      yield* manager.create(settings)
      const { nextCursor = "" } = yield* manager.list({ limit: 1 })
      for (const cursor of ["", "0", "AAAA", `${nextCursor}=`]) {
        assert.deepStrictEqual(yield* exitOf(manager.list({ cursor })), Exit.fail(new BadCursor()))
      }
      for (const limit of [0, -1, 1.5, 1001, Number.NaN]) {
        assert.deepStrictEqual(
          yield* exitOf(manager.list({ limit })),
          Exit.fail(new BadPageLimit({ limit, maxLimit: 1000 })),
        )
      }
    }).pipe(Effect.provide(managerLayer(hanging()))),
  )
})

describe("ConversationManager forks", () => {
  it.effect("by both rules; the source and its running turn continue", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const source = yield* manager.create(settings)
      for (const text of ["a", "b", "c"]) {
        yield* source.submit(says(text))
        yield* settle
      }
      const said = Effect.fnUntraced(function* (rule: Parameters<typeof manager.fork>[1]) {
        const fork = yield* manager.fork(source.id, rule)
        const listener = yield* fork.attach({ from: 0 })
        const events = eventsOf(yield* takeUntil(listener, ({ _tag }) => _tag === "Synced"))
        const [first] = events
        assert.deepStrictEqual(
          first?.msg.type === "session_configured" ? first.msg.session_id : "",
          fork.id,
        )
        return events.flatMap(({ msg }) => (msg.type === "user_message" ? [msg.message] : []))
      }, Effect.scoped)
      // The turn of "c" is still running, so it counts for neither rule.
      assert.deepStrictEqual(yield* said({ _tag: "DropLastUserMessages", n: 0 }), ["a", "b"])
      assert.deepStrictEqual(yield* said({ _tag: "DropLastUserMessages", n: 1 }), ["a"])
      assert.deepStrictEqual(yield* said({ _tag: "DropLastUserMessages", n: 2 }), [])
      assert.deepStrictEqual(yield* said({ _tag: "BeforeUserMessage", nth: 1 }), ["a"])
      assert.deepStrictEqual(yield* said({ _tag: "BeforeUserMessage", nth: 0 }), [])
      assert.deepStrictEqual(
        yield* Effect.flip(manager.fork(source.id, { _tag: "DropLastUserMessages", n: 3 })),
        new BadForkRule({ field: "n", value: 3, userMessages: 2 }),
      )
      assert.strictEqual((yield* source.state).turn?.id, "2")
      assert.lengthOf(yield* listed(manager), 6)
    }).pipe(Effect.provide(managerLayer(scripted(answer("to a"), answer("to b"), Stream.never)))),
  )

  it.effect("continue where they were cut, with new submission ids", () => {
    const script = scripted(answer("to a"), answer("to b"))
    return Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const source = yield* manager.create(settings)
      yield* source.submit(says("a"))
      yield* settle
      const fork = yield* manager.fork(source.id, { _tag: "DropLastUserMessages", n: 0 })
      const receipt = yield* fork.submit(says("b"))
      assert.deepStrictEqual(receipt, { id: "1", disposition: "started" })
      yield* settle
      const texts = script.requests[1]?.input.flatMap((item) =>
        item.type === "message"
          ? item.content.map((part) => ("text" in part ? part.text : ""))
          : [],
      )
      assert.deepStrictEqual(texts?.slice(1), ["a", "to a", "b"])
    }).pipe(Effect.provide(managerLayer(script)))
  })

  it.effect("L3 L13 leave nothing behind when they fail", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const { id } = yield* manager.create(settings)
      assert.deepStrictEqual(
        yield* exitOf(manager.fork(id, { _tag: "BeforeUserMessage", nth: -1 })),
        Exit.fail(new BadForkRule({ field: "nth", value: -1 })),
      )
      const rule = { _tag: "DropLastUserMessages", n: 0 } as const
      assert.strictEqual((yield* Effect.flip(manager.fork("x", rule)))._tag, "NoSuchConversation")
      assert.strictEqual((yield* Effect.flip(manager.fork(id, rule)))._tag, "TooManyConversations")
      assert.deepStrictEqual(yield* listed(manager), [id])
    }).pipe(Effect.provide(managerLayer(hanging(), { maxConversations: 1 }))),
  )
})

describe("ConversationManager limits", () => {
  it.effect(
    "the turns that run at once, over all conversations; what follows on a turn counts once",
    () =>
      Effect.gen(function* () {
        yield* TestClock.adjust(0)
        const manager = yield* ConversationManager
        const [a, b, c] = yield* Effect.all([
          manager.create(settings),
          manager.create(settings),
          manager.create(settings),
        ])
        yield* a.submit(says("one"))
        yield* a.submit(says("two"), { whileRunning: "wait" })
        yield* b.submit(says("one"))
        const refused = yield* Effect.flip(c.submit(says("one"), { id: "mine" }))
        assert.deepInclude(refused, {
          _tag: "SubmissionRefused",
          reason: "TooManyTurns",
          message: "2 turns are running already, which is the limit",
        })
        assert.strictEqual((yield* c.state).seq, 2)
        // The next turn of `a` runs in the place of the cancelled one, so the limit is still reached.
        yield* a.cancel("0")
        yield* settle
        assert.strictEqual((yield* a.state).turn?.id, "1")
        assert.strictEqual((yield* Effect.flip(c.submit(says("one"))))._tag, "SubmissionRefused")
        yield* a.cancel("1")
        yield* settle
        // The id of the refused submission is still unused.
        assert.deepStrictEqual(yield* c.submit(says("one"), { id: "mine" }), {
          id: "mine",
          disposition: "started",
        })
        yield* manager.remove(b.id)
        assert.strictEqual((yield* a.submit(says("three"))).disposition, "started")
      }).pipe(Effect.provide(managerLayer(hanging(), { maxTurns: 2 }))),
  )

  it.effect("the listeners of a conversation, and the events that they can start from", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      for (const from of [3, 2.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        assert.deepStrictEqual(
          yield* Effect.exit(conversation.attach({ from })),
          Exit.fail(new EventsFromFuture({ from, next: 2 })),
        )
      }
      yield* conversation.attach({ from: 2 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* conversation.attach()
          assert.deepStrictEqual(
            yield* Effect.exit(conversation.attach()),
            Exit.fail(new TooManyListeners({ maxListeners: 2 })),
          )
        }),
      )
      yield* conversation.attach()
    }).pipe(Effect.provide(managerLayer(hanging(), { maxListeners: 2 }))),
  )
})

describe("ConversationManager shuts down", () => {
  it.effect("L5 L8 all at once within the bound of one turn, and accepts no new work", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      const made = yield* Effect.forEach(Array.from({ length: 20 }), () => manager.create(settings))
      const listeners = yield* Effect.forEach(made, (conversation) =>
        Effect.andThen(conversation.submit(says("hi")), conversation.attach()),
      )
      yield* settle
      const ending = yield* Effect.forkChild(manager.shutdown, { startImmediately: true })
      const [first] = made
      if (first === undefined) return assert.fail("no conversation")
      const closed = Exit.fail(new ManagerClosed())
      const rule = { _tag: "DropLastUserMessages", n: 0 } as const
      const refuses = Effect.gen(function* () {
        assert.deepStrictEqual(yield* exitOf(manager.create(settings)), closed)
        assert.deepStrictEqual(yield* exitOf(manager.get(first.id)), closed)
        assert.deepStrictEqual(yield* exitOf(manager.fork(first.id, rule)), closed)
        assert.deepStrictEqual(
          (yield* manager.list()).items.map(({ loaded }) => loaded),
          made.map(() => false),
        )
        assert.deepStrictEqual(yield* exitOf(manager.remove(first.id)), closed)
      })
      yield* refuses
      yield* TestClock.adjust("900 millis")
      assert.isUndefined(ending.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(ending)
      for (const listener of listeners) {
        assert.deepStrictEqual(typesOf(yield* takeToEnd(listener)).slice(-2), [
          "turn_aborted",
          "shutdown_complete",
        ])
      }
      yield* manager.shutdown
      yield* refuses
      assert.strictEqual((yield* Effect.flip(first.submit(says("hi"))))._tag, "ConversationClosed")
    }).pipe(
      Effect.provide(
        managerLayer(scripted(Stream.never.pipe(Stream.ensuring(Effect.sleep("1 second"))))),
      ),
    ),
  )

  it.effect("resolves after twelve seconds when a tool never stops, for every caller", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* conversation.submit(says("hi"))
      yield* settle
      const first = yield* Effect.forkChild(manager.shutdown, { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      const second = yield* Effect.forkChild(manager.shutdown, { startImmediately: true })
      yield* TestClock.adjust("6999 millis")
      assert.isUndefined(first.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(first)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(second)
      // Lets the tool end, so that closing the layer does not wait for it.
      yield* TestClock.adjust("1 hour")
    }).pipe(
      Effect.provide(
        managerLayer(scripted(Stream.never.pipe(Stream.ensuring(Effect.sleep("1 hour"))))),
      ),
    ),
  )

  it.effect("L3 ends a conversation that is being created meanwhile", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const create = exitOf(manager.create(settings))
      const [early, , late] = yield* Effect.all(
        [
          Effect.all(
            Array.from({ length: 20 }, () => create),
            { concurrency: "unbounded" },
          ),
          manager.shutdown,
          create,
        ],
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(late, Exit.fail(new ManagerClosed()))
      const made = early.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value.id] : []))
      assert.deepStrictEqual(yield* listed(manager), made)
      assert.deepStrictEqual(yield* loadedIds(manager), [])
    }).pipe(Effect.provide(managerLayer(hanging())), Effect.scoped),
  )
})

describe("ConversationManager with a model that answers", () => {
  it.effect("releases permits at the end of a turn", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust(0)
      const manager = yield* ConversationManager
      for (let n = 0; n < 10; n++) {
        const conversation = yield* manager.create(settings)
        const listener = yield* conversation.attach()
        yield* conversation.submit(says("hi"))
        yield* takeUntil(listener, isEnd)
      }
    }).pipe(Effect.provide(Layer.fresh(managerLayer(scripted(answer("yes")), { maxTurns: 1 })))),
  )
})
