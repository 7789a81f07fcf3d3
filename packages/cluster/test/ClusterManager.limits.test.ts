/** The quota of an owner whose conversations are on two nodes, each reached from both. */
import { SubmissionRefused, TooManyConversations } from "@colloquy/core/ConversationErrors"
import type { QuotaOf } from "@colloquy/core/Quota"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { elapse, says, settings, world } from "./support/TwoNodes.ts"

const alice = { owner: "alice" }

const quotaOf: QuotaOf = (owner) =>
  owner === "alice" ? { maxTurns: 1, maxConversations: 3 } : undefined

const tooManyTurns = new SubmissionRefused({
  reason: "TooManyTurns",
  message: "1 turns of the principal are running already, which is the limit",
})

/** Runs `effect` while the clock advances, so that its waits end. */
const during = <A, E, R>(effect: Effect.Effect<A, E, R>, secondsLong: number) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* elapse(secondsLong)
    return yield* Fiber.join(fiber)
  })

describe("the quota of an owner in a cluster", () => {
  it.effect("limits its turns on all nodes together, whichever node is asked", () =>
    Effect.gen(function* () {
      const { join } = world({ seconds: 20, conversations: { quotaOf } })
      const a = yield* join("a")
      const b = yield* join("b")
      const one = yield* a.manager.create(settings, alice)
      const two = yield* b.manager.create(settings, alice)
      yield* one.submit(says("hi"))
      const there = yield* a.manager.get(two.id, alice)
      for (const conversation of [two, there]) {
        const refused = yield* Effect.flip(during(conversation.submit(says("hi")), 1))
        assert.deepStrictEqual(
          [refused._tag, refused.message],
          [tooManyTurns._tag, tooManyTurns.message],
        )
      }
      yield* elapse(20)
      yield* during(there.submit(says("hi")), 1)
      yield* elapse(20)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect(
    "counts a conversation once that moves, and one that is archived at another node not",
    () =>
      Effect.gen(function* () {
        const { join, nodes } = world({ conversations: { quotaOf } })
        const a = yield* join("a")
        const b = yield* join("b")
        const first = yield* a.manager.create(settings, alice)
        for (const owner of ["b", "a", "b"]) {
          nodes.assign(first.id, owner)
          yield* during(first.submit(says(`on ${owner}`)), 3)
        }
        yield* a.manager.create(settings, alice)
        yield* b.manager.create(settings, alice)
        for (const { manager } of [a, b]) {
          assert.deepStrictEqual(
            yield* Effect.flip(manager.create(settings, alice)),
            new TooManyConversations({ limit: "owner", maxConversations: 3 }),
          )
        }
        const rule = { _tag: "DropLastUserMessages", n: 0 } as const
        const forked = yield* Effect.flip(during(a.manager.fork(first.id, rule, alice), 1))
        assert.strictEqual(forked._tag, "TooManyConversations")
        yield* during(a.manager.archive(first.id, alice), 1)
        yield* b.manager.create(settings, alice)
        yield* Effect.all([a.close, b.close])
      }).pipe(Effect.scoped),
  )

  it.effect("limits what is unarchived, whichever node has it and is asked", () =>
    Effect.gen(function* () {
      const { join, nodes } = world({ conversations: { quotaOf } })
      const a = yield* join("a")
      const b = yield* join("b")
      const ids: Array<string> = []
      for (const owner of ["a", "b", "a", "b", "a"]) {
        const { id } = yield* a.manager.create(settings, alice)
        nodes.assign(id, owner)
        yield* during(b.manager.archive(id, alice), 1)
        ids.push(id)
      }
      const exits = yield* during(
        Effect.forEach(ids, (id) => Effect.result(b.manager.unarchive(id, alice)), {
          concurrency: "unbounded",
        }),
        3,
      )
      const tooMany = new TooManyConversations({ limit: "owner", maxConversations: 3 })
      assert.deepStrictEqual(
        exits.flatMap((one) => Option.toArray(Result.getFailure(one))),
        [tooMany, tooMany],
      )
      assert.deepStrictEqual(yield* Effect.flip(a.manager.create(settings, alice)), tooMany)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect(
    "has room again for the turns of a node that was killed, once its leases have ended",
    () =>
      Effect.gen(function* () {
        const { join, nodes, places } = world({ seconds: 1000, conversations: { quotaOf } })
        const a = yield* join("a")
        const b = yield* join("b")
        yield* (yield* a.manager.create(settings, alice)).submit(says("hi"))
        const two = yield* b.manager.create(settings, alice)
        yield* nodes.kill("a")
        assert.strictEqual((yield* Effect.flip(two.submit(says("hi"))))._tag, "SubmissionRefused")
        places.end("a")
        yield* two.submit(says("hi"))
        yield* Effect.forkChild(Effect.all([a.close, b.close]), { startImmediately: true })
        yield* elapse(60)
      }).pipe(Effect.scoped),
  )
})
