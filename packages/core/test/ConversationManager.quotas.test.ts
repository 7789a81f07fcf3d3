import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { SubmissionRefused, TooManyConversations } from "../src/ConversationErrors.ts"
import { type Access, ConversationManager } from "../src/ConversationManager.ts"
import type { Quota } from "../src/Quota.ts"
import { managerLayer, says, scripted, settings, settle } from "./support.ts"

const alice: Access = { owner: "alice" }
const bob: Access = { owner: "bob" }

const quotas = (of: Readonly<Record<string, Quota>>) =>
  managerLayer(scripted(Stream.never), {
    quotaOf: (owner) => (owner === null ? undefined : of[owner]),
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
      yield* manager.create(settings, alice)
      yield* manager.unarchive(second.id, alice)
      assert.deepStrictEqual(yield* Effect.flip(manager.create(settings, alice)), tooMany)
    }).pipe(Effect.provide(quotas({ alice: { maxConversations: 2 } }))),
  )

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
