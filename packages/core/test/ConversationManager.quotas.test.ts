import { defined } from "@colloquy/protocol/Defined"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { SubmissionRefused, TooManyConversations } from "../src/ConversationErrors.ts"
import { type Access, ConversationManager } from "../src/ConversationManager.ts"
import type { ConversationStore } from "../src/ConversationStore.ts"
import type { Quota } from "../src/Quota.ts"
import { diskFull, observed } from "./stores.ts"
import { managerLayer, says, scripted, settings, settle } from "./support.ts"

const alice: Access = { owner: "alice" }
const bob: Access = { owner: "bob" }

const quotas = (of: Readonly<Record<string, Quota>>, store?: Layer.Layer<ConversationStore>) =>
  managerLayer(scripted(Stream.never), {
    quotaOf: (owner) => (owner === null ? undefined : of[owner]),
    ...defined({ store }),
  })

const tooMany = new TooManyConversations({ limit: "owner", maxConversations: 2 })

describe("the quota of an owner", () => {
  it.effect("limits its conversations, and those of no other owner", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const first = yield* manager.create(settings, alice)
      yield* Effect.scoped(manager.createOnSubmit(settings, alice))
      // It was never recorded, so it does not count any more.
      const second = yield* manager.create(settings, alice)
      assert.deepStrictEqual(yield* Effect.flip(manager.create(settings, alice)), tooMany)
      const rule = { _tag: "DropLastUserMessages", n: 0 } as const
      assert.deepStrictEqual(yield* Effect.flip(manager.fork(first.id, rule, alice)), tooMany)
      assert.deepStrictEqual(
        yield* Effect.flip(Effect.scoped(manager.createOnSubmit(settings, alice))),
        tooMany,
      )
      assert.strictEqual(
        tooMany.message,
        "2 conversations of the principal are open already, which is the limit",
      )
      yield* manager.create(settings, bob)
      yield* manager.create(settings)
      yield* manager.remove(first.id, alice)
      yield* manager.create(settings, alice)
      assert.deepStrictEqual(yield* Effect.flip(manager.create(settings, alice)), tooMany)
      yield* manager.archive(second.id, alice)
      const third = yield* manager.create(settings, alice)
      assert.deepStrictEqual(yield* Effect.flip(manager.unarchive(second.id, alice)), tooMany)
      assert.strictEqual((yield* manager.metadata({ id: second.id })).archived, true)
      yield* manager.remove(third.id, alice)
      yield* manager.unarchive(second.id, alice)
      assert.deepStrictEqual(yield* Effect.flip(manager.create(settings, alice)), tooMany)
      // It is not archived: there is nothing to refuse.
      yield* manager.unarchive(second.id, alice)
    }).pipe(Effect.provide(quotas({ alice: { maxConversations: 2 } }))),
  )

  it.effect("limits what is unarchived, at the same time and after a failure too", () => {
    const store = observed()
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      const ids: Array<string> = []
      for (let n = 0; n < 4; n++) {
        const { id } = yield* manager.create(settings, alice)
        yield* manager.archive(id, alice)
        ids.push(id)
      }
      store.faults.unarchive = () => diskFull("unarchive")
      for (const id of ids) {
        assert.strictEqual((yield* Effect.flip(manager.unarchive(id, alice)))._tag, "StoreError")
      }
      delete store.faults.unarchive
      const unarchived = yield* Effect.forEach(
        ids,
        (id) => Effect.result(manager.unarchive(id, alice)),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(
        unarchived.flatMap((one) => Option.toArray(Result.getFailure(one))),
        [tooMany, tooMany],
      )
      assert.deepStrictEqual(yield* Effect.flip(manager.create(settings, alice)), tooMany)
    }).pipe(Effect.provide(quotas({ alice: { maxConversations: 2 } }, store.layer)))
  })

  it.effect("counts what another process has archived or created once it is unarchived", () => {
    const store = observed()
    return Effect.gen(function* () {
      const ids = yield* Effect.gen(function* () {
        const manager = yield* ConversationManager
        const made = yield* Effect.forEach([1, 2, 3], () => manager.create(settings, alice))
        for (const { id } of made) yield* manager.archive(id, alice)
        return made.map(({ id }) => id)
      }).pipe(Effect.provide(managerLayer(scripted(Stream.never), { store: store.layer })))
      yield* Effect.gen(function* () {
        const manager = yield* ConversationManager
        for (const id of ids) assert.isDefined(yield* Effect.flip(manager.get(id, alice)))
        const [first = "", second = "", third = ""] = ids
        yield* manager.unarchive(first, alice)
        yield* manager.unarchive(second, alice)
        assert.deepStrictEqual(yield* Effect.flip(manager.unarchive(third, alice)), tooMany)
        yield* manager.archive(first, alice)
        yield* manager.unarchive(third, alice)
      }).pipe(Effect.provide(quotas({ alice: { maxConversations: 2 } }, store.layer)))
    })
  })

  it.effect("limits its running turns, in all its conversations together", () =>
    Effect.gen(function* () {
      const manager = yield* ConversationManager
      const [one, two] = [
        yield* manager.create(settings, alice),
        yield* manager.create(settings, alice),
      ]
      yield* one.submit(says("hi"))
      const refused = yield* Effect.flip(two.submit(says("hi")))
      assert.deepStrictEqual(
        refused,
        new SubmissionRefused({
          reason: "TooManyTurns",
          message: "1 turns of the principal are running already, which is the limit",
        }),
      )
      yield* (yield* manager.create(settings, bob)).submit(says("hi"))
      yield* (yield* manager.create(settings)).submit(says("hi"))
      yield* one.submit({ type: "interrupt" })
      yield* settle
      yield* two.submit(says("hi"))
    }).pipe(Effect.provide(quotas({ alice: { maxTurns: 1 } }))),
  )

  it.effect("may change while the process runs", () => {
    const of: { alice: Quota } = { alice: { maxConversations: 1 } }
    return Effect.gen(function* () {
      const manager = yield* ConversationManager
      yield* manager.create(settings, alice)
      assert.isDefined(yield* Effect.flip(manager.create(settings, alice)))
      of.alice = {}
      yield* manager.create(settings, alice)
    }).pipe(Effect.provide(quotas(of)))
  })
})
