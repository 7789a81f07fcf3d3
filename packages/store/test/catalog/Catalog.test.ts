import { ConversationStore, type ListQuery } from "@colloquy/core/ConversationStore"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { Leases } from "../../src/Leases.ts"
import * as MemoryIndex from "../../src/MemoryIndex.ts"
import { IndexFault, RolloutIndex } from "../../src/RolloutIndex.ts"
import * as RolloutStore from "../../src/RolloutStore.ts"
import { events, idOf, metaOf, firstRecords, userMessage } from "../support/Records.ts"
import { home, Machine } from "../support/Machine.ts"

/** A machine whose index outlives its processes, like one in a file. */
class Indexed extends Machine {
  readonly index = MemoryIndex.make()
  readonly asked: Array<string> = []

  override get layer(): Layer.Layer<ConversationStore> {
    return RolloutStore.layer({ home, offsetMsAt: () => 0 }).pipe(
      Layer.provide([
        this.files.layer,
        this.leases.layer,
        Layer.sync(RolloutIndex, () => this.index),
      ]),
    )
  }
}

const make = Effect.fnUntraced(function* (numbers: ReadonlyArray<number>) {
  const store = yield* ConversationStore
  for (const number of numbers) {
    const meta = metaOf(number)
    yield* Effect.scoped(
      Effect.flatMap(store.create(meta, firstRecords(meta)), (writer) =>
        writer.append(events(1, [userMessage(`words ${number}`)]), "written"),
      ),
    )
  }
})

const list = (query: Partial<ListQuery> = {}) =>
  Effect.gen(function* () {
    const store = yield* ConversationStore
    const { items } = yield* store.list({ limit: 100, ...query })
    return items.map(({ meta, preview }) => [meta.id, preview])
  })

const listed = (numbers: ReadonlyArray<number>) => numbers.map((n) => [idOf(n), `words ${n}`])

const later = TestClock.adjust("10000 days")

const fileOf = (machine: Machine, number: number) =>
  machine.files.files().find((path) => path.includes(idOf(number))) ?? ""

describe("the index", () => {
  it.effect("is used without opening a file when no file changed", () =>
    Effect.gen(function* () {
      const machine = new Indexed()
      machine.files.wait(-1_000_000_000_000)
      yield* machine.run(make([1, 2, 3]))
      yield* later
      yield* machine.run(list())
      machine.files.done.length = 0
      assert.deepStrictEqual(yield* machine.run(list()), listed([3, 2, 1]))
      const opened = machine.files.done.filter((each) => /^(open|list|read) /.test(each))
      assert.deepStrictEqual(opened, [])
    }),
  )

  it.effect(
    "L11 leaves out empty files, and removes those of processes that ended while creating them",
    () =>
      Effect.gen(function* () {
        const machine = new Indexed()
        const { files, leases } = machine
        yield* later
        yield* machine.run(make([1]))
        const [dead, living, foreign] = [2, 3, 4].map((number) => {
          const path = fileOf(machine, 1).replace(idOf(1), idOf(number))
          files.put(path, "")
          return path
        })
        const process = yield* Scope.make()
        const take = (number: number) =>
          Effect.flatMap(Leases, (all) => all.take(idOf(number))).pipe(
            Effect.provide(leases.layer),
            Scope.provide(process),
          )
        yield* take(2)
        leases.killAll()
        yield* take(3)
        assert.deepStrictEqual(yield* machine.run(list()), listed([1]))
        const left = files.files()
        assert.deepStrictEqual(
          [dead, living, foreign].map((path) => left.includes(path ?? "")),
          [false, true, true],
        )
        // Another process may have continued the conversation in between.
        leases.killAll()
        files.put(living ?? "", files.text(fileOf(machine, 1)).replaceAll(idOf(1), idOf(3)))
        assert.deepStrictEqual(yield* machine.run(list()), [
          [idOf(3), "words 1"],
          [idOf(1), "words 1"],
        ])
      }),
  )

  it.effect(
    "follows changes by other processes: created, changed, moved, archived and removed files",
    () =>
      Effect.gen(function* () {
        const machine = new Indexed()
        const { files } = machine
        yield* later
        yield* machine.run(make([1, 2, 3]))
        yield* machine.run(list())
        const [first, second] = [fileOf(machine, 1), fileOf(machine, 2)]
        const text = files.text(first)

        files.wait(5000)
        files.put(
          first.replace(idOf(1), idOf(4)),
          text.replaceAll(idOf(1), idOf(4)).replaceAll("words 1", "words 4"),
        )
        const withNew = [...listed([3, 2]), [idOf(4), "words 4"], [idOf(1), "words 1"]]
        assert.deepStrictEqual(yield* machine.run(list()), withNew)

        files.wait(5000)
        files.unlink(second)
        files.unlink(first)
        files.put(`${home}/archived_sessions/${first.slice(first.lastIndexOf("/") + 1)}`, text)
        assert.deepStrictEqual(yield* machine.run(list({ archived: true })), listed([1]))
        assert.deepStrictEqual(yield* machine.run(list()), [...listed([3]), [idOf(4), "words 4"]])
      }),
  )

  it.effect("finds messages that another process appended, by filter and by text", () =>
    Effect.gen(function* () {
      const machine = new Indexed()
      yield* later
      const meta = metaOf(7)
      yield* machine.run(
        Effect.flatMap(ConversationStore, (store) => store.create(meta, firstRecords(meta))),
      )
      assert.deepStrictEqual(yield* machine.run(list({ withPreview: true })), [])
      machine.files.append(
        machine.file,
        '{"timestamp":"2025-09-20T09:00:00.000Z","type":"event_msg","payload":{"type":"user_message","message":"from elsewhere","kind":"plain"}}\n',
      )
      const expected = [[idOf(7), "from elsewhere"]]
      assert.deepStrictEqual(yield* machine.run(list()), expected)
      assert.deepStrictEqual(yield* machine.run(list({ withPreview: true })), expected)
      assert.deepStrictEqual(yield* machine.run(list({ text: "ELSE" })), expected)
      const { updatedAtMs } = yield* machine.run(
        Effect.flatMap(ConversationStore, (store) => store.metadata({ id: idOf(7) })),
      )
      assert.strictEqual(updatedAtMs, Date.UTC(2025, 8, 20, 9))
    }),
  )

  it.effect("is not trusted for a file that changes within one tick of the clock", () =>
    Effect.gen(function* () {
      const machine = new Indexed()
      yield* TestClock.setTime(1_700_000_000_500)
      yield* machine.run(make([1]))
      assert.deepStrictEqual(yield* machine.run(list()), listed([1]))
      // The folder's modification time is unchanged.
      const { files } = machine
      const first = fileOf(machine, 1)
      files.put(first.replace(idOf(1), idOf(2)), files.text(first).replaceAll(idOf(1), idOf(2)))
      assert.strictEqual((yield* machine.run(list())).length, 2)
    }),
  )

  it.effect("is not needed to find a conversation whose id contains its creation time", () =>
    Effect.gen(function* () {
      const machine = new Indexed()
      yield* machine.run(make([1, 2, 3]))
      machine.files.put(`${home}/sessions/2024/01/01/x.jsonl`, "")
      yield* machine.index.reset
      machine.files.done.length = 0
      const { preview } = yield* machine.run(
        Effect.flatMap(ConversationStore, (store) => store.metadata({ id: idOf(2) })),
      )
      assert.strictEqual(preview, "words 2")
      const lists = machine.files.done.filter((each) => each.startsWith("list "))
      assert.deepStrictEqual(lists, [`list ${home}/sessions/2025/09/20`])
    }),
  )

  it.effect("does not delay a list because of a file that is written all the time", () =>
    Effect.gen(function* () {
      const machine = new Indexed()
      yield* machine.run(make([1, 2]))
      const busy = fileOf(machine, 1)
      machine.files.fault = (operation, path) => {
        if (operation === "stat" && path === busy) machine.files.append(busy, "{}\n")
        return undefined
      }
      assert.deepStrictEqual(yield* machine.run(list()), listed([2, 1]))
    }),
  )

  it.effect(
    "is rebuilt when it is damaged and replaced when it cannot be used, and lists are complete",
    () =>
      Effect.gen(function* () {
        for (const damaged of [true, false]) {
          for (const member of ["page", "folders", "put", "get", "inFolder"] as const) {
            const machine = new Indexed()
            yield* machine.run(make([1, 2]))
            const fault = new IndexFault({ message: "broken", damaged })
            let resets = 0
            const inner = MemoryIndex.make()
            const broken: RolloutIndex["Service"] = {
              ...inner,
              [member]:
                member === "folders"
                  ? Effect.suspend(() => (resets === 0 ? Effect.fail(fault) : inner.folders))
                  : (...args: ReadonlyArray<never>) =>
                      Effect.suspend(() =>
                        resets === 0
                          ? Effect.fail(fault)
                          : Reflect.apply(inner[member], inner, args),
                      ),
              reset: Effect.suspend(() => {
                resets++
                return inner.reset
              }),
            }
            Object.assign(machine.index, broken)
            assert.deepStrictEqual(yield* machine.run(list()), listed([2, 1]), member)
            assert.strictEqual(resets, damaged && member !== "get" ? 1 : 0, member)
          }
        }
      }),
  )

  it.effect("is replaced when it stays damaged, and lists are complete", () =>
    Effect.gen(function* () {
      const machine = new Indexed()
      yield* machine.run(make([1, 2]))
      const fault = new IndexFault({ message: "broken", damaged: true })
      Object.assign(machine.index, { page: () => Effect.fail(fault) })
      assert.deepStrictEqual(yield* machine.run(list()), listed([2, 1]))
    }),
  )

  it.effect(
    "does not read a file that is unchanged since its writer closed, and reads every other one",
    () =>
      Effect.gen(function* () {
        const machine = new Indexed()
        yield* machine.run(make([1]))
        const open = Effect.gen(function* () {
          const store = yield* ConversationStore
          const { repairs } = yield* store.open({ id: idOf(1) })
          return repairs.map(({ kind }) => kind)
        })
        machine.files.done.length = 0
        assert.deepStrictEqual(yield* machine.run(open), [])
        const reads = () => machine.files.done.filter((each) => each.startsWith("read ")).length
        const vouched = reads()
        machine.files.append(machine.file, "a line that is none\nand half of one")
        machine.files.done.length = 0
        assert.deepStrictEqual(yield* machine.run(open), ["torn_tail_cut", "bad_line_skipped"])
        assert.isAbove(reads(), vouched)
        assert.deepStrictEqual(yield* machine.run(open), [])
      }),
  )

  it.effect("follows a link at the top folder and no link below it", () =>
    Effect.gen(function* () {
      const machine = new Indexed()
      const { files } = machine
      files.put("/disk/sessions/keep", "")
      files.link(`${home}/sessions`, "/disk/sessions")
      yield* machine.run(make([1]))
      yield* machine.index.reset
      const file = files.files().find((path) => path.includes(idOf(1))) ?? ""
      files.put("/elsewhere/2020/01/rollout.jsonl", "")
      files.put(
        `/elsewhere/${file.slice(file.lastIndexOf("/") + 1).replace(idOf(1), idOf(2))}`,
        files.text(file).replaceAll(idOf(1), idOf(2)),
      )
      files.link("/disk/sessions/2024", "/elsewhere")
      assert.deepStrictEqual(yield* machine.run(list()), listed([1]))
    }),
  )

  it.effect("leaves out a file that cannot be read, and opening it fails with the reason", () =>
    Effect.gen(function* () {
      const machine = new Indexed()
      yield* machine.run(make([1, 2]))
      yield* machine.index.reset
      const secret = fileOf(machine, 1)
      machine.files.fault = (operation, path) =>
        operation === "open" && path === secret ? "EACCES" : undefined
      for (let process = 0; process < 2; process++) {
        yield* machine.run(
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* list(), listed([2]))
            const store = yield* ConversationStore
            const error = yield* Effect.flip(store.open({ id: idOf(1) }))
            assert.strictEqual(error._tag === "StoreError" && error.reason, "Denied")
          }),
        )
      }
      machine.files.fault = () => undefined
      assert.deepStrictEqual(yield* machine.run(list()), listed([2, 1]))
    }),
  )
})
