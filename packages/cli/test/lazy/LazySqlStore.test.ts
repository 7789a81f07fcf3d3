import { ConversationStore } from "@colloquy/core/ConversationStore"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { StoreError } from "@colloquy/core/StoreErrors"
import { SchemaTooNew } from "@colloquy/store-sql/SqlStoreErrors"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LazySqlStore from "../../src/lazy/LazySqlStore.ts"

const unreachable = { reason: "Unreachable", message: "the database cannot be reached" } as const

/** A store whose layers start as these say, one after another. */
const startingAs = (...layers: ReadonlyArray<LazySqlStore.SqlStoreLayer>) => {
  let starts = 0
  const layer = LazySqlStore.layer("postgres://none", undefined, () =>
    Promise.resolve(
      layers[starts++] ?? Layer.effect(ConversationStore, Effect.die("one too many")),
    ),
  )
  return { layer, starts: () => starts }
}

const failing = (error: StoreError | SchemaTooNew) =>
  Layer.effect(ConversationStore, Effect.fail(error))

describe("LazySqlStore", () => {
  it.effect("nothing is started before the first use, and one start serves all uses", () => {
    const { layer, starts } = startingAs(MemoryStore.layer)
    return Effect.gen(function* () {
      const store = yield* ConversationStore
      assert.strictEqual(starts(), 0)
      const lists = Array.from({ length: 4 }, () => store.list({ limit: 1 }))
      yield* Effect.all(lists, { concurrency: "unbounded" })
      assert.strictEqual(starts(), 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect(
    "a use of a database that cannot be reached fails with that error, and the next one tries again",
    () => {
      const { layer } = startingAs(
        failing(new StoreError({ operation: "open", ...unreachable })),
        MemoryStore.layer,
      )
      return Effect.gen(function* () {
        const store = yield* ConversationStore
        const error = yield* Effect.flip(store.list({ limit: 1 }))
        assert.deepStrictEqual(error, new StoreError({ operation: "list", ...unreachable }))
        assert.deepStrictEqual(yield* store.list({ limit: 1 }), { items: [] })
      }).pipe(Effect.provide(layer))
    },
  )

  it.effect("tables of a later version are an error of each use that says so", () => {
    const { layer } = startingAs(failing(new SchemaTooNew({ found: 9, known: 1 })))
    return Effect.gen(function* () {
      const store = yield* ConversationStore
      const error = yield* Effect.flip(store.list({ limit: 1 }))
      assert.include(error.message, "a later version of Colloquy")
    }).pipe(Effect.provide(layer))
  })

  it("tells databases from the other values of the key", () => {
    const values = ["files", "memory", "sqlite:/a", "postgres://h/d", "postgresql://h/d"]
    assert.deepStrictEqual(values.map(LazySqlStore.isDatabase), [false, false, true, true, true])
  })
})
