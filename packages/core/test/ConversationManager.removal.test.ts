import { simulate } from "@colloquy/simulation/Simulate"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ConversationArchived } from "../src/ConversationErrors.ts"
import { ConversationManager } from "../src/ConversationManager.ts"
import { StoreError } from "../src/StoreErrors.ts"
import { diskFull, observed } from "./stores.ts"
import {
  callItem,
  completed,
  done,
  managerLayer,
  says,
  scripted,
  settings,
  settle,
  tools,
} from "./support.ts"

type Manager = ConversationManager["Service"]
type Conversation = Effect.Success<ReturnType<Manager["create"]>>

const hanging = () => scripted(Stream.never)

/** Cause and reason why the conversation is not available, the tag of any other error, or the disposition of the receipt. */
const outcomeOf = (conversation: Conversation) =>
  Effect.match(conversation.submit(says("hi")), {
    onFailure: (error) =>
      error._tag === "ConversationUnavailable"
        ? `${error.because?._tag}: ${error.reason}`
        : error._tag,
    onSuccess: ({ disposition }) => disposition,
  })

const yields = Effect.flatMap(Random.nextIntBetween(0, 12), (times) =>
  Effect.forEach(Array.from({ length: times }), () => Effect.yieldNow, { discard: true }),
)

/** The outcome for a client that uses a conversation while one client ends it and another one removes it. */
const race = Effect.gen(function* () {
  const manager = yield* ConversationManager
  const conversation = yield* manager.create(settings)
  const [outcome] = yield* Effect.all(
    [
      Effect.andThen(yields, outcomeOf(conversation)),
      Effect.andThen(yields, Effect.exit(conversation.submit({ type: "shutdown" }))),
      Effect.andThen(yields, manager.remove(conversation.id)),
    ],
    { concurrency: "unbounded" },
  )
  return outcome
}).pipe(Effect.provide([managerLayer(hanging()), Logger.layer([])]), Effect.scoped)

/** Runs with a conversation that is only in the store, and with the deferred that its deletion and archiving wait for. */
const withStored = <A, E>(
  use: (parts: {
    readonly manager: Manager
    readonly conversation: Conversation
    readonly disk: Deferred.Deferred<void, StoreError>
  }) => Effect.Effect<A, E>,
) =>
  Effect.gen(function* () {
    const disk = yield* Deferred.make<void, StoreError>()
    const store = observed()
    const layer = managerLayer(hanging(), { store: store.layer })
    return yield* Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* conversation.submit({ type: "shutdown" })
      yield* settle
      const waiting = Effect.andThen(Deferred.await(disk), Effect.never)
      store.faults.delete = () => waiting
      store.faults.archive = () => waiting
      return yield* use({ manager, conversation, disk })
    }).pipe(Effect.provide(layer))
  })

describe("a conversation that is not available any more", () => {
  it("L13 says that it is being removed, whenever another client uses or ends it", () => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 400; seed++) {
      const { exit } = simulate(seed, race)
      if (exit === "stuck" || exit === "livelock") assert.fail(`seed ${seed}: ${exit}`)
      seen.add(Exit.isSuccess(exit) ? exit.value : String(exit))
    }
    assert.deepStrictEqual([...seen].toSorted(), [
      "ConversationClosed",
      "NoSuchConversation: it is being removed",
      "NoSuchConversation: it was removed",
      "started",
    ])
  })

  for (const [operation, reason] of [
    ["remove", "NoSuchConversation: it is being removed"],
    ["archive", "ConversationArchived: it is being archived or unarchived"],
  ] as const) {
    it.effect(`L13 says of one in the store that ${operation} has not ended`, () =>
      withStored(({ conversation, disk, manager }) =>
        Effect.gen(function* () {
          const ending = yield* Effect.forkChild(Effect.exit(manager[operation](conversation.id)), {
            startImmediately: true,
          })
          yield* settle
          assert.strictEqual(yield* outcomeOf(conversation), reason)
          yield* Deferred.failSync(disk, () => {
            const message = "disk failed"
            return new StoreError({ operation: "delete", reason: "Other", message })
          })
          assert.isTrue(Exit.isFailure(yield* Fiber.join(ending)))
          assert.strictEqual(yield* outcomeOf(conversation), "started")
        }),
      ),
    )
  }

  it.effect("L13 is archived, unarchived or removed once another archiving has ended", () =>
    Effect.gen(function* () {
      for (const operation of ["archive", "unarchive", "remove"] as const) {
        const store = observed()
        const disk = yield* Deferred.make<void>()
        const first = operation === "unarchive" ? operation : "archive"
        yield* Effect.gen(function* () {
          const manager = yield* ConversationManager
          const { id } = yield* manager.create(settings)
          if (first === "unarchive") yield* manager.archive(id)
          const really = first === "archive" ? store.inner.archive(id) : store.inner.unarchive(id)
          store.faults[first] = () => Effect.andThen(Deferred.await(disk), really)
          const fork = (call: Effect.Effect<void, unknown>) =>
            Effect.forkChild(Effect.exit(call), { startImmediately: true })
          const running = yield* fork(manager[first](id))
          yield* settle
          const repeated = yield* fork(manager[operation](id))
          yield* settle
          assert.isUndefined(repeated.pollUnsafe())
          const foreign = yield* Effect.flip(manager[operation](id, { owner: "bob" }))
          assert.strictEqual(foreign._tag, "NoSuchConversation")
          yield* Deferred.succeed(disk, undefined)
          assert.isTrue(Exit.isSuccess(yield* Fiber.join(running)))
          assert.isTrue(Exit.isSuccess(yield* Fiber.join(repeated)))
          const left = yield* Effect.option(manager.metadata({ id }))
          assert.deepStrictEqual(
            Option.map(left, ({ archived }) => archived),
            operation === "remove" ? Option.none() : Option.some(operation === "archive"),
          )
        }).pipe(Effect.provide(managerLayer(hanging(), { store: store.layer })))
      }
    }),
  )

  it.effect("L13 is not found for another removal or archiving while it is removed", () =>
    withStored(({ conversation: { id }, disk, manager }) =>
      Effect.gen(function* () {
        const removing = yield* Effect.forkChild(Effect.exit(manager.remove(id)), {
          startImmediately: true,
        })
        yield* settle
        for (const operation of ["archive", "unarchive", "remove"] as const) {
          const again = yield* Effect.flip(manager[operation](id))
          assert.strictEqual(again._tag, "NoSuchConversation")
        }
        yield* Deferred.failSync(
          disk,
          () => new StoreError({ operation: "delete", reason: "Other", message: "disk failed" }),
        )
        yield* Fiber.join(removing)
      }),
    ),
  )

  it.effect("L8 waits for an archiving that does not end no longer than 30 seconds", () =>
    Effect.gen(function* () {
      const tool = yield* Deferred.make<void>()
      const stuck = tools({
        stuck: () => Effect.uninterruptible(Effect.as(Deferred.await(tool), "done")),
      })
      const script = scripted([done(callItem("stuck", "c")), completed])
      yield* Effect.gen(function* () {
        const manager = yield* ConversationManager
        const conversation = yield* manager.create(settings)
        yield* conversation.submit(says("hi"))
        yield* settle
        const first = yield* Effect.forkChild(manager.archive(conversation.id), {
          startImmediately: true,
        })
        yield* settle
        const second = yield* Effect.forkChild(Effect.flip(manager.archive(conversation.id)), {
          startImmediately: true,
        })
        yield* TestClock.adjust("30 seconds")
        assert.deepInclude(yield* Fiber.join(second), { operation: "archive", reason: "Slow" })
        assert.isUndefined(first.pollUnsafe())
        yield* Deferred.succeed(tool, undefined)
        yield* Fiber.join(first)
      }).pipe(Effect.provide(managerLayer(script, { tools: stuck })))
    }),
  )

  it.effect("L13 is found while it is archived, by its owner, and says so", () =>
    withStored(({ conversation: { id }, disk, manager }) =>
      Effect.gen(function* () {
        const archiving = yield* Effect.forkChild(Effect.exit(manager.archive(id)), {
          startImmediately: true,
        })
        yield* settle
        const found = yield* Effect.flip(manager.get(id, { owner: null }))
        assert.deepInclude(found, {
          _tag: "ConversationUnavailable",
          reason: "it is being archived or unarchived",
          because: new ConversationArchived(),
        })
        const foreign = yield* Effect.flip(manager.get(id, { owner: "bob" }))
        assert.strictEqual(foreign._tag, "NoSuchConversation")
        yield* Deferred.failSync(
          disk,
          () => new StoreError({ operation: "archive", reason: "Other", message: "disk failed" }),
        )
        yield* Fiber.join(archiving)
        assert.strictEqual((yield* manager.get(id)).id, id)
      }),
    ),
  )

  for (const operation of ["remove", "archive"] as const) {
    it.effect(`L8 a shutdown during ${operation} waits for what its turn still runs`, () =>
      Effect.gen(function* () {
        let stopped = false
        const stubborn = tools({
          stubborn: () =>
            Effect.onInterrupt(Effect.never, () =>
              Effect.andThen(
                Effect.sleep("8 seconds"),
                Effect.sync(() => (stopped = true)),
              ),
            ),
        })
        const scope = yield* Scope.make()
        const script = scripted([done(callItem("stubborn", "c")), completed])
        const manager = Context.get(
          yield* Layer.buildWithScope(managerLayer(script, { tools: stubborn }), scope),
          ConversationManager,
        )
        const conversation = yield* manager.create(settings)
        yield* conversation.submit(says("hi"))
        yield* settle
        const ending = yield* Effect.forkChild(manager[operation](conversation.id))
        yield* settle
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* settle
        yield* TestClock.adjust("7 seconds")
        assert.isUndefined(closing.pollUnsafe(), "the tool still runs")
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(closing)
        assert.isTrue(stopped)
        yield* Fiber.join(ending)
      }),
    )
  }

  it.effect("L13 says that it was removed", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.create(settings)
      yield* conversation.submit({ type: "shutdown" })
      yield* settle
      yield* manager.remove(conversation.id)
      assert.strictEqual(yield* outcomeOf(conversation), "NoSuchConversation: it was removed")
    }).pipe(Effect.provide(managerLayer(hanging()))),
  )

  it.effect("L13 says that its manager closes", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const manager = Context.get(
        yield* Layer.buildWithScope(managerLayer(hanging()), scope),
        ConversationManager,
      )
      const conversation = yield* manager.create(settings)
      yield* conversation.submit({ type: "shutdown" })
      yield* settle
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* outcomeOf(conversation), "ManagerClosed: it is being closed")
    }),
  )

  it.effect("L13 says that its log could not be created, also after its fiber has ended", () => {
    const store = observed()
    store.faults.create = () => diskFull("create")
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.createOnSubmit(settings)
      assert.strictEqual(yield* outcomeOf(conversation), "StoreError: no space left")
      yield* settle
      assert.strictEqual(
        yield* outcomeOf(conversation),
        "NoSuchConversation: its log could not be created",
      )
    }).pipe(Effect.provide(managerLayer(hanging(), { store: store.layer })))
  })
})
