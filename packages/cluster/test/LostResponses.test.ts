/**
 * Calls that a node carries out and whose responses are lost: the node that made them makes them again, and the client learns
 * of one call.
 */
import type { ConversationManager } from "@colloquy/core/ConversationManager"
import type { Quota } from "@colloquy/core/Quota"
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { NodeUnreachable } from "../src/NodeErrors.ts"
import { elapse, settings, world } from "./support/TwoNodes.ts"

type Manager = ConversationManager["Service"]

const alice = { owner: "alice" }
const bob = { owner: "bob" }
const everything = { _tag: "DropLastUserMessages", n: 0 } as const

/** A store that takes two seconds to create a copy, and to delete. */
class SlowStore extends MemoryStore {
  override create(...[meta, records]: Parameters<MemoryStore["create"]>) {
    const creating = super.create(meta, records)
    return meta.forkedFrom === undefined ? creating : Effect.delay(creating, 2000)
  }

  override delete(...args: Parameters<MemoryStore["delete"]>) {
    return Effect.delay(
      Effect.suspend(() => super.delete(...args)),
      2000,
    )
  }
}

interface Losing {
  readonly operation: string
  /** Number of the responses that are lost, of the first calls of the operation. */
  readonly responses: number
  /** Node that owns the conversation from the first loss on. Default: the same. */
  readonly next?: string
  /** Wait until the loss, while the call is carried out. Default: it has been carried out before. */
  readonly after?: number
  readonly quota?: Quota
  readonly isSlow?: boolean
  readonly ephemeral?: boolean
}

/** A conversation of Alice on node `a`, and calls from `b` to it whose responses are lost. */
const losing = Effect.fnUntraced(function* ({
  after,
  ephemeral,
  isSlow = false,
  next,
  operation,
  quota,
  responses,
}: Losing) {
  let lost = 0
  const { join, nodes, store } = world({
    store: isSlow ? new SlowStore() : new MemoryStore(),
    ...(quota === undefined ? {} : { conversations: { quotaOf: () => quota } }),
    onWay: (called, id, arrive) => {
      if (called !== operation || lost === responses) return arrive
      lost++
      const loss = Effect.suspend(() => {
        if (next !== undefined) nodes.assign(id, next)
        return Effect.fail(new NodeUnreachable({ id, reason: "the response was lost" }))
      })
      // The call goes on at the owner where the connection is lost before its end.
      return after === undefined
        ? Effect.andThen(Effect.exit(arrive), loss)
        : Effect.andThen(Effect.forkDetach(arrive), Effect.andThen(Effect.sleep(after), loss))
    },
  })
  const a = yield* join("a")
  const b = yield* join("b")
  const created = ephemeral === undefined ? settings : { ...settings, ephemeral }
  const { id } = yield* a.manager.create(created, alice)
  return { a, b, id, nodes, store, lost: () => lost, close: Effect.all([a.close, b.close]) }
})

/** Runs `effect` while the clock advances, so that its waits end. */
const during = <A, E, R>(effect: Effect.Effect<A, E, R>, seconds = 30) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* elapse(seconds)
    return yield* Fiber.join(fiber)
  })

const listed = (manager: Manager) =>
  Effect.map(manager.list({ ...alice }), ({ items }) => items.map(({ id }) => id).toSorted())

describe("L10 a fork whose response is lost makes one conversation", () => {
  const cases: ReadonlyArray<readonly [string, Omit<Losing, "operation">]> = [
    ["once", { responses: 1 }],
    ["several times", { responses: 3 }],
    ["while it is being made", { responses: 2, after: 500, isSlow: true }],
    ["and another node owns the conversation then", { responses: 1, next: "b" }],
    [
      "and another one does while it is being made",
      { responses: 1, next: "b", after: 500, isSlow: true },
    ],
    ["and its owner may have no more", { responses: 2, quota: { maxConversations: 2 } }],
    [
      "and its owner may have no more at the next node",
      { responses: 1, next: "b", quota: { maxConversations: 2 } },
    ],
  ]
  for (const [name, given] of cases) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const { b, close, id, lost } = yield* losing({ ...given, operation: "Fork" })
        const forked = yield* during(b.manager.fork(id, everything, alice))
        assert.strictEqual(lost(), given.responses)
        assert.deepStrictEqual(yield* listed(b.manager), [id, forked.id].toSorted())
        assert.strictEqual((yield* during(forked.state)).settings.model, settings.model)
        yield* close
      }).pipe(Effect.scoped),
    )
  }

  it.effect("in memory only", () =>
    Effect.gen(function* () {
      const { a, b, close, id, lost, nodes } = yield* losing({ operation: "Fork", responses: 2 })
      const forking = b.manager.fork(id, everything, alice, { ephemeral: true })
      // Before it is idle for so long that it is no longer loaded.
      const forked = yield* during(forking, 1)
      assert.strictEqual(lost(), 2)
      assert.strictEqual(nodes.ownerOf(forked.id), "a")
      assert.deepStrictEqual(
        (yield* a.held.held).filter(({ isEphemeral }) => isEphemeral).map((one) => one.id),
        [forked.id],
      )
      yield* close
    }).pipe(Effect.scoped),
  )

  it.effect("and those that were asked for are as many, on the node of their origin", () =>
    Effect.gen(function* () {
      const { b, close, id, nodes } = yield* losing({ operation: "Fork", responses: 3 })
      const forking = b.manager.fork(id, everything, alice)
      const forks = yield* during(
        Effect.all(
          Array.from({ length: 6 }, () => forking),
          { concurrency: "unbounded" },
        ),
      )
      assert.deepStrictEqual(
        yield* listed(b.manager),
        [id, ...forks.map((fork) => fork.id)].toSorted(),
      )
      for (const fork of forks) assert.strictEqual(nodes.ownerOf(fork.id), "a")
      yield* close
    }).pipe(Effect.scoped),
  )
})

describe("the id of a fork", () => {
  it.effect("gives no caller a conversation that is no copy of this one, or of another owner", () =>
    Effect.gen(function* () {
      const { a, b, close, id } = yield* losing({ operation: "none", responses: 0 })
      const other = yield* a.manager.create(settings, alice)
      const his = yield* a.manager.create(settings, bob)
      const forked = yield* during(b.manager.fork(id, everything, alice))
      for (const [source, access, copy] of [
        [id, alice, other.id],
        [id, alice, his.id],
        [id, alice, id],
        [other.id, alice, forked.id],
        [his.id, bob, forked.id],
      ] as const) {
        for (const { manager } of [a, b]) {
          const forking = during(manager.fork(source, everything, access, { id: copy }))
          assert.strictEqual((yield* Effect.flip(forking))._tag, "StoreError")
        }
      }
      const again = yield* during(b.manager.fork(id, everything, alice, { id: forked.id }))
      assert.strictEqual(again.id, forked.id)
      assert.deepStrictEqual(yield* listed(b.manager), [id, other.id, forked.id].toSorted())
      yield* close
    }).pipe(Effect.scoped),
  )
})

describe("L1 a removal whose response is lost succeeds", () => {
  const cases: ReadonlyArray<readonly [string, Omit<Losing, "operation">]> = [
    ["once", { responses: 1 }],
    ["while it is carried out", { responses: 2, after: 500, isSlow: true }],
    [
      "and another node owns the conversation then",
      { responses: 1, next: "b", after: 500, isSlow: true },
    ],
    ["of an ephemeral conversation", { responses: 1, ephemeral: true }],
  ]
  for (const [name, given] of cases) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const { b, close, id, lost } = yield* losing({ ...given, operation: "Remove" })
        yield* during(b.manager.remove(id, alice))
        assert.strictEqual(lost(), given.responses)
        assert.deepStrictEqual(yield* listed(b.manager), [])
        const again = yield* Effect.flip(during(b.manager.remove(id, alice)))
        assert.strictEqual(again._tag, "NoSuchConversation")
        yield* close
      }).pipe(Effect.scoped),
    )
  }
})
