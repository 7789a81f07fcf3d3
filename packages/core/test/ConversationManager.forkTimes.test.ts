/** The times in the log of a conversation that begins with a copy of another one. */
import type { ConversationId } from "@colloquy/protocol/Ids"
import type { EventMsg } from "@colloquy/protocol/EventMsg"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { ConversationManager } from "../src/ConversationManager.ts"
import { ConversationStore } from "../src/ConversationStore.ts"
import type { ForkRule } from "../src/ForkRule.ts"
import { MemoryStore } from "../src/store/MemoryStore.ts"
import { answer, managerLayer, says, scripted, settings, settle } from "./support.ts"

type Manager = ConversationManager["Service"]

const whole: ForkRule = { _tag: "DropLastUserMessages", n: 0 }

/** Makes every path that of the conversation with this id. */
const byPath = () => {
  const inner = new MemoryStore()
  const service: ConversationStore["Service"] = {
    create: (...args) => inner.create(...args),
    open: (where) => inner.open(where),
    read: (...args) => inner.read(...args),
    readBackward: (...args) => inner.readBackward(...args),
    positionOf: (...args) => inner.positionOf(...args),
    list: (query) => inner.list(query),
    metadata: (where) =>
      inner.metadata("path" in where ? { id: where.path as ConversationId } : where),
    archive: (id) => inner.archive(id),
    unarchive: (id) => inner.unarchive(id),
    rename: (...args) => inner.rename(...args),
    delete: (id) => inner.delete(id),
  }
  return Layer.succeed(ConversationStore, service)
}

const run = <A, E>(use: (manager: Manager) => Effect.Effect<A, E>) =>
  Effect.andThen(TestClock.adjust(0), Effect.flatMap(ConversationManager, use)).pipe(
    Effect.provide(managerLayer(scripted(answer("a"), answer("b")), { store: byPath() })),
  )

/** A conversation with turns at 1,000 and 2,000 ms; a minute passes after it. */
const source = Effect.fnUntraced(function* (manager: Manager) {
  const { id, submit } = yield* manager
    .create(settings)
    .pipe(Effect.map((made) => ({ id: made.id, submit: made.submit.bind(made) })))
  for (const turn of ["a", "b"]) {
    yield* TestClock.adjust(1000)
    yield* submit(says(turn), { id: turn })
    yield* settle
  }
  yield* TestClock.adjust(60_000)
  return id
})

/** The times of the events of each turn, and of those of none, without repetitions. */
const timesOf = (manager: Manager, id: string) =>
  Effect.map(manager.history(id), (records) => {
    const times = new Map<string, Set<number>>()
    for (const { atMs, event } of records) {
      times.set(event.id, (times.get(event.id) ?? new Set()).add(atMs))
    }
    return Object.fromEntries([...times].map(([turn, all]) => [turn, [...all]]))
  })

const typeOf = ({ event }: { readonly event: { readonly msg: EventMsg } }) => event.msg.type

const forkedAtMs = 62_000

const copied = { a: [1000], b: [2000] }

describe("the times of a copy", () => {
  it.effect("a fork has those of its original, and is itself as old as it is", () =>
    run((manager) =>
      Effect.gen(function* () {
        const id = yield* source(manager)
        const fork = yield* manager.fork(id, whole)
        const { meta, updatedAtMs } = yield* manager.metadata({ id: fork.id })
        assert.deepStrictEqual([meta.createdAtMs, updatedAtMs], [forkedAtMs, forkedAtMs])
        const [first] = yield* manager.history(fork.id)
        assert.strictEqual(first?.atMs, forkedAtMs)
        assert.deepInclude(yield* timesOf(manager, fork.id), copied)
      }),
    ),
  )

  it.effect("a listener of the fork gets them", () =>
    run((manager) =>
      Effect.gen(function* () {
        const fork = yield* manager.fork(yield* source(manager), whole)
        const listener = yield* fork.attach({ from: 0 })
        const deliveries = yield* listener.take
        const starts = deliveries.flatMap((one) =>
          one._tag === "Event" && one.event.msg.type === "task_started" ? [one.atMs] : [],
        )
        assert.deepStrictEqual(starts, [1000, 2000])
      }).pipe(Effect.scoped),
    ),
  )

  it.effect("a fork of a fork has them, also after it was in memory no more", () =>
    run((manager) =>
      Effect.gen(function* () {
        const fork = yield* manager.fork(yield* source(manager), whole)
        yield* TestClock.adjust("1 hour")
        const again = yield* manager.fork(fork.id, { _tag: "DropLastUserMessages", n: 1 })
        assert.deepStrictEqual((yield* timesOf(manager, again.id))["a"], copied.a)
      }),
    ),
  )

  it.effect("a conversation that begins with a stored one has them", () =>
    run((manager) =>
      Effect.gen(function* () {
        const id = yield* source(manager)
        const made = yield* manager.create({ ...settings, resumePath: id })
        assert.deepInclude(yield* timesOf(manager, made.id), copied)
        const { meta } = yield* manager.metadata({ id: made.id })
        assert.strictEqual(meta.createdAtMs, forkedAtMs)
      }),
    ),
  )

  it.effect("and so has one that is recorded with its first submission", () =>
    run((manager) =>
      Effect.gen(function* () {
        const id = yield* source(manager)
        const made = yield* manager.createOnSubmit({ ...settings, resumePath: id })
        yield* TestClock.adjust(1000)
        yield* made.submit(says("c"), { id: "c" })
        yield* settle
        const times = yield* timesOf(manager, made.id)
        assert.deepInclude(times, { ...copied, c: [forkedAtMs + 1000] })
      }).pipe(Effect.scoped),
    ),
  )

  it.effect("a turn that the fork cuts off ends when its last copied event was recorded", () =>
    run((manager) =>
      Effect.gen(function* () {
        const id = yield* source(manager)
        const log = yield* manager.history(id)
        const seq = 1 + log.findLastIndex((one) => typeOf(one) === "user_message")
        const fork = yield* manager.fork(id, { _tag: "BeforeEvent", seq })
        assert.strictEqual((yield* manager.history(fork.id)).map(typeOf).at(-1), "turn_aborted")
        assert.deepInclude(yield* timesOf(manager, fork.id), copied)
      }),
    ),
  )

  it.effect("a history of another program has none: its times are those of the creation", () =>
    run((manager) =>
      Effect.gen(function* () {
        yield* TestClock.adjust(5000)
        const history = [
          {
            type: "message" as const,
            role: "user" as const,
            content: [{ type: "input_text" as const, text: "x" }],
          },
        ]
        const made = yield* manager.create({ ...settings, history })
        assert.deepStrictEqual((yield* timesOf(manager, made.id))["history"], [5000])
      }),
    ),
  )
})
