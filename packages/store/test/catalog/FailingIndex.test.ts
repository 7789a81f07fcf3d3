/** Lists while the index fails, at each operation. Every list is complete, in this process and in the next one. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as MemoryIndex from "../../src/MemoryIndex.ts"
import { IndexFault, RolloutIndex } from "../../src/RolloutIndex.ts"
import * as RolloutStore from "../../src/RolloutStore.ts"
import { home, Machine } from "../support/Machine.ts"
import { firstRecords, idOf, metaOf, startMs } from "../support/Records.ts"

type Service = RolloutIndex["Service"]

/** Says whether an operation fails, by its number. */
type Fails = (operation: number) => boolean

/** An index in a file: what it holds outlives its processes, and its operations can fail. */
class Failing extends Machine {
  readonly inner = MemoryIndex.make()
  operations = 0
  fails: Fails = () => false
  damaged = false

  override get layer(): Layer.Layer<ConversationStore> {
    return RolloutStore.layer({ home, offsetMsAt: () => 0 }).pipe(
      Layer.provide([
        this.files.layer,
        this.leases.layer,
        Layer.sync(RolloutIndex, () => this.failing()),
      ]),
    )
  }

  private failing(): Service {
    const guarded = <A>(operation: Effect.Effect<A, IndexFault>): Effect.Effect<A, IndexFault> =>
      Effect.suspend(() =>
        this.fails(this.operations++)
          ? Effect.fail(new IndexFault({ message: "injected", damaged: this.damaged }))
          : operation,
      )
    const members = Object.entries(this.inner).map(([name, member]) => [
      name,
      Effect.isEffect(member)
        ? guarded(member as Effect.Effect<unknown, IndexFault>)
        : (...args: ReadonlyArray<unknown>) => guarded(Reflect.apply(member, this.inner, args)),
    ])
    return { ...Object.fromEntries(members), reset: this.inner.reset }
  }
}

const dayMs = 86_400_000

/** More than what is put into the index at once, so that rows of one folder are put in two operations. */
const manyInOneFolder = 210

/** Conversations of four days, of which two are archived and one has a name, and a damaged file. The index has none of them. */
const stored = Effect.gen(function* () {
  const machine = new Failing()
  machine.files.wait(-1_000_000_000_000)
  yield* TestClock.adjust("10000 days")
  yield* machine.run(
    Effect.gen(function* () {
      const store = yield* ConversationStore
      for (let number = 1; number <= 12; number++) {
        const meta = metaOf(number, { createdAtMs: startMs + number + (number % 4) * dayMs })
        yield* Effect.scoped(store.create(meta, firstRecords(meta)))
      }
      yield* store.archive(idOf(11))
      yield* store.archive(idOf(12))
      yield* store.rename(idOf(5), "five")
    }),
  )
  machine.files.put(
    `${home}/archived_sessions/rollout-2025-09-20T08-11-12-${idOf(13)}.jsonl`,
    "x\n",
  )
  yield* machine.inner.reset
  return machine
})

const list = Effect.gen(function* () {
  const store = yield* ConversationStore
  const pages = yield* Effect.forEach([false, true], (archived) =>
    store.list({ limit: 1000, archived }),
  )
  return pages.flatMap(({ items }) => items.map(({ meta, name }) => name ?? meta.id)).toSorted()
})

const everyone = [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12].map((n): string => idOf(n))
const complete = [...everyone, "five"].toSorted()

const kinds: ReadonlyArray<readonly [name: string, damaged: boolean, fails: (n: number) => Fails]> =
  [
    ["the n-th operation fails", false, (n) => (at) => at === n],
    ["every operation from the n-th on fails", false, (n) => (at) => at >= n],
    ["the n-th operation finds damage", true, (n) => (at) => at === n],
    [
      "the n-th operation and the second after it find damage",
      true,
      (n) => (at) => at === n || at === n + 2,
    ],
    ["every operation from the n-th on finds damage", true, (n) => (at) => at >= n],
  ]

describe("an index that fails", () => {
  for (const [kind, damaged, fails] of kinds) {
    it.effect(`L13 hides no conversation when ${kind}`, () =>
      Effect.gen(function* () {
        for (let n = 0; ; n++) {
          const machine = yield* stored
          machine.operations = 0
          machine.damaged = damaged
          machine.fails = fails(n)
          assert.deepStrictEqual(yield* machine.run(list), complete, `first list, n = ${n}`)
          const isPastTheLast = n >= machine.operations
          machine.fails = () => false
          assert.deepStrictEqual(yield* machine.run(list), complete, `next process, n = ${n}`)
          if (isPastTheLast) break
          assert.isBelow(n, 500)
        }
      }),
    )

    it.effect(`L13 leaves no conversation unfound and unnamed when ${kind}`, () =>
      Effect.gen(function* () {
        for (let n = 0; ; n++) {
          const machine = yield* stored
          machine.operations = 0
          machine.damaged = damaged
          machine.fails = fails(n)
          const [found, lost] = yield* machine.run(
            Effect.flatMap(ConversationStore, (store) =>
              Effect.all([
                Effect.forEach([12, 5], (number) => store.metadata({ id: idOf(number) })),
                Effect.flip(store.metadata({ id: idOf(13) })),
              ]),
            ),
          )
          assert.deepInclude(lost, { _tag: "StoreError", reason: "Damaged" }, `n = ${n}`)
          const names = found.map(({ archived, name }) => [archived, name])
          assert.deepStrictEqual(
            names,
            [
              [true, undefined],
              [false, "five"],
            ],
            `n = ${n}`,
          )
          if (n >= machine.operations) break
          assert.isBelow(n, 500)
        }
      }),
    )

    it.effect(`L13 hides no conversation from two lists at once when ${kind}`, () =>
      Effect.gen(function* () {
        for (let n = 0; ; n++) {
          const machine = yield* stored
          machine.operations = 0
          machine.damaged = damaged
          machine.fails = fails(n)
          machine.files.pause = () => Effect.yieldNow
          const lists = yield* machine.run(Effect.all([list, list], { concurrency: "unbounded" }))
          assert.deepStrictEqual(lists, [complete, complete], `n = ${n}`)
          if (n >= machine.operations) break
          assert.isBelow(n, 500)
        }
      }),
    )
  }

  it.effect("L13 hides no conversation of a folder whose rows are put in several operations", () =>
    Effect.gen(function* () {
      for (const damaged of [false, true]) {
        for (let n = 0; ; n++) {
          const machine = new Failing()
          const meta = metaOf(1)
          yield* machine.run(
            Effect.flatMap(ConversationStore, (store) => store.create(meta, firstRecords(meta))),
          )
          const { file } = machine
          const text = machine.files.text(file)
          for (let number = 2; number <= manyInOneFolder; number++) {
            machine.files.put(
              file.replace(idOf(1), idOf(number)),
              text.replaceAll(idOf(1), idOf(number)),
            )
          }
          yield* machine.inner.reset
          machine.operations = 0
          machine.damaged = damaged
          machine.fails = (at) => at === n
          const ids = yield* machine.run(list)
          assert.strictEqual(ids.length, manyInOneFolder, `n = ${n}`)
          if (n >= machine.operations) break
        }
      }
    }),
  )
})
