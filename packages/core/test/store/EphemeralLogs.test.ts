import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../../src/ConversationManager.ts"
import { ConversationStore } from "../../src/ConversationStore.ts"
import { MemoryStore } from "../../src/store/MemoryStore.ts"
import { answer, managerLayer, says, scripted, settings, settle } from "../support.ts"

const ephemeral = { ...settings, ephemeral: true }

const withManager = <A, E>(
  run: (
    manager: ConversationManager["Service"],
    store: ConversationStore["Service"],
  ) => Effect.Effect<A, E>,
) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(MemoryStore.layer)
    const store = Layer.succeedContext(context)
    const script = scripted(answer("yes"))
    return yield* Effect.flatMap(ConversationManager, (manager) =>
      Effect.flatMap(ConversationStore, (inner) => run(manager, inner)),
    ).pipe(Effect.provide([managerLayer(script, { store }), store]))
  })

describe("an ephemeral conversation", () => {
  it.effect("is used like any other, is in no list, and the store has nothing of it", () =>
    withManager((manager, store) =>
      Effect.gen(function* () {
        const conversation = yield* manager.create(ephemeral)
        yield* conversation.submit(says("hi"), { id: "t" })
        yield* settle
        const stored = yield* manager.create(settings)
        const { id } = conversation
        assert.strictEqual((yield* manager.get(id)).id, id)
        const { items } = yield* manager.list()
        assert.deepStrictEqual(
          items.map((one) => one.id),
          [stored.id],
        )
        assert.strictEqual((yield* Effect.flip(store.metadata({ id })))._tag, "NoSuchConversation")
        assert.strictEqual((yield* manager.metadata({ id })).meta.id, id)
      }),
    ),
  )

  it.effect("is loaded again after it was evicted", () =>
    withManager((manager) =>
      Effect.gen(function* () {
        const conversation = yield* manager.create(ephemeral)
        yield* conversation.submit(says("hi"), { id: "t" })
        yield* settle
        const before = (yield* conversation.state).seq
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* conversation.state).seq, before)
      }),
    ),
  )

  it.effect("is gone once it was removed", () =>
    withManager((manager) =>
      Effect.gen(function* () {
        const { id } = yield* manager.create(ephemeral)
        yield* manager.remove(id)
        assert.strictEqual((yield* Effect.flip(manager.get(id)))._tag, "NoSuchConversation")
      }),
    ),
  )
})
