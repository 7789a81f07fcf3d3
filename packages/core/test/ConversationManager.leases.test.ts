/** A process whose leases expire while it has conversations in memory, and one that takes them over. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../src/ConversationManager.ts"
import { ConversationStore, type LogWriter } from "../src/ConversationStore.ts"
import type { Listener } from "../src/listeners/Listener.ts"
import { MemoryStore } from "../src/store/MemoryStore.ts"
import type { ToolRuntime } from "../src/ToolRuntime.ts"
import { exec } from "./approvals.ts"
import {
  answer,
  callItem,
  completed,
  done,
  durableOf,
  isEnd,
  loadedIds,
  managerLayer,
  says,
  scripted,
  type Script,
  settings,
  settle,
  takeUntil,
  tools,
} from "./support.ts"

interface Lease {
  readonly scope: Scope.Closeable
  notify: (() => void) | undefined
  isLost: boolean
}

/** The store of one process over a memory that processes share. Its leases can end without the process. */
const leasedStore = (inner: MemoryStore) => {
  const leases: Array<Lease> = []
  const leased = Effect.fnUntraced(function* <A, E>(taking: Effect.Effect<A, E, Scope.Scope>) {
    const lease: Lease = { scope: yield* Scope.make(), notify: undefined, isLost: false }
    const taken = yield* Scope.provide(taking, lease.scope)
    leases.push(lease)
    yield* Effect.addFinalizer(() => Scope.close(lease.scope, Exit.void))
    return { lease, taken }
  })
  const writing = (writer: LogWriter, lease: Lease): LogWriter => ({
    generation: writer.generation,
    append: (records, durability) => writer.append(records, durability),
    onLost: (notify) => {
      lease.notify = notify
      if (lease.isLost) notify()
    },
  })
  const service: ConversationStore["Service"] = {
    create: (meta, records) =>
      Effect.map(leased(inner.create(meta, records)), ({ lease, taken }) => writing(taken, lease)),
    open: (where) =>
      Effect.map(leased(inner.open(where)), ({ lease, taken }) => ({
        ...taken,
        writer: writing(taken.writer, lease),
      })),
    read: (id, page) => inner.read(id, page),
    readBackward: (id, page) => inner.readBackward(id, page),
    positionOf: (id, seq) => inner.positionOf(id, seq),
    list: (query) => inner.list(query),
    metadata: (where) => inner.metadata(where),
    archive: (id) => inner.archive(id),
    unarchive: (id) => inner.unarchive(id),
    rename: (id, name) => inner.rename(id, name),
    delete: (id) => inner.delete(id),
  }
  return {
    layer: Layer.succeed(ConversationStore, service),
    /** The leases end; the process does not learn of it yet. */
    expire: Effect.suspend(() =>
      Effect.forEach(leases, ({ scope }) => Scope.close(scope, Exit.void), { discard: true }),
    ),
    notify: Effect.sync(() => {
      for (const lease of leases.splice(0)) {
        lease.isLost = true
        lease.notify?.()
      }
    }),
  }
}

const processOver = Effect.fnUntraced(function* (
  memory: MemoryStore,
  script: Script,
  runtime: ToolRuntime["Service"] = tools(),
) {
  yield* TestClock.adjust(0)
  const store = leasedStore(memory)
  const services = yield* Layer.build(
    Layer.fresh(managerLayer(script, { store: store.layer, tools: runtime })),
  )
  return { ...store, manager: Context.get(services, ConversationManager) }
})

/** Two processes over one memory. */
const two = Effect.fnUntraced(function* (script: Script, runtime?: ToolRuntime["Service"]) {
  const memory = new MemoryStore()
  const paused = yield* processOver(memory, script, runtime)
  const other = yield* processOver(memory, scripted(answer("from the other"), answer("more")))
  const events = (id: Parameters<MemoryStore["read"]>[0]) =>
    Effect.map(memory.read(id, { max: 10_000 }), ({ records }) =>
      records.flatMap((record) => (record._tag === "Event" ? [record.event] : [])),
    )
  return { paused, other, events }
})

/** The other process takes the conversation over and runs a turn. */
const continued = Effect.fnUntraced(function* (
  { manager }: { readonly manager: ConversationManager["Service"] },
  id: string,
) {
  const conversation = yield* manager.get(id)
  const listener = yield* conversation.attach()
  yield* conversation.submit(says("go on"), { id: "other" })
  yield* takeUntil(listener, (d) => isEnd(d) && d._tag === "Event" && d.event.id === "other")
}, Effect.scoped)

const endOf = (listener: Listener) => Effect.flip(Effect.forever(listener.take))

const because = (error: unknown) =>
  typeof error === "object" && error !== null && "because" in error
    ? (error.because as { readonly _tag: string } | undefined)?._tag
    : error

describe("a conversation whose lease is lost while nothing is appended", () => {
  it.effect(
    "L4 L16 ends with the notice of the store, and its next use has what others recorded",
    () =>
      Effect.gen(function* () {
        const { events, other, paused } = yield* two(scripted(answer("yes"), answer("again")))
        const conversation = yield* paused.manager.create(settings)
        const { id } = conversation
        yield* conversation.submit(says("hi"), { id: "t" })
        const listener = yield* conversation.attach({ from: 0 })
        yield* takeUntil(listener, isEnd)
        yield* paused.expire
        yield* continued(other, id)
        yield* other.expire
        const recorded = yield* events(id)
        const from = recorded.length
        // Until the notice this process knows of no later event.
        const early = yield* Effect.flip(Effect.scoped(conversation.attach({ from })))
        assert.strictEqual(early._tag, "EventsFromFuture")
        yield* paused.notify
        assert.strictEqual(because(yield* endOf(listener)), "LeaseLost")
        assert.deepStrictEqual(yield* events(id), recorded)
        const again = yield* conversation.attach({ from })
        yield* conversation.submit(says("and you?"), { id: "u" })
        const seen = durableOf(yield* takeUntil(again, isEnd))
        assert.deepStrictEqual(
          seen.map(({ seq }) => seq),
          seen.map((_, n) => from + n),
        )
      }).pipe(Effect.scoped),
  )

  it.effect("L4 is followed in its log while another process has it", () =>
    Effect.gen(function* () {
      const { events, other, paused } = yield* two(scripted(answer("yes")))
      const conversation = yield* paused.manager.create(settings)
      const { id } = conversation
      const listener = yield* paused.manager.follow(id, { from: 0 })
      const first = durableOf(yield* takeUntil(listener, ({ _tag }) => _tag === "Synced"))
      yield* paused.expire
      yield* continued(other, id)
      yield* paused.notify
      const then = durableOf(yield* takeUntil(listener, isEnd))
      assert.deepStrictEqual([...first, ...then], yield* events(id))
    }).pipe(Effect.scoped),
  )

  it.effect("L7 L8 stops the commands of its turn, and records neither its end nor a verdict", () =>
    Effect.gen(function* () {
      const stopped: Array<string> = []
      const runtime = tools({
        ask: (call, { approve }) => Effect.as(approve(exec(call.call_id ?? "")), "asked"),
        hang: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped.push("hang"))),
      })
      for (const tool of ["ask", "hang"]) {
        const script = scripted(Stream.make(done(callItem(tool, "c")), completed))
        const { events, paused } = yield* two(script, runtime)
        const conversation = yield* paused.manager.create({ ...settings, unattended: "park" })
        yield* conversation.submit(says("hi"), { id: "t" })
        yield* settle
        const recorded = yield* events(conversation.id)
        yield* paused.expire
        yield* paused.notify
        yield* settle
        assert.deepStrictEqual(yield* loadedIds(paused.manager), [])
        assert.deepStrictEqual(yield* events(conversation.id), recorded)
      }
      assert.deepStrictEqual(stopped, ["hang"])
    }).pipe(Effect.scoped),
  )

  it.effect("ends also where its log was created by its first submission", () =>
    Effect.gen(function* () {
      const { paused } = yield* two(scripted(answer("yes")))
      const conversation = yield* paused.manager.createOnSubmit(settings)
      const listener = yield* conversation.attach({ from: 0 })
      yield* conversation.submit(says("hi"))
      yield* takeUntil(listener, isEnd)
      yield* paused.expire
      yield* paused.notify
      assert.strictEqual(because(yield* endOf(listener)), "LeaseLost")
    }).pipe(Effect.scoped),
  )

  it.effect("L10 L16 is neither archived nor removed by the process that has lost it", () =>
    Effect.gen(function* () {
      const { events, other, paused } = yield* two(scripted())
      const { id } = yield* paused.manager.create(settings)
      for (const operation of ["archive", "remove"] as const) {
        yield* Effect.flatMap(paused.manager.get(id), (conversation) => conversation.state)
        yield* paused.expire
        yield* other.manager.archive(id)
        yield* other.manager.unarchive(id)
        const recorded = yield* events(id)
        const error = yield* Effect.flip(paused.manager[operation](id))
        assert.strictEqual(error._tag, "LeaseHeld")
        assert.strictEqual((yield* paused.manager.metadata({ id })).archived, false)
        assert.deepStrictEqual(yield* events(id), recorded)
        // This process can load it again.
        yield* Effect.scoped(
          Effect.flatMap(paused.manager.get(id), (conversation) => conversation.attach()),
        )
      }
      yield* paused.manager.remove(id)
    }).pipe(Effect.scoped),
  )
})
