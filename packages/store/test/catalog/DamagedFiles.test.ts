/** Files with the name of a conversation that cannot be read as one: reported, and found by their ids. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { Leases } from "../../src/Leases.ts"
import * as MemoryIndex from "../../src/MemoryIndex.ts"
import { RolloutIndex } from "../../src/RolloutIndex.ts"
import * as RolloutStore from "../../src/RolloutStore.ts"
import { home, Machine } from "../support/Machine.ts"
import { firstRecords, idOf, metaOf } from "../support/Records.ts"

/** A machine whose index outlives its processes, and that notes what they log. */
class Logging extends Machine {
  readonly index = MemoryIndex.make()

  override get layer(): Layer.Layer<ConversationStore> {
    return RolloutStore.layer({ home, offsetMsAt: () => 0 }).pipe(
      Layer.provide([
        this.files.layer,
        this.leases.layer,
        Layer.sync(RolloutIndex, () => this.index),
      ]),
    )
  }

  /** Runs an effect as a process, and returns what it logged. */
  logging<A, E>(use: Effect.Effect<A, E, ConversationStore>) {
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => {
      logged.push(String(message))
    })
    return Effect.map(this.run(use).pipe(Effect.provide(Logger.layer([logger]))), (result) => ({
      logged,
      result,
    }))
  }
}

const list = Effect.gen(function* () {
  const store = yield* ConversationStore
  const { items } = yield* store.list({ limit: 100 })
  return items.map(({ meta }) => meta.id)
})

/** Conversations 1 to 3 in files that changed long ago, and the path of the file of 2. */
const stored = Effect.gen(function* () {
  const machine = new Logging()
  machine.files.wait(-1_000_000_000_000)
  yield* TestClock.adjust("10000 days")
  for (const meta of [1, 2, 3].map((number) => metaOf(number))) {
    yield* machine.run(
      Effect.flatMap(ConversationStore, (store) => store.create(meta, firstRecords(meta))),
    )
  }
  const path = machine.files.files().find((each) => each.includes(idOf(2))) ?? ""
  return { machine, path, relative: path.slice(home.length + 1) }
})

const withoutFirstLine = (text: string) => text.slice(text.indexOf("\n") + 1)

const damages: Readonly<Record<string, (machine: Logging, path: string) => void>> = {
  "without its first line": ({ files }, path) =>
    files.put(path, withoutFirstLine(files.text(path))),
  "of other bytes": ({ files }, path) => files.put(path, Uint8Array.of(0, 255, 10, 13, 7, 10)),
  "of another conversation": ({ files }, path) =>
    files.put(path, files.text(path).replaceAll(idOf(2), idOf(9))),
  "without contents": ({ files }, path) => files.put(path, ""),
  "that is a link": ({ files }, path) => {
    files.put("/elsewhere/file", files.text(path))
    files.unlink(path)
    files.link(path, "/elsewhere/file")
  },
}

const uses: Readonly<
  Record<string, (store: ConversationStore["Service"]) => Effect.Effect<unknown, unknown>>
> = {
  metadata: (store) => store.metadata({ id: idOf(2) }),
  open: (store) => Effect.scoped(store.open({ id: idOf(2) })),
  read: (store) => store.read(idOf(2), { max: 10 }),
}

describe("a file with the name of a conversation", () => {
  for (const [kind, damage] of Object.entries(damages)) {
    for (const isArchived of [false, true]) {
      for (const isIndexed of [false, true]) {
        const where = `${isArchived ? "archived" : "listed"}, ${isIndexed ? "known to" : "new for"} the index`
        it.effect(`L13 ${kind} is reported by lists and when it is opened (${where})`, () =>
          Effect.gen(function* () {
            const { machine, path: created, relative: place } = yield* stored
            let [path, relative] = [created, place]
            if (isArchived) {
              yield* machine.run(
                Effect.flatMap(ConversationStore, (store) => store.archive(idOf(2))),
              )
              relative = `archived_sessions/${path.slice(path.lastIndexOf("/") + 1)}`
              path = `${home}/${relative}`
            }
            if (isIndexed) yield* machine.run(list)
            else yield* machine.index.reset
            damage(machine, path)
            const warning = `lists leave out conversations whose files cannot be read: 1, the first is ${relative}`
            const twice = Effect.all([list, list])
            const others = [idOf(3), idOf(1)]
            for (const process of [1, 2]) {
              // An archived file that was listed before is looked at when archived ones are listed.
              const all = Effect.flatMap(ConversationStore, (store) =>
                store.list({ limit: 10, archived: true }),
              )
              const { logged, result } = yield* machine.logging(Effect.andThen(all, twice))
              assert.deepStrictEqual(result, [others, others])
              assert.deepStrictEqual(logged, [warning], `process ${process}`)
            }
            for (const [name, use] of Object.entries(uses)) {
              const error = yield* machine.run(
                Effect.flatMap(ConversationStore, (store) => Effect.flip(use(store))),
              )
              assert.deepInclude(error, { _tag: "StoreError", reason: "Damaged" }, name)
              assert.include((error as Error).message, `${relative}: `)
              assert.notInclude((error as Error).message, home)
            }
          }),
        )
      }
    }
  }

  it.effect("that is damaged costs a later list no reading", () =>
    Effect.gen(function* () {
      const { machine, path } = yield* stored
      yield* machine.index.reset
      machine.files.put(path, "damage\n")
      yield* machine.run(list)
      machine.files.done.length = 0
      yield* machine.run(list)
      const reads = machine.files.done.filter((each) => /^(open|list|read) /.test(each))
      assert.deepStrictEqual(reads, [])
    }),
  )

  it.effect("is listed again, without a warning, when it was replaced by an intact one", () =>
    Effect.gen(function* () {
      const { machine, path } = yield* stored
      const text = machine.files.text(path)
      yield* machine.index.reset
      machine.files.put(path, "damage\n")
      yield* machine.run(list)
      machine.files.wait(5000)
      machine.files.unlink(path)
      machine.files.put(path, text)
      const { logged, result } = yield* machine.logging(list)
      assert.deepStrictEqual([logged, result], [[], [3, 2, 1].map(idOf)])
    }),
  )

  it.effect("is not reported while another process is creating it", () =>
    Effect.gen(function* () {
      const { machine, path } = yield* stored
      const process = yield* Scope.make()
      yield* Effect.flatMap(Leases, (all) => all.take(idOf(4))).pipe(
        Effect.provide(machine.leases.layer),
        Scope.provide(process),
      )
      machine.files.put(path.replace(idOf(2), idOf(4)), "")
      const { logged, result } = yield* machine.logging(list)
      assert.deepStrictEqual([logged, result], [[], [3, 2, 1].map(idOf)])
    }),
  )
})
