/** What a conversation costs the machine, in operations and bytes. Never in time. */
import { ConversationStore } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as MemoryIndex from "../src/MemoryIndex.ts"
import { RolloutIndex } from "../src/RolloutIndex.ts"
import * as RolloutStore from "../src/RolloutStore.ts"
import { home, Machine } from "./support/Machine.ts"
import { firstRecords, idOf, metaOf, turn } from "./support/Records.ts"

/** A machine that notes each operation on its files, leases and index. */
class Noting extends Machine {
  readonly index = MemoryIndex.make()
  readonly indexed: Array<string> = []

  override get layer(): Layer.Layer<ConversationStore> {
    const { index, indexed } = this
    const noting: RolloutIndex["Service"] = {
      ...index,
      get: (id) => {
        indexed.push("get")
        return index.get(id)
      },
      put: (rows) => {
        indexed.push(`put ${rows.length}`)
        return index.put(rows)
      },
      remove: (ids) => index.remove(ids),
      page: (query) => index.page(query),
      withoutPreview: (max) => index.withoutPreview(max),
      inFolder: (folder) => index.inFolder(folder),
      folders: index.folders,
      putFolder: (folder, modifiedMs) => index.putFolder(folder, modifiedMs),
      removeFolder: (folder) => index.removeFolder(folder),
      reset: index.reset,
    }
    return RolloutStore.layer({ home, offsetMsAt: () => 0 }).pipe(
      Layer.provide([this.files.layer, this.leases.layer, Layer.succeed(RolloutIndex, noting)]),
    )
  }

  /** The operations on files and on the index that an effect performs. */
  noting<A, E, R>(use: Effect.Effect<A, E, R>) {
    return Effect.suspend(() => {
      const [file, index] = [this.files.done.length, this.indexed.length]
      return Effect.map(use, (result) => ({
        result,
        files: this.files.done.slice(file).map((done) => done.slice(0, done.indexOf(" "))),
        index: this.indexed.slice(index),
      }))
    })
  }
}

const create = (number: number) => {
  const meta = metaOf(number)
  return Effect.flatMap(ConversationStore, (store) => store.create(meta, firstRecords(meta)))
}

const opening = ["create", "write", "sync", "syncDirectory", "stat"]

describe("a new conversation", () => {
  it.effect("costs five file operations, two of them syncs, and one look into the index", () =>
    Effect.gen(function* () {
      const machine = new Noting()
      yield* machine.run(
        Effect.gen(function* () {
          const first = yield* machine.noting(create(1))
          assert.deepStrictEqual(first.files, ["makeDirectory", ...opening])
          for (const number of [2, 3]) {
            const { files, index } = yield* machine.noting(create(number))
            assert.deepStrictEqual(files, opening)
            assert.deepStrictEqual(index, ["get"])
          }
        }),
      )
    }),
  )

  it.effect("gets its folder again when another program removed it", () =>
    Effect.gen(function* () {
      const machine = new Noting()
      yield* machine.run(
        Effect.gen(function* () {
          yield* create(1)
          machine.files.unlink(`${home}/sessions`)
          const { files } = yield* machine.noting(create(2))
          assert.deepStrictEqual(files, ["create", "makeDirectory", ...opening])
          machine.files.powerCut()
        }),
      )
      assert.include(machine.file, idOf(2))
    }),
  )

  it.effect(
    "is on the disk with its folder when another conversation is just making that folder",
    () =>
      Effect.gen(function* () {
        const machine = new Noting()
        yield* machine.run(
          Effect.gen(function* () {
            const folder = yield* Deferred.make<void>()
            machine.files.pause = (operation) =>
              operation === "makeDirectory" ? Deferred.await(folder) : Effect.void
            const both = yield* Effect.forEach([1, 2], (number) =>
              Effect.forkChild(create(number), { startImmediately: true }),
            )
            yield* Effect.yieldNow
            assert.deepStrictEqual(
              both.map((each) => each.pollUnsafe()),
              [undefined, undefined],
            )
            assert.deepStrictEqual(machine.files.files(), [])
            machine.files.pause = () => Effect.void
            yield* Deferred.succeed(folder, undefined)
            yield* Fiber.joinAll(both)
            machine.files.powerCut()
          }),
        )
        assert.strictEqual(machine.files.files().length, 2)
      }),
  )
})

describe("an append", () => {
  it.effect("costs one look at the file and one write, and a sync when it is synced", () =>
    Effect.gen(function* () {
      const machine = new Noting()
      yield* machine.run(
        Effect.gen(function* () {
          const writer = yield* create(1)
          const synced = yield* machine.noting(writer.append(turn(1, "0", "one"), "synced"))
          assert.deepStrictEqual([synced.files, synced.index], [["stat", "write", "sync"], []])
          const written = yield* machine.noting(writer.append(turn(11, "1", "two"), "written"))
          assert.deepStrictEqual([written.files, written.index], [["stat", "write"], []])
        }),
      )
    }),
  )

  it.effect(
    "writes 191 bytes per event of a turn with a command, and 1,020 for a new file, within 10 %",
    () =>
      Effect.gen(function* () {
        const machine = new Noting()
        yield* machine.run(
          Effect.gen(function* () {
            const writer = yield* create(1)
            const size = () => machine.files.bytes(machine.file)?.length ?? 0
            const before = size()
            const turns = 20
            for (let number = 0; number < turns; number++) {
              yield* writer.append(turn(1 + 10 * number, `${number}`, "hello"), "synced")
            }
            const each = (size() - before) / (10 * turns)
            assert.closeTo(before, 1020, 102)
            assert.closeTo(each, 191, 19)
          }),
        )
      }),
  )
})

describe("a conversation that is loaded again", () => {
  it.effect(
    "costs two looks into the index, five file operations and a look at the names, and its bytes are read once",
    () =>
      Effect.gen(function* () {
        const machine = new Noting()
        yield* machine.run(
          Effect.gen(function* () {
            const store = yield* ConversationStore
            const { id } = metaOf(1)
            yield* Effect.scoped(
              Effect.gen(function* () {
                const writer = yield* create(1)
                for (let number = 0; number < 100; number++) {
                  yield* writer.append(turn(1 + 10 * number, `${number}`, "hello"), "written")
                }
              }),
            )
            const bytes = machine.files.bytes(machine.file)?.length ?? 0
            const readBefore = machine.files.bytesRead
            const loaded = yield* machine.noting(
              Effect.andThen(store.open({ id }), store.read(id, { max: 1000 })),
            )
            assert.strictEqual(loaded.result.records.length, 1000)
            // The second look is under the lease: another process may have written since the first.
            assert.deepStrictEqual(loaded.index, ["get", "get"])
            // The second `stat` after the lease asks whether the file of names has changed.
            assert.deepStrictEqual(loaded.files, ["stat", "open", "stat", "read", "stat", "read"])
            // The header, then everything.
            assert.isBelow(machine.files.bytesRead - readBefore, bytes + 18 * 1024)
          }),
        )
      }),
  )
})

describe("the index", () => {
  it.effect("gets the conversations of a process before its next list, all at once", () =>
    Effect.gen(function* () {
      const machine = new Noting()
      yield* machine.run(
        Effect.gen(function* () {
          const store = yield* ConversationStore
          for (let number = 1; number <= 5; number++) yield* create(number)
          assert.notInclude(machine.indexed.join(), "put")
          const list = Effect.map(store.list({ limit: 10 }), ({ items }) => items.length)
          const { index, result } = yield* machine.noting(list)
          assert.strictEqual(result, 5)
          assert.deepStrictEqual(index, ["put 5"])
          assert.deepStrictEqual((yield* machine.noting(list)).index, [])
        }),
      )
    }),
  )

  it.effect(
    "gets a conversation from its file when the process ended before it wrote the row",
    () =>
      Effect.gen(function* () {
        const machine = new Noting()
        // A process that ends without closing anything.
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(Layer.fresh(machine.layer), scope)
        const writer = yield* create(1).pipe(Scope.provide(scope), Effect.provideContext(context))
        yield* writer.append(turn(1, "0", "hello"), "written")
        machine.leases.killAll()
        assert.isUndefined(yield* machine.index.get(idOf(1)))
        const listed = yield* machine.run(
          Effect.flatMap(ConversationStore, (store) => store.list({ limit: 10 })),
        )
        assert.deepStrictEqual(
          listed.items.map(({ meta, preview }) => [meta.id, preview]),
          [[idOf(1), "hello"]],
        )
        assert.isDefined(yield* machine.index.get(idOf(1)))
        const opened = yield* machine.run(
          Effect.flatMap(ConversationStore, (store) => store.open({ id: idOf(1) })),
        )
        assert.deepStrictEqual(opened.repairs, [])
      }),
  )
})
