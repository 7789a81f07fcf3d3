/** Conversations on two nodes over one store, each reached from both. */
import { MemoryStore } from "@colloquy/core/store/MemoryStore"
import type { Delivery } from "@colloquy/core/listeners/Delivery"
import { ConversationUnavailable } from "@colloquy/core/ConversationErrors"
import { StoreError } from "@colloquy/core/StoreErrors"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { Workspaces } from "../src/Workspaces.ts"
import { collected, elapse, says, seqsOf, settings, typesOf, world } from "./support/TwoNodes.ts"

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)

/** Runs `effect` while the clock advances, so that its waits end. */
const during = <A, E, R>(effect: Effect.Effect<A, E, R>, secondsLong: number) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    yield* elapse(secondsLong)
    return yield* Fiber.join(fiber)
  })

/** The tags of an error and of its cause: without a cause clients are told that the conversation is archived. */
const causeOf = (error: { readonly _tag: string }) => [
  error._tag,
  error instanceof ConversationUnavailable ? error.because?._tag : undefined,
]

/** A store that takes a time to archive and to unarchive. */
class SlowStore extends MemoryStore {
  override archive(...of: Parameters<MemoryStore["archive"]>) {
    return Effect.delay(super.archive(...of), 100)
  }

  override unarchive(...of: Parameters<MemoryStore["unarchive"]>) {
    return Effect.delay(super.unarchive(...of), 100)
  }
}

describe("conversations of a cluster", () => {
  it.effect("are created on the node that is asked, and used from any other", () =>
    Effect.gen(function* () {
      const { join, nodes } = world()
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      assert.strictEqual(nodes.ownerOf(id), "a")
      const remote = yield* b.manager.get(id)
      const all = yield* collected(yield* remote.attach({ from: 0 }))
      const receipt = yield* during(remote.submit(says("hi")), 1)
      assert.strictEqual(receipt.disposition, "started")
      const state = yield* remote.state
      assert.deepStrictEqual(seqsOf(all), upTo(state.seq))
      assert.strictEqual(typesOf(all).at(-1), "task_complete")
      assert.strictEqual(state.settings.model, settings.model)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("L1 keep the tags and fields of their errors between nodes", () =>
    Effect.gen(function* () {
      const { join } = world()
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings, { owner: "alice" })
      const foreign = yield* Effect.flip(b.manager.get(id, { owner: "bob" }))
      assert.deepStrictEqual(
        [foreign._tag, "id" in foreign && foreign.id],
        ["NoSuchConversation", id],
      )
      const mine = yield* b.manager.get(id, { owner: "alice" })
      const { seq } = yield* mine.state
      const beyond = yield* Effect.flip(Effect.scoped(mine.attach({ from: seq + 5 })))
      assert.deepStrictEqual(
        [beyond._tag, "next" in beyond ? beyond.next : undefined],
        ["EventsFromFuture", seq],
      )
      const refused = yield* Effect.flip(
        mine.submit({ type: "exec_approval", id: "none", decision: "approved" }),
      )
      assert.strictEqual(refused._tag, "SubmissionRefused")
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("L4 L16 move to the next owner, and listeners on every node follow by number", () =>
    Effect.gen(function* () {
      const { join, nodes } = world()
      const a = yield* join("a")
      const b = yield* join("b")
      const conversation = yield* a.manager.create(settings)
      const { id } = conversation
      const here = yield* collected(yield* conversation.attach({ from: 0 }))
      const there = yield* collected(yield* b.manager.follow(id, { from: 0 }))
      for (const owner of ["a", "b", "a", "b"]) {
        nodes.assign(id, owner)
        yield* during(conversation.submit(says(`on ${owner}`)), 3)
      }
      const { seq } = yield* (yield* b.manager.get(id)).state
      assert.deepStrictEqual(seqsOf(here), upTo(seq))
      assert.deepStrictEqual(seqsOf(there), upTo(seq))
      assert.strictEqual(typesOf(here).filter((type) => type === "task_complete").length, 4)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect(
    "L4 are asked again for an event that is recorded and that their node does not know",
    () =>
      Effect.gen(function* () {
        const { join, store } = world()
        const a = yield* join("a")
        const b = yield* join("b")
        const { id } = yield* a.manager.create(settings)
        for (const { manager } of [a, b]) {
          const conversation = yield* manager.get(id)
          const { seq } = yield* conversation.state
          const from = seq + 3
          const attaching = () =>
            Effect.forkChild(conversation.attach({ from }), { startImmediately: true })
          const refused = yield* attaching()
          assert.strictEqual((yield* Effect.flip(Fiber.join(refused)))._tag, "EventsFromFuture")
          // As if another node had recorded it.
          const positionOf = store.positionOf.bind(store)
          store.positionOf = () => Effect.succeed(from)
          const waiting = yield* attaching()
          yield* elapse(2)
          assert.isUndefined(waiting.pollUnsafe())
          yield* during(conversation.submit(says("more")), 1)
          const all = yield* collected(yield* Fiber.join(waiting))
          yield* elapse(1)
          assert.strictEqual(seqsOf(all)[0], from)
          const never = yield* Effect.forkChild(conversation.attach({ from: from + 100 }), {
            startImmediately: true,
          })
          yield* elapse(40)
          assert.deepStrictEqual(causeOf(yield* Effect.flip(Fiber.join(never))), [
            "ConversationUnavailable",
            "StoreError",
          ])
          store.positionOf = positionOf
        }
        yield* Effect.all([a.close, b.close])
      }).pipe(Effect.scoped),
  )

  it.effect("L5 may end a turn that runs before they are handed over", () =>
    Effect.gen(function* () {
      const { join, nodes } = world({ seconds: 10 })
      const a = yield* join("a")
      const b = yield* join("b")
      const conversation = yield* a.manager.create(settings)
      yield* conversation.submit(says("long"))
      const all = yield* collected(yield* b.manager.follow(conversation.id, { from: 0 }))
      nodes.assign(conversation.id, "b")
      yield* elapse(12)
      assert.strictEqual(typesOf(all).filter((type) => type === "task_complete").length, 1)
      assert.notInclude(typesOf(all), "turn_aborted")
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("L5 L11 leave a turn beyond the bound to the next owner, which ends it once", () =>
    Effect.gen(function* () {
      const { join, nodes } = world({ seconds: 100, drainWithin: "5 seconds" })
      const a = yield* join("a")
      const b = yield* join("b")
      const conversation = yield* a.manager.create(settings)
      yield* conversation.submit(says("long"))
      const all = yield* collected(yield* conversation.attach({ from: 0 }))
      nodes.assign(conversation.id, "b")
      yield* elapse(10)
      assert.strictEqual(typesOf(all).filter((type) => type === "turn_aborted").length, 1)
      const { seq } = yield* (yield* b.manager.get(conversation.id)).state
      assert.deepStrictEqual(seqsOf(all), upTo(seq))
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("L10 take an input that waits for as long as a turn may go on elsewhere", () =>
    Effect.gen(function* () {
      const { join, nodes } = world({ seconds: 50, drainWithin: "60 seconds" })
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      yield* (yield* a.manager.get(id)).submit(says("long"))
      nodes.assign(id, "b")
      yield* elapse(1)
      const referred = yield* b.manager.refer(id)
      const submitting = yield* Effect.forkChild(referred.submit(says("next")))
      yield* elapse(55)
      assert.strictEqual((yield* Fiber.join(submitting)).disposition, "started")
      yield* elapse(60)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("L14 are read, and interrupted at once, while their turn ends on the node before", () =>
    Effect.gen(function* () {
      const { join, nodes } = world({ seconds: 100, drainWithin: "50 seconds" })
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      yield* (yield* a.manager.get(id)).submit(says("long"))
      nodes.assign(id, "b")
      yield* elapse(1)
      const reading = yield* Effect.forkChild(b.manager.stateOf(id))
      const finding = yield* Effect.forkChild(b.manager.get(id))
      yield* elapse(0)
      assert.isAbove((yield* Fiber.join(reading)).seq, 2)
      const conversation = yield* Fiber.join(finding)
      const interrupting = yield* Effect.forkChild(conversation.submit({ type: "interrupt" }))
      yield* elapse(1)
      yield* Fiber.join(interrupting)
      const types = (yield* b.manager.history(id)).map(({ event }) => event.msg.type)
      assert.strictEqual(types.filter((type) => type === "turn_aborted").length, 1)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("L14 are read from their log while their node does not respond", () =>
    Effect.gen(function* () {
      const { join, nodes } = world({ seconds: 100 })
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      yield* (yield* a.manager.get(id)).submit(says("long"))
      nodes.cut("a", "b")
      const own = yield* a.manager.stateOf(id)
      const read = yield* during(b.manager.stateOf(id), 1)
      assert.deepStrictEqual([read.seq, read.turn?.id], [own.seq, own.turn?.id])
      const foreign = yield* during(Effect.flip(b.manager.stateOf(id, { owner: "bob" })), 31)
      assert.strictEqual(foreign._tag, "ConversationUnavailable")
      yield* during(Effect.all([a.close, b.close]), 60)
    }).pipe(Effect.scoped),
  )

  it.effect("are read from their log while no node can take their lease from the store", () =>
    Effect.gen(function* () {
      const store = new MemoryStore()
      const { join, nodes } = world({ store })
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      yield* during((yield* a.manager.get(id)).submit(says("hi")), 1)
      yield* a.close
      const readOnly = { operation: "open", reason: "Denied", message: "read-only" } as const
      Object.assign(store, { open: () => Effect.fail(new StoreError(readOnly)) })
      for (const owner of ["b", "c"]) {
        nodes.assign(id, owner)
        const { seq } = yield* during(b.manager.stateOf(id), 1)
        assert.strictEqual(seq, (yield* b.manager.history(id)).length)
      }
      const refused = yield* Effect.flip((yield* b.manager.refer(id)).submit(says("more")))
      assert.deepStrictEqual(causeOf(refused), ["ConversationUnavailable", "StoreError"])
      yield* b.close
    }).pipe(Effect.scoped),
  )

  for (const ending of ["remove", "archive"] as const) {
    it.effect(`L14 ${ending} does not wait for a turn that ends on the node before`, () =>
      Effect.gen(function* () {
        const { join, nodes } = world({ seconds: 100, drainWithin: "50 seconds" })
        const a = yield* join("a")
        const b = yield* join("b")
        const { id } = yield* a.manager.create(settings)
        yield* (yield* a.manager.get(id)).submit(says("long"))
        nodes.assign(id, "b")
        yield* elapse(1)
        const running = yield* Effect.forkChild(b.manager[ending](id))
        yield* elapse(1)
        yield* Fiber.join(running)
        const { items } = yield* b.manager.list({ owner: null })
        assert.deepStrictEqual(items, [])
        yield* Effect.all([a.close, b.close])
      }).pipe(Effect.scoped),
    )
  }

  for (const [ending, terminal, turnEnd, streamEnd] of [
    ["remove", undefined, "ConversationClosed", "Done"],
    ["archive", undefined, "ConversationUnavailable", "ConversationUnavailable"],
    ["interrupt", "turn_aborted", "turn_aborted", undefined],
  ] as const) {
    it.effect(`L1 ${ending} at another node ends what clients of a node await that leaves`, () =>
      Effect.gen(function* () {
        const { join } = world({ seconds: 40, drainWithin: "50 seconds", leavesFor: "1 second" })
        const a = yield* join("a")
        const b = yield* join("b")
        const conversation = yield* a.manager.create(settings)
        const { id } = conversation
        yield* (yield* a.manager.create(settings)).submit(says("keeps the node"))
        const listener = yield* conversation.attach({ from: 0 })
        const turn = Effect.match(conversation.runTurn(says("long")), {
          onFailure: ({ _tag }) => _tag as string,
          onSuccess: ({ end }) => end?.msg.type,
        })
        const waiting = yield* Effect.forkChild(turn)
        const all: Array<Delivery> = []
        const reading = Effect.forever(Effect.map(listener.take, (some) => all.push(...some)))
        const streaming = yield* Effect.forkChild(Effect.flip(reading))
        yield* elapse(1)
        // A test that fails does not wait for it.
        const closing = yield* Effect.forkDetach(a.close)
        yield* elapse(1)
        const call: Effect.Effect<unknown, unknown> =
          ending === "interrupt"
            ? Effect.flatMap(b.manager.refer(id), (one) => one.submit({ type: "interrupt" }))
            : b.manager[ending](id)
        const running = yield* Effect.forkChild(call)
        yield* elapse(4)
        yield* Fiber.join(running)
        assert.isUndefined(closing.pollUnsafe())
        assert.isDefined(waiting.pollUnsafe())
        assert.strictEqual(yield* Fiber.join(waiting), turnEnd)
        assert.strictEqual(
          typesOf(all).find((type) => type === "turn_aborted"),
          terminal,
        )
        assert.deepStrictEqual(seqsOf(all), upTo(seqsOf(all).length))
        assert.strictEqual(streaming.pollUnsafe() !== undefined, streamEnd !== undefined)
        if (streamEnd !== undefined) {
          assert.strictEqual((yield* Fiber.join(streaming))._tag, streamEnd)
        }
        yield* elapse(60)
        yield* Fiber.join(closing)
        assert.isDefined(streaming.pollUnsafe())
        yield* during(b.close, 2)
      }).pipe(Effect.scoped),
    )
  }

  it.effect("L10 take an input once although its receipt was lost", () =>
    Effect.gen(function* () {
      const { join, nodes } = world()
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      const remote = yield* b.manager.get(id)
      nodes.cut("a", "b")
      const submitting = yield* Effect.forkChild(remote.submit(says("once")), {
        startImmediately: true,
      })
      yield* elapse(2)
      nodes.heal()
      yield* elapse(2)
      yield* Fiber.join(submitting)
      const records = yield* b.manager.history(id)
      const messages = records.filter(({ event }) => event.msg.type === "user_message")
      assert.strictEqual(messages.length, 1)
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("continue on the other node when theirs leaves", () =>
    Effect.gen(function* () {
      const { join } = world()
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      const all = yield* collected(yield* b.manager.follow(id, { from: 0 }))
      yield* during(a.close, 2)
      const conversation = yield* b.manager.get(id)
      yield* during(conversation.submit(says("still there?")), 2)
      const { seq } = yield* conversation.state
      assert.deepStrictEqual(seqsOf(all), upTo(seq))
      assert.strictEqual(typesOf(all).at(-1), "task_complete")
      yield* b.close
    }).pipe(Effect.scoped),
  )

  it.effect("are given up while their node still leaves", () =>
    Effect.gen(function* () {
      const { join } = world({ leavesFor: "10 seconds" })
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      const closing = yield* Effect.forkChild(a.close, { startImmediately: true })
      const getting = yield* Effect.forkChild(b.manager.get(id), { startImmediately: true })
      // Less than the time after which a node looks for conversations of others.
      yield* elapse(0.1)
      assert.strictEqual(getting.pollUnsafe()?._tag, "Success")
      yield* during((yield* Fiber.join(getting)).submit(says("here")), 1)
      yield* elapse(10)
      yield* Fiber.join(closing)
      yield* during(b.close, 10)
    }).pipe(Effect.scoped),
  )

  it.effect("say within a bound that no node can be reached", () =>
    Effect.gen(function* () {
      const { join, nodes } = world({ patience: "5 seconds" })
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      nodes.cut("a", "b")
      const error = yield* during(Effect.flip(b.manager.get(id)), 6)
      assert.strictEqual(error._tag, "ConversationUnavailable")
      // One without a cause is archived.
      const because = "because" in error ? error.because : undefined
      assert.strictEqual(because?._tag === "StoreError" ? because.reason : because, "Unreachable")
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("say that their working directory is missing on the node", () =>
    Effect.gen(function* () {
      const workspaces = Layer.succeed(Workspaces, { exists: () => Effect.succeed(false) })
      const { join } = world({ workspaces })
      const a = yield* join("a")
      const conversation = yield* a.manager.create(settings)
      const error = yield* Effect.flip(conversation.submit(says("hi")))
      assert.deepStrictEqual(causeOf(error), ["ConversationUnavailable", "SettingsError"])
      assert.include(error.message, `its working directory ${settings.cwd} does not exist`)
      yield* a.close
    }).pipe(Effect.scoped),
  )

  it.effect("are forked, archived and removed through any node, and every node is told", () =>
    Effect.gen(function* () {
      const { join, nodes } = world()
      const a = yield* join("a")
      const b = yield* join("b")
      let changes = 0
      yield* b.manager.watch(() => void changes++)
      const { id } = yield* a.manager.create(settings)
      const forked = yield* b.manager.fork(id, { _tag: "DropLastUserMessages", n: 0 })
      assert.strictEqual(nodes.ownerOf(forked.id), "a")
      assert.strictEqual(changes, 2)
      yield* b.manager.archive(id)
      assert.strictEqual((yield* a.manager.list()).items.length, 1)
      yield* b.manager.unarchive(id)
      yield* b.manager.remove(forked.id)
      assert.deepStrictEqual(
        (yield* b.manager.list()).items.map((item) => item.id),
        [id],
      )
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )

  it.effect("L13 are archived and unarchived for all clients that ask two nodes at once", () =>
    Effect.gen(function* () {
      const { join } = world({ store: new SlowStore() })
      const a = yield* join("a")
      const b = yield* join("b")
      const { id } = yield* a.manager.create(settings)
      for (const operation of ["archive", "unarchive"] as const) {
        const calls = [a, b, a, b].map(({ manager }) => manager[operation](id))
        yield* during(Effect.all(calls, { concurrency: "unbounded" }), 3)
        assert.strictEqual((yield* a.manager.metadata({ id })).archived, operation === "archive")
      }
      yield* Effect.all([a.close, b.close])
    }).pipe(Effect.scoped),
  )
})
