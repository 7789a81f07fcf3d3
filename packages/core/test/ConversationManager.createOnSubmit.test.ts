import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../src/ConversationManager.ts"
import { diskFull, observed } from "./stores.ts"
import {
  answer,
  durableOf,
  eventsOf,
  isEnd,
  listed,
  managerLayer,
  says,
  scripted,
  settings,
  settle,
  takeUntil,
  typesOf,
} from "./support.ts"

/** Runs with a manager over an observed store. */
const withManager = <A, E>(
  use: (parts: {
    readonly manager: ConversationManager["Service"]
    readonly store: ReturnType<typeof observed>
    readonly requests: ReadonlyArray<unknown>
  }) => Effect.Effect<A, E, Scope.Scope>,
  options: { readonly maxTurns?: number; readonly maxConversations?: number } = {},
) => {
  const store = observed()
  const script = scripted(answer("yes"))
  return Effect.flatMap(ConversationManager, (manager) =>
    use({ manager, store, requests: script.requests }),
  ).pipe(Effect.provide(managerLayer(script, { ...options, store: store.layer })))
}

/** The records without what differs between two conversations. */
const comparable = (records: ReadonlyArray<unknown>, id: string) =>
  JSON.stringify(records).replaceAll(id, "id")

describe("a conversation that begins with its first submission", () => {
  it.effect("L10 is created with the submission in one batch, and has the log of any other", () =>
    withManager(({ manager, store }) =>
      Effect.gen(function* () {
        const begun = yield* manager.createOnSubmit(settings)
        const listener = yield* begun.attach({ from: 0 })
        assert.deepStrictEqual(store.calls, [])
        const receipt = yield* begun.submit(says("go"), { id: "first" })
        assert.deepStrictEqual(receipt, { id: "first", disposition: "started" })
        assert.deepStrictEqual(store.calls, ["create"])
        const seen = yield* takeUntil(listener, isEnd)
        assert.deepStrictEqual(typesOf(seen).slice(0, 3), [
          "session_configured",
          "raw_response_item",
          "task_started",
        ])
        assert.deepStrictEqual(
          durableOf(seen).map(({ seq }) => seq),
          [...durableOf(seen).keys()],
        )
        assert.strictEqual(store.calls.filter((call) => call === "create").length, 1)

        const made = yield* manager.create(settings)
        const other = yield* made.attach({ from: 0 })
        yield* made.submit(says("go"), { id: "first" })
        yield* takeUntil(other, isEnd)
        assert.strictEqual(
          comparable(store.records(begun.id), begun.id),
          comparable(store.records(made.id), made.id),
        )
      }),
    ),
  )

  it.effect("L10 shows nothing while its log is being created, and only sends its request", () =>
    withManager(({ manager, requests, store }) =>
      Effect.gen(function* () {
        let changes = 0
        yield* manager.watch(() => changes++)
        const disk = yield* Deferred.make<void>()
        store.faults.create = (really) => Effect.tap(really, () => Deferred.await(disk))
        const conversation = yield* manager.createOnSubmit(settings)
        const listener = yield* conversation.attach({ from: 0, answers: true })
        const taken: Array<unknown> = []
        yield* Effect.forkScoped(
          Effect.forever(Effect.map(listener.take, (all) => taken.push(...eventsOf(all)))),
        )
        const submitted = yield* Effect.forkChild(conversation.submit(says("go")), {
          startImmediately: true,
        })
        yield* settle
        assert.isUndefined(submitted.pollUnsafe())
        assert.deepStrictEqual([taken, requests.length, changes], [[], 1, 0])
        assert.deepStrictEqual(yield* listed(manager), [])
        assert.strictEqual(
          (yield* Effect.flip(manager.get(conversation.id)))._tag,
          "NoSuchConversation",
        )
        yield* Deferred.succeed(disk, undefined)
        yield* Fiber.join(submitted)
        yield* settle
        assert.isAbove(taken.length, 3)
        assert.strictEqual(requests.length, 1)
        assert.strictEqual(changes, 1)
        assert.deepStrictEqual(yield* listed(manager), [conversation.id])
        assert.strictEqual((yield* manager.get(conversation.id)).id, conversation.id)
      }),
    ),
  )

  it.effect("L3 leaves nothing when its log cannot be created", () =>
    withManager(
      ({ manager, requests, store }) =>
        Effect.gen(function* () {
          store.faults.create = () => diskFull("create")
          for (let round = 0; round < 3; round++) {
            yield* Effect.scoped(
              Effect.gen(function* () {
                const conversation = yield* manager.createOnSubmit(settings)
                const listener = yield* conversation.attach({ from: 0 })
                const error = yield* Effect.flip(conversation.submit(says("go")))
                assert.deepStrictEqual(
                  error._tag === "ConversationUnavailable" && error.because?._tag === "StoreError"
                    ? [error.because.operation, error.because.reason]
                    : error,
                  ["create", "Full"],
                )
                assert.deepStrictEqual(yield* listener.take, [{ _tag: "Synced", seq: 0 }])
                assert.strictEqual((yield* Effect.flip(listener.take))._tag, error._tag)
                assert.strictEqual(
                  (yield* Effect.flip(conversation.submit(says("again"))))._tag,
                  "ConversationUnavailable",
                )
              }),
            )
          }
          assert.deepStrictEqual(requests, [])
          delete store.faults.create
          assert.deepStrictEqual(yield* listed(manager), [])
          // There is room for one conversation only, so the others do not count any more.
          const conversation = yield* manager.createOnSubmit(settings)
          yield* conversation.submit(says("go"))
          assert.deepStrictEqual(yield* listed(manager), [conversation.id])
        }),
      { maxConversations: 1 },
    ),
  )

  it.effect("L3 deletes a log that is created after the time limit of the store", () =>
    withManager(({ manager, store }) =>
      Effect.gen(function* () {
        const disk = yield* Deferred.make<void>()
        store.faults.create = (really) => Effect.andThen(Deferred.await(disk), really)
        const scope = yield* Scope.make()
        const conversation = yield* Scope.provide(manager.createOnSubmit(settings), scope)
        const submitted = yield* Effect.forkChild(Effect.flip(conversation.submit(says("go"))), {
          startImmediately: true,
        })
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual((yield* Fiber.join(submitted))._tag, "ConversationUnavailable")
        yield* Scope.close(scope, Exit.void)
        yield* Deferred.succeed(disk, undefined)
        yield* settle
        assert.deepStrictEqual(store.calls, ["create", "delete"])
        assert.deepStrictEqual(yield* listed(manager), [])
      }),
    ),
  )

  it.effect("L3 leaves nothing when its scope closes before a submission", () =>
    withManager(
      ({ manager, store }) =>
        Effect.gen(function* () {
          for (let round = 0; round < 3; round++) {
            yield* Effect.scoped(
              Effect.gen(function* () {
                const conversation = yield* manager.createOnSubmit(settings)
                yield* Effect.scoped(conversation.attach({ from: 0, answers: true }))
                yield* conversation.cancel("0")
                assert.strictEqual((yield* conversation.state).seq, 0)
              }),
            )
          }
          assert.deepStrictEqual(store.calls, [])
          assert.deepStrictEqual(yield* listed(manager), [])
        }),
      { maxConversations: 1 },
    ),
  )

  it.effect("stays when its scope closes after a submission", () =>
    withManager(({ manager }) =>
      Effect.gen(function* () {
        const { id } = yield* Effect.scoped(
          Effect.tap(manager.createOnSubmit(settings), (conversation) =>
            conversation.submit(says("go")),
          ),
        )
        yield* settle
        assert.deepStrictEqual(yield* listed(manager), [id])
        const again = yield* manager.get(id)
        assert.deepStrictEqual(yield* again.submit(says("more")), {
          id: "1",
          disposition: "started",
        })
      }),
    ),
  )

  it.effect("accepts a submission after one that was refused", () =>
    withManager(
      ({ manager, store }) =>
        Effect.gen(function* () {
          const conversation = yield* manager.createOnSubmit(settings)
          const item = { type: "text", text: "x" } as const
          const tooLong = {
            type: "user_input",
            items: Array.from({ length: 1025 }, () => item),
          } as const
          assert.strictEqual(
            (yield* Effect.flip(conversation.submit(tooLong)))._tag,
            "SubmissionRefused",
          )
          assert.deepStrictEqual(store.calls, [])
          yield* conversation.submit(says("go"))
          assert.deepStrictEqual(store.calls, ["create"])
        }),
      {},
    ),
  )

  it.effect("L8 ends with the manager, and leaves nothing", () => {
    const store = observed()
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      const conversation = yield* manager.createOnSubmit(settings)
      yield* manager.shutdown
      assert.strictEqual(
        (yield* Effect.flip(manager.createOnSubmit(settings)))._tag,
        "ManagerClosed",
      )
      assert.strictEqual(
        (yield* Effect.flip(conversation.submit(says("late"))))._tag,
        "ConversationClosed",
      )
      assert.deepStrictEqual(store.calls, [])
    }).pipe(
      Effect.provide(managerLayer(scripted(answer("yes")), { store: store.layer })),
      Effect.andThen(Effect.sync(() => assert.deepStrictEqual(store.calls, []))),
    )
  })
})
